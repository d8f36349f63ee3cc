import type { Limits } from '../keys/plans.ts'
import type { MaybePromise } from '../values/maybe-promise.ts'
import type { Standings } from './limit-standings.ts'
import type { Admission } from './rate-windows.ts'

/** Decides for each request whether its key is within its limits, and counts it. */
export interface LimitKeeper {
  admit(keyId: string, limits: Limits): MaybePromise<Admission>
  /** How the key stands now, without counting anything. */
  standings(keyId: string, limits: Limits): MaybePromise<Standings>
  /** Writes what was only counted in memory so far. */
  save(): Promise<void>
  /** Frees the keys whose ban an operator has lifted, where that is not seen anyway. */
  heedLiftedBans(): Promise<void>
}
