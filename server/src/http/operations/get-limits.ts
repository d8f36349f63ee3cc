import type { WindowStatus } from '../../core/limits/limit-store.ts'
import { SECOND } from '../../core/values/clock.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH } from '../representation.ts'
import { KeyLimits } from '../resources.ts'

export const getLimits = defineOperation({
  operationId: 'getLimits',
  method: 'GET',
  path: '/limits',
  summary: 'Tell how the key stands',
  description:
    'Returns the plan of the key, what it may change, and how it stands in both windows, this request counted. The headers of any response tell of the tighter window alone.',
  tag: 'limits',
  stability: 'beta',
  headers: IF_NONE_MATCH,
  success: { description: 'The limits of the key.', schema: KeyLimits },
  errors: [],
  handle: async ({ key }, { limits }) => {
    const { minute, day } = await limits.windowsOf(key.id, key.limits)
    return {
      ...{ plan: key.plan, key: { id: key.id, name: key.name }, permissions: [...key.permissions] },
      ...{ minute: told(minute), day: told(day) },
    }
  },
})

function told({ limit, remaining, resetAt }: WindowStatus) {
  return { limit, remaining, reset: Math.ceil(resetAt / SECOND) }
}
