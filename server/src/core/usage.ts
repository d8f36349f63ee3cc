import type { Ban, LimitState } from './rate-windows.ts'

/** How a key stands, and what came since it was last saved. */
export interface LimitRecord {
  readonly keyId: string
  readonly state: LimitState
  readonly lastUsedAt: number
  /** The day (UTC) that the two counts belong to, such as 2026-11-15. */
  readonly day: string
  readonly accepted: number
  readonly rejected: number
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
