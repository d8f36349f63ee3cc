import type { LimitState } from '../../src/core/limits/limit-store.ts'
import { admit, newLimitState } from '../../src/core/limits/rate-windows.ts'

export const NOW = 1_790_000_000_000

/** The state of a key whose ban began at this time. */
export function bannedState(at = NOW, state = newLimitState()): LimitState {
  const limits = { perMinute: 2, perDay: 100 }
  for (let sent = 0; sent < 3; sent++) admit(state, limits, at - 1_000)
  for (let sent = 0; sent < 2; sent++) admit(state, limits, at)
  return state
}
