import type { LimitState } from './rate-windows.ts'
import type { BanRecord, CountedRequests, DailyUsage, LimitRecord, RequestCount } from './usage.ts'

/** What keys have used, as operators look at it. */
export interface UsageStore {
  /** What every key has used of its windows, and its last ban. */
  loadLimits(): Promise<ReadonlyMap<string, LimitState>>
  /** What each key used from `fromDay` (such as 2026-11-15, UTC) on. */
  listUsage(fromDay: string): Promise<DailyUsage[]>
  /** The bans that began at `since` or later, oldest first. */
  listBans(since: number): Promise<BanRecord[]>
}

/** Keeps over a restart what one process counts in its memory. */
export interface LedgerStore {
  /** What every key has used of its windows, and its last ban. */
  loadLimits(): Promise<ReadonlyMap<string, LimitState>>
  /** Remembers over a restart how these keys stand, and adds to what they used on that day. */
  saveLimits(records: readonly LimitRecord[]): Promise<void>
  /** The bans that have been lifted, and would still last at `now` otherwise. */
  listLiftedBans(now: number): Promise<{ readonly keyId: string; readonly number: number }[]>
}

/** Where several processes count together. */
export interface SharedLimitStore {
  /**
   * Gives how these keys stand, and the time by the store's own clock, to `change`, and saves what it makes of them;
   * until then nobody else can look at them. `change` may be called more than once, and what it did the last time
   * counts.
   */
  changeLimits(
    keyIds: readonly string[],
    change: (states: ReadonlyMap<string, LimitState>, now: number) => readonly LimitRecord[],
  ): Promise<void>
  /**
   * Counts the requests of each key that has room for all of them at the store's time, and gives how it stands after
   * them. A key that is missing in the answer has been left alone.
   */
  countRequests(counts: readonly RequestCount[]): Promise<ReadonlyMap<string, CountedRequests>>
}
