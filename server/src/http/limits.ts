import Type from 'typebox'
import { type Limits, PLANS } from '../core/keys/api-key.ts'
import { Permission } from '../core/keys/key-record.ts'
import type { KeyWindows, WindowStatus } from '../core/limits/limit-store.ts'
import { reportedWindow, WINDOW_LENGTHS } from '../core/limits/rate-windows.ts'
import { SECOND } from '../core/values/clock.ts'
import { OneOf } from '../core/values/field.ts'
import { defineOperation } from './operation.ts'
import { conditionalReply, jsonReply, type Reply } from './reply.ts'
import { Count, EXAMPLE_KEY, PlainText } from './schemas.ts'

const EXAMPLE_MINUTE = { limit: 60, remaining: 59, reset: 1_794_744_060 }

const LimitWindow = Type.Object(
  {
    limit: Count('Requests that the window allows.'),
    remaining: Count('Requests that remain in the window.'),
    reset: Count('Unix timestamp at which the window ends.'),
  },
  { title: 'LimitWindow', examples: [EXAMPLE_MINUTE] },
)

const KeyLimits = Type.Object(
  {
    plan: OneOf(PLANS, { description: 'The plan of the key.' }),
    key: Type.Object({
      id: PlainText('Public identifier of the key.'),
      name: PlainText('Name of the key.'),
    }),
    permissions: Type.Array(Permission, {
      description: 'What the key may change; empty if the key may only read.',
    }),
    minute: LimitWindow,
    day: LimitWindow,
    bannedUntil: Type.Optional(
      Count('Unix timestamp at which the ban of the key ends; absent if it is not banned.'),
    ),
  },
  {
    title: 'KeyLimits',
    examples: [
      {
        plan: 'free',
        key: EXAMPLE_KEY,
        permissions: ['stock', 'orders'],
        minute: EXAMPLE_MINUTE,
        day: { limit: 1_000, remaining: 999, reset: 1_794_830_400 },
      },
    ],
  },
)

export const getLimits = defineOperation('GET', '/limits', {
  summary: 'Get rate-limit status',
  description:
    'Returns the plan and the permissions of the key, and the status of both rate-limit windows. Response headers report only the window with fewer remaining requests, or the ban. The request does not count towards the limits, and is answered even if they are exceeded or the key is banned.',
  isExemptFromLimits: true,
  success: {
    description: 'The rate limits of the key.',
    schema: KeyLimits,
    headers: ['RateLimit-Policy', 'RateLimit'],
  },
  reply: ({ key: { id, name, plan, permissions, limits }, keyWindows, request }, { clock }) => {
    if (keyWindows === undefined) throw new Error('GET /limits must be exempt from the limits of its key')
    const { minute, day, bannedUntil } = keyWindows
    const body = {
      plan,
      key: { id, name },
      permissions,
      minute: windowBody(minute),
      day: windowBody(day),
      bannedUntil: bannedUntil === undefined ? undefined : toUnixTime(bannedUntil),
    }
    const fields = rateLimitFields(quotasOf(limits), statusesOf(keyWindows), clock())
    return conditionalReply(jsonReply(body, fields), request)
  },
})

function windowBody({ limit, remaining, resetAt }: WindowStatus) {
  return { limit, remaining, reset: toUnixTime(resetAt) }
}

type Quota = Pick<WindowStatus, 'window' | 'limit'>

export function quotasOf({ perMinute, perDay }: Limits): readonly Quota[] {
  return [
    { window: 'minute', limit: perMinute },
    { window: 'day', limit: perDay },
  ]
}

/** Both windows. The window that the X-RateLimit headers report is as they report it: during a ban, nothing is left. */
function statusesOf(windows: KeyWindows): readonly WindowStatus[] {
  const reported = reportedWindow(windows)
  return [windows.minute, windows.day].map((status) =>
    status.window === reported.window ? reported : status,
  )
}

/** The largest integer of a structured field (RFC 9651, 3.3.1). */
const MAX_FIELD_INTEGER = 999_999_999_999_999

/** The header fields of draft-ietf-httpapi-ratelimit-headers-11: the quotas of the caller, and what is left of them. */
export function rateLimitFields(
  quotas: readonly Quota[],
  statuses: readonly WindowStatus[],
  now: number,
): Reply['headers'] {
  const policies = quotas.map(({ window, limit }) => {
    return `"${window}";q=${Math.min(limit, MAX_FIELD_INTEGER)};w=${WINDOW_LENGTHS[window] / SECOND}`
  })
  const remainders = statuses.map(({ window, remaining, resetAt }) => {
    const seconds = Math.max(0, Math.ceil((resetAt - now) / SECOND))
    return `"${window}";r=${Math.min(remaining, MAX_FIELD_INTEGER)};t=${seconds}`
  })
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: remainders.join(', ') }
}

function toUnixTime(time: number): number {
  return Math.ceil(time / SECOND)
}
