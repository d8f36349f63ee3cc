import type { Limits } from '../keys/plans.ts'
import { DAY, MINUTE } from '../values/clock.ts'
import { current, type LimitState, type Window, type WindowStatus } from './rate-windows.ts'

/** How a key stands in each of its two windows, where the headers tell of the tighter one alone. */
export interface Standings {
  readonly minute: WindowStatus
  readonly day: WindowStatus
}

/** Looks without counting or changing anything. */
export function standingsOf(state: LimitState, limits: Limits, now: number): Standings {
  const at = Math.max(now, state.lastUsedAt)
  return {
    minute: standing(state.minute, MINUTE, limits.perMinute, at),
    day: standing(state.day, DAY, limits.perDay, at),
  }
}

function standing(window: Window, length: number, limit: number, now: number): WindowStatus {
  const { used, startedAt } = current({ ...window }, length, now)
  return { limit, remaining: Math.max(0, limit - used), resetAt: startedAt + length }
}
