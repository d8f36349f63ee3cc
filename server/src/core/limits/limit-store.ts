import type { Limits } from '../keys/api-key.ts'
import type { Clock } from '../values/clock.ts'
import type { MaybePromise } from '../values/maybe-promise.ts'

/** Counts requests since `startedAt`, which is a whole second because headers report the end of a window in seconds. */
export interface Window {
  startedAt: number
  used: number
  firstRejectedAt?: number
  /** The rejections that count towards a ban. */
  rejected: number
}

export type WindowCount = Pick<Window, 'startedAt' | 'used'>

export interface Ban {
  readonly beganAt: number
  readonly endsAt: number
}

/** The usage of a key. The function `admit` in rate-windows.ts changes it in place. */
export interface LimitState {
  readonly minute: Window
  readonly day: Window
  /** The time of the latest request. If this is later than now, the clock was set back. */
  lastUsedAt: number
  /** The latest ban. It is kept after its end, because a new ban within a day lasts twice as long. */
  ban?: Ban
}

/** A limit as the headers of a response report it. */
export interface LimitStatus {
  readonly limit: number
  readonly remaining: number
  /** In milliseconds. If no requests remain, the next request is admitted from this time on. */
  readonly resetAt: number
}

/** `resetAt` is a multiple of 1,000. */
export interface WindowStatus extends LimitStatus {
  readonly window: 'minute' | 'day'
}

export interface KeyWindows {
  readonly minute: WindowStatus
  readonly day: WindowStatus
  readonly bannedUntil?: number
}

export type Refusal = 'rate_limit_exceeded' | 'key_banned'

/** The decision on a request, with the status that `reportedWindow` selects. */
export interface Admission extends WindowStatus {
  /** The time of the decision, by the same clock as `resetAt`. */
  readonly at: number
  readonly refused?: Refusal
  /** Set on the request that caused the ban. */
  readonly beginsBan?: true
}

/** Decides for each request whether its key is within its limits, and counts the request. */
export interface LimitKeeper {
  admit(keyId: string, limits: Limits): MaybePromise<Admission>
  /** The current windows of the key. Counts nothing. */
  windowsOf(keyId: string, limits: Limits): MaybePromise<KeyWindows>
  /**
   * Runs the work once the pending limit checks are decided and the admitted requests have started. If no check is pending, runs
   * it at the end of this turn of the event loop.
   */
  afterPendingChecks(work: () => void): void
  /** Writes the counts that are not in the store yet. */
  save(): Promise<void>
}

export interface LimitStore {
  /** If the store has a clock that all instances share, it ignores `clock`. */
  openLimits(clock: Clock): Promise<LimitKeeper>
}

/** Persists the counts of a single process that counts in memory. */
export interface LedgerStore {
  loadLimits(): Promise<ReadonlyMap<string, LimitState>>
  saveLimits(states: ReadonlyMap<string, LimitState>): Promise<void>
}

/** The state of a key, and the time of the store when it was read. */
export interface TimedState {
  readonly state: LimitState
  readonly now: number
}

/** The counts that several processes share. */
export interface SharedLimitStore {
  /** Takes no lock and writes nothing. The state of a key that was never used is new. */
  readState(keyId: string): Promise<TimedState>
  /**
   * Locks the states of these keys, and saves the states that `change` returns. A retry calls `change` again. With a brief lock
   * wait, resolves to `locked` if another process has locked a state. Then nothing is saved.
   */
  changeLimits(
    keyIds: readonly string[],
    change: (states: ReadonlyMap<string, LimitState>, now: number) => ReadonlyMap<string, LimitState>,
    lockWait?: 'brief' | 'full',
  ): Promise<'saved' | 'locked'>
  /**
   * Counts the requests of each key that is clearly within its limits: both windows have room, the key is not banned, and the
   * clock was not set back. The result lacks the other keys, which need a closer check. If another process has locked a state,
   * it lacks all keys.
   */
  countRequests(counts: readonly RequestCount[]): Promise<ReadonlyMap<string, CountedWindows>>
}

export interface RequestCount {
  readonly keyId: string
  readonly requests: number
  readonly limits: Limits
}

export interface CountedWindows {
  readonly minute: WindowCount
  readonly day: WindowCount
  /** The time of the count, by the store's clock. */
  readonly at: number
}
