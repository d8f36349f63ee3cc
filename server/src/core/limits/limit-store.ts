import type { Limits } from '../keys/api-key.ts'
import type { Clock } from '../values/clock.ts'
import type { MaybePromise } from '../values/maybe-promise.ts'
import type { Arrival } from './burst-filter.ts'

/** Requests counted since `startedAt`, which is a whole second, so that its end can be told exactly. */
export interface Window {
  startedAt: number
  used: number
  /** The first rejection, and those of requests whose sender knew of it. */
  rejected: number
}

export type Counted = Pick<Window, 'startedAt' | 'used'>

export interface Ban {
  /** The key's bans are numbered from 1: their times can be moved, where the clock is. */
  readonly number: number
  readonly beganAt: number
  readonly endsAt: number
}

/** What one key has used. `admit` changes it in place. */
export interface LimitState {
  readonly minute: Window
  readonly day: Window
  /** When its latest request came: a clock that shows less has been set back. */
  lastUsedAt: number
  /** How many bans it has had, lifted ones too. */
  bans: number
  /** The latest ban, kept after its end: a new one soon after lasts twice as long. */
  ban?: Ban
}

/** What the headers of an answer tell. `resetAt` is in milliseconds, on a whole second. */
export interface WindowStatus {
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
}

/** Both windows of a key, where the headers tell of the tighter one alone. */
export interface KeyWindows {
  readonly minute: WindowStatus
  readonly day: WindowStatus
}

export type Refusal = 'rate_limit_exceeded' | 'key_banned'

export interface Admission extends WindowStatus {
  /** When it was decided, by the clock that `resetAt` is told by. */
  readonly at: number
  readonly refused?: Refusal
  /** This very request brought the ban. */
  readonly beginsBan?: true
}

/** Decides for each request whether its key is within its limits, and counts it. */
export interface LimitKeeper {
  admit(keyId: string, limits: Limits, arrival: Arrival): MaybePromise<Admission>
  /** Both windows of the key as they are now, without counting anything. */
  windowsOf(keyId: string, limits: Limits): MaybePromise<KeyWindows>
  /** Runs the work at the end of a turn, once the requests that are being decided have been. */
  afterDecisions(work: () => void): void
  /** Writes what was only counted in memory so far. */
  save(): Promise<void>
  /** Frees the keys whose ban an operator has lifted, where that is not seen anyway. */
  heedLiftedBans(): Promise<void>
}

/** Counts as it must be counted there: in memory, or where several processes count together. */
export interface LimitStore {
  /** Uses this clock, unless the store has one that all instances share. Tests set how long a burst may take to arrive. */
  openLimits(clock: Clock, burstMs?: number): Promise<LimitKeeper>
}

/** What keys have used, as operators look at it. */
export interface UsageStore {
  /** What every key has used of its windows, and its last ban. */
  loadLimits(): Promise<ReadonlyMap<string, LimitState>>
  /** What each key used from `fromDay` (such as 2026-11-15, UTC) on. */
  listUsage(fromDay: string): Promise<DailyUsage[]>
  /** The bans that began at `since` or later, oldest first. */
  listBans(since: number): Promise<BanRecord[]>
}

export interface DailyUsage {
  readonly keyId: string
  /** In UTC, such as 2026-11-15. */
  readonly day: string
  readonly accepted: number
  readonly rejected: number
}

export interface BanRecord extends Ban {
  readonly keyId: string
  readonly liftedAt?: number
}

/** What a key has used by now, and what came since it was last saved. */
export interface LimitRecord extends DailyUsage {
  readonly state: LimitState
}

export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Keeps over a restart what one process counts in its memory. */
export interface LedgerStore extends Pick<UsageStore, 'loadLimits'> {
  /** Remembers these keys over a restart, and adds to what they used on that day. */
  saveLimits(records: readonly LimitRecord[]): Promise<void>
  /** The bans that have been lifted, and would still last at `now` otherwise. */
  listLiftedBans(now: number): Promise<{ readonly keyId: string; readonly number: number }[]>
}

/** Where several processes count together. */
export interface SharedLimitStore {
  /**
   * Gives what these keys have used, and the time by the store's own clock, to `change`, and saves what it makes of
   * them; until then nobody else can look at them. `change` may be called more than once, and what it did the last
   * time counts.
   */
  changeLimits(
    keyIds: readonly string[],
    change: (states: ReadonlyMap<string, LimitState>, now: number) => readonly LimitRecord[],
  ): Promise<void>
  /**
   * Counts the requests of each key that can be counted without further ado: both windows are running and have room
   * for all of them, there is no ban, and the store's clock has gone on. A key that is missing in the answer has been
   * left alone.
   */
  countRequests(counts: readonly RequestCount[]): Promise<ReadonlyMap<string, CountedRequests>>
}

/** Requests of one key that arrived together. */
export interface RequestCount {
  readonly keyId: string
  readonly requests: number
  readonly limits: Limits
}

/** The windows after requests were counted, and when that was by the store's clock. */
export interface CountedRequests {
  readonly minute: Counted
  readonly day: Counted
  readonly at: number
}
