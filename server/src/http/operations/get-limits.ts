import type { WindowStatus } from '../../core/limits/limit-store.ts'
import { SECOND } from '../../core/values/clock.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH } from '../representation.ts'
import { KeyLimits } from '../resources.ts'

export const getLimits = defineOperation({
  operationId: 'getLimits',
  method: 'GET',
  path: '/limits',
  summary: 'Get rate-limit status',
  description:
    'Returns the plan and the permissions of the key, and the status of both rate-limit windows after this request. The headers of a response only report the window with fewer requests left.',
  tag: 'limits',
  stability: 'beta',
  headers: IF_NONE_MATCH,
  success: { description: 'The rate limits of the key.', schema: KeyLimits },
  errors: [],
  handle: async ({ key }, { limits }) => {
    const { minute, day } = await limits.windowsOf(key.id, key.limits)
    return {
      plan: key.plan,
      key: { id: key.id, name: key.name },
      permissions: [...key.permissions],
      minute: toResource(minute),
      day: toResource(day),
    }
  },
})

function toResource({ limit, remaining, resetAt }: WindowStatus) {
  return { limit, remaining, reset: Math.ceil(resetAt / SECOND) }
}
