import type { Limits } from '../keys/plans.ts'
import type { Ban, LimitState, Window } from './rate-windows.ts'

/** How a key stands, and what came since it was last saved. */
export interface LimitRecord {
  readonly keyId: string
  readonly state: LimitState
  /** The day (UTC) that the two counts belong to, such as 2026-11-15. */
  readonly day: string
  readonly accepted: number
  readonly rejected: number
}

/** Requests of one key that arrived together. */
export interface RequestCount {
  readonly keyId: string
  readonly requests: number
  readonly limits: Limits
}

/** The windows after requests were counted, and when that was by the store's clock. */
export interface CountedRequests {
  readonly minute: Pick<Window, 'startedAt' | 'used'>
  readonly day: Pick<Window, 'startedAt' | 'used'>
  readonly at: number
}

export interface DailyUsage {
  readonly keyId: string
  readonly day: string
  readonly accepted: number
  readonly rejected: number
}

export interface BanRecord extends Ban {
  readonly keyId: string
  readonly liftedAt?: number
}

export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
