import type { Eventually } from './eventually.ts'
import type { Standings } from './limit-standings.ts'
import type { Limits } from './plans.ts'
import type { Admission } from './rate-windows.ts'

/** Decides for each request whether its key is within its limits, and counts it. */
export interface LimitKeeper {
  admit(keyId: string, limits: Limits): Eventually<Admission>
  /** How the key stands now, without counting anything. */
  standings(keyId: string, limits: Limits): Eventually<Standings>
  /** Writes what was only counted in memory so far. */
  save(): Promise<void>
  /** Frees the keys whose ban an operator has lifted, where that is not seen anyway. */
  heedLiftedBans(): Promise<void>
}
