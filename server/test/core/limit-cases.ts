import type { Limits } from '../../src/core/keys/api-key.ts'
import type { LimitState, Refusal, Window } from '../../src/core/limits/limit-store.ts'
import { newLimitState } from '../../src/core/limits/rate-windows.ts'

/** The time of the requests in every case: on a whole second, where windows end. */
export const CASE_TIME = 1_790_000_000_000

/** Concurrent requests of one key, and the expected decisions. */
export interface LimitCase {
  readonly name: string
  /** `undefined` for a key that was never used. */
  readonly before: LimitState | undefined
  readonly limits: Limits
  /** The outcome of each request. */
  readonly told: readonly ('accepted' | Refusal)[]
  /** Whether they can be counted without a decision: no window begins or ends, and nothing is rejected. */
  readonly isPlain: boolean
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 86_400 * SECOND

/** If requests were rejected, the first of them was long enough ago to count further rejections. */
const window = (age: number, used: number, rejected = 0): Window => ({
  startedAt: CASE_TIME - age,
  used,
  ...(rejected === 0 ? {} : { firstRejectedAt: CASE_TIME - SECOND }),
  rejected,
})

/** A key in the middle of both windows, with the given changes. */
function used(changes: Partial<LimitState> = {}): LimitState {
  return {
    minute: window(20 * SECOND, 7),
    day: window(20 * MINUTE, 70),
    lastUsedAt: CASE_TIME - SECOND,
    ...changes,
  }
}

const banned = (endsAt: number): Partial<LimitState> => ({
  ban: { beganAt: CASE_TIME - 5 * MINUTE, endsAt },
})

const LIMITS: Limits = { perMinute: 10, perDay: 100 }
const ACCEPTED = ['accepted', 'accepted', 'accepted'] as const
const PLAIN = { limits: LIMITS, told: ACCEPTED, isPlain: true } as const
const NOT_PLAIN = { limits: LIMITS, told: ACCEPTED, isPlain: false } as const

/** The windows allow 10 and 100, of which 7 and 70 are used. Three requests arrive, unless a case says otherwise. */
export const LIMIT_CASES: readonly LimitCase[] = [
  // Remaining requests.
  { ...PLAIN, name: 'room in both windows', before: used({ minute: window(SECOND, 1) }) },
  { ...PLAIN, name: 'exactly enough room in the minute', before: used() },
  {
    ...NOT_PLAIN,
    name: 'room for one too few in the minute',
    before: used({ minute: window(SECOND, 8) }),
    told: ['accepted', 'accepted', 'rate_limit_exceeded'],
  },
  { ...PLAIN, name: 'exactly enough room in the day', before: used({ day: window(DAY / 2, 97) }) },
  {
    ...NOT_PLAIN,
    name: 'room for one too few in the day',
    before: used({ day: window(DAY / 2, 98) }),
    told: ['accepted', 'accepted', 'rate_limit_exceeded'],
  },
  {
    ...NOT_PLAIN,
    name: 'no room in either, which is reported for the day',
    before: used({ minute: window(SECOND, 10), day: window(DAY / 2, 100) }),
    told: ['rate_limit_exceeded', 'rate_limit_exceeded', 'rate_limit_exceeded'],
  },
  {
    ...NOT_PLAIN,
    name: 'limits that were lowered below the usage',
    before: used(),
    limits: { perMinute: 5, perDay: 100 },
    told: ['rate_limit_exceeded', 'rate_limit_exceeded', 'rate_limit_exceeded'],
  },
  {
    ...NOT_PLAIN,
    name: 'enough rejections for a ban',
    before: used({ minute: window(SECOND, 10, 8) }),
    told: ['rate_limit_exceeded', 'key_banned', 'key_banned'],
  },
  {
    ...NOT_PLAIN,
    name: 'rejections that come too soon after the first to count',
    before: used({ minute: { ...window(SECOND, 10, 8), firstRejectedAt: CASE_TIME - SECOND + 1 } }),
    told: ['rate_limit_exceeded', 'rate_limit_exceeded', 'rate_limit_exceeded'],
  },
  // Windows that begin and end.
  { ...NOT_PLAIN, name: 'a key that was never used', before: undefined },
  { ...NOT_PLAIN, name: 'a key with an empty row', before: newLimitState() },
  {
    ...PLAIN,
    name: 'a minute in its last second',
    before: used({ minute: window(MINUTE - SECOND, 7) }),
  },
  { ...NOT_PLAIN, name: 'a minute that ends now', before: used({ minute: window(MINUTE, 1) }) },
  { ...PLAIN, name: 'a day in its last second', before: used({ day: window(DAY - SECOND, 70) }) },
  { ...NOT_PLAIN, name: 'a day that ends now', before: used({ day: window(DAY, 1) }) },
  {
    ...NOT_PLAIN,
    name: 'both windows used up and expired',
    before: used({ minute: window(DAY, 10), day: window(DAY, 100) }),
  },
  {
    ...NOT_PLAIN,
    name: 'a minute with only rejections, which begins with the first request',
    before: used({ minute: window(SECOND, 0, 2), day: window(MINUTE, 40) }),
  },
  {
    ...NOT_PLAIN,
    name: 'a day with only rejections, which begins with the first request',
    before: used({ day: window(SECOND, 0, 2) }),
  },
  // Bans.
  {
    ...NOT_PLAIN,
    name: 'a ban with one more millisecond',
    before: used(banned(CASE_TIME + 1)),
    told: ['key_banned', 'key_banned', 'key_banned'],
  },
  { ...PLAIN, name: 'a ban that ends now', before: used(banned(CASE_TIME)) },
  // The clock.
  { ...PLAIN, name: 'a clock that stands still', before: used({ lastUsedAt: CASE_TIME }) },
  { ...NOT_PLAIN, name: 'a clock that jitters', before: used({ lastUsedAt: CASE_TIME + 1 }) },
  {
    ...NOT_PLAIN,
    name: 'a clock that was set back by an hour',
    before: used({
      minute: window(20 * SECOND - 60 * MINUTE, 7),
      day: window(-40 * MINUTE, 70),
      lastUsedAt: CASE_TIME + 60 * MINUTE,
    }),
  },
]
