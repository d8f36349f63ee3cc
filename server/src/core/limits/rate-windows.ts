import type { Limits } from '../keys/api-key.ts'
import { type Clock, DAY, MINUTE, SECOND } from '../values/clock.ts'
import { type Arrival, BURST_MS, BurstFilter } from './burst-filter.ts'
import {
  type Admission,
  type Ban,
  type Counted,
  dayOf,
  type KeyWindows,
  type LedgerStore,
  type LimitKeeper,
  type LimitState,
  type Window,
  type WindowStatus,
} from './limit-store.ts'

export const FIRST_BAN = 5 * MINUTE
export const LONGEST_BAN = 60 * MINUTE

export function freshWindow(): Window {
  return { startedAt: 0, used: 0, rejected: 0 }
}

export function freshState(): LimitState {
  return { minute: freshWindow(), day: freshWindow(), lastUsedAt: 0, bans: 0 }
}

/**
 * Decides on one request at time `now`, and counts it. A rejected request uses up nothing. A key is banned once as many of
 * its requests were rejected in a window as its plan allows per minute. The first rejection of a window does not count
 * towards a ban, nor does that of a request that was sent before its client had seen a 429 (BurstFilter).
 */
export function admit(state: LimitState, limits: Limits, now: number, wasWarned = true): Admission {
  followClock(state, state.lastUsedAt, now)
  // A clock that trembles by less than a second stands still.
  const at = Math.max(now, state.lastUsedAt)
  state.lastUsedAt = at
  return { ...decide(state, limits, at, wasWarned), at }
}

/** What a key has used, and how its requests since it was last saved went. */
export interface KeyUse {
  readonly state: LimitState
  accepted: number
  rejected: number
}

/** Like `admit`, and remembers how it went. */
export function admitAndNote(use: KeyUse, limits: Limits, now: number, wasWarned: boolean): Admission {
  const admission = admit(use.state, limits, now, wasWarned)
  if (admission.refused === undefined) use.accepted++
  else use.rejected++
  return admission
}

/**
 * Where the clock was set back, from `before` to `now`, what a key used is moved with it: as much is left of its
 * windows and of its ban as was left before. Without that, a ban would last until the clock has caught up.
 */
export function followClock(state: LimitState, before: number, now: number): void {
  const back = Math.floor((before - now) / SECOND) * SECOND
  if (back <= 0) return
  state.minute.startedAt -= back
  state.day.startedAt -= back
  state.lastUsedAt -= back
  if (state.ban !== undefined) {
    const { number, beganAt, endsAt } = state.ban
    state.ban = { number, beganAt: beganAt - back, endsAt: endsAt - back }
  }
}

/** Looks without counting or changing anything. */
export function windowsOf(state: LimitState, limits: Limits, now: number): KeyWindows {
  const at = Math.max(now, state.lastUsedAt)
  return {
    minute: statusOf(current({ ...state.minute }, MINUTE, at), MINUTE, limits.perMinute),
    day: statusOf(current({ ...state.day }, DAY, at), DAY, limits.perDay),
  }
}

type Decision = Omit<Admission, 'at'>

function decide(state: LimitState, limits: Limits, now: number, wasWarned: boolean): Decision {
  const minute = current(state.minute, MINUTE, now)
  const day = current(state.day, DAY, now)
  if (state.ban !== undefined && now < state.ban.endsAt) return banned(state.ban, limits)

  // The day first: where both are used up, it is the one that keeps the caller out for longer.
  if (day.used >= limits.perDay) return reject(state, day, DAY, limits.perDay, limits, now, wasWarned)
  if (minute.used >= limits.perMinute) {
    return reject(state, minute, MINUTE, limits.perMinute, limits, now, wasWarned)
  }

  count(minute, now)
  count(day, now)
  return tighter(minute, day, limits)
}

function reject(
  state: LimitState,
  window: Window,
  length: number,
  limit: number,
  limits: Limits,
  now: number,
  wasWarned: boolean,
): Decision {
  if (window.rejected === 0 || wasWarned) window.rejected++
  if (window.rejected > limits.perMinute) {
    window.rejected = 0
    state.bans++
    state.ban = { number: state.bans, ...nextBan(state.ban, now) }
    return { ...banned(state.ban, limits), beginsBan: true }
  }
  return { limit, remaining: 0, resetAt: window.startedAt + length, refused: 'rate_limit_exceeded' }
}

function banned(ban: Ban, limits: Limits): Decision {
  return { limit: limits.perMinute, remaining: 0, resetAt: ban.endsAt, refused: 'key_banned' }
}

/** Of two windows with as many requests left, the day's binds for longer. */
export function tighter(minute: Counted, day: Counted, limits: Limits): WindowStatus {
  const ofMinute = statusOf(minute, MINUTE, limits.perMinute)
  const ofDay = statusOf(day, DAY, limits.perDay)
  return ofDay.remaining <= ofMinute.remaining ? ofDay : ofMinute
}

export function statusOf({ startedAt, used }: Counted, length: number, limit: number): WindowStatus {
  return { limit, remaining: Math.max(0, limit - used), resetAt: startedAt + length }
}

/** The window as it is at `now`: emptied once its time is over. */
export function current(window: Window, length: number, now: number): Window {
  if (now >= window.startedAt + length) {
    window.used = 0
    window.rejected = 0
  } else if (now < window.startedAt) {
    // The clock went back: keep the count, but lock nobody out for longer than one window from now.
    window.startedAt = wholeSecond(now)
  }
  return window
}

/** Counts one request; the first one starts the window. */
export function count(window: Window, now: number): void {
  if (window.used === 0) window.startedAt = wholeSecond(now)
  window.used++
}

function nextBan(last: Ban | undefined, now: number): Omit<Ban, 'number'> {
  const forgotten = last === undefined || now >= last.endsAt + DAY
  const length = forgotten ? FIRST_BAN : Math.min((last.endsAt - last.beganAt) * 2, LONGEST_BAN)
  return { beganAt: wholeSecond(now), endsAt: wholeSecond(now) + length }
}

/** Down, so that a window never ends later than its length from now. */
export function wholeSecond(time: number): number {
  return Math.floor(time / SECOND) * SECOND
}

interface LedgerKey extends KeyUse {
  readonly keyId: string
  /** The clock at its latest request. */
  at: number
}

/**
 * The windows and bans of every key, held in memory so that a request costs no disk access, and to be
 * saved every now and then and once at the end.
 */
export class LimitLedger implements LimitKeeper {
  readonly #store: LedgerStore
  readonly #clock: Clock
  readonly #bursts: BurstFilter
  readonly #keys = new Map<string, LedgerKey>()
  readonly #unsaved = new Set<LedgerKey>()
  #saving: Promise<void> = Promise.resolve()
  /** What the clock showed when it was last looked at. */
  #time: number

  static async open(store: LedgerStore, clock: Clock, burstMs = BURST_MS): Promise<LimitLedger> {
    return new LimitLedger(store, clock, await store.loadLimits(), burstMs)
  }

  private constructor(
    store: LedgerStore,
    clock: Clock,
    states: ReadonlyMap<string, LimitState>,
    burstMs: number,
  ) {
    this.#store = store
    this.#clock = clock
    this.#bursts = new BurstFilter(burstMs)
    this.#time = clock()
    for (const [keyId, state] of states) this.#add(keyId, state)
  }

  admit(keyId: string, limits: Limits, arrival: Arrival): Admission {
    const now = this.#tellTime()
    const key = this.#keys.get(keyId) ?? this.#add(keyId, freshState())
    key.at = now
    this.#unsaved.add(key)
    const wasWarned = this.#bursts.wasWarned(keyId, arrival, now, key.state.lastUsedAt)
    const admission = admitAndNote(key, limits, now, wasWarned)
    if (admission.refused !== undefined) this.#bursts.noteRefusal(keyId, arrival, admission.resetAt)
    return admission
  }

  windowsOf(keyId: string, limits: Limits): KeyWindows {
    return windowsOf(this.#keys.get(keyId)?.state ?? freshState(), limits, this.#tellTime())
  }

  /** All are decided as soon as they come. */
  afterDecisions(work: () => void): void {
    setImmediate(work)
  }

  /** Writes what changed since the last call, one call after the other; on a failure it stays due. */
  save(): Promise<void> {
    const saving = this.#saving.then(() => this.#saveUnsaved())
    this.#saving = saving.catch(() => {})
    return saving
  }

  async #saveUnsaved(): Promise<void> {
    this.#tellTime()
    if (this.#unsaved.size === 0) return
    const due = Array.from(this.#unsaved, (key) => {
      const { keyId, state, accepted, rejected, at } = key
      return { key, record: { keyId, state: structuredClone(state), accepted, rejected, day: dayOf(at) } }
    })
    this.#unsaved.clear()
    for (const { key } of due) key.accepted = key.rejected = 0
    try {
      await this.#store.saveLimits(due.map(({ record }) => record))
    } catch (error) {
      for (const { key, record } of due) {
        key.accepted += record.accepted
        key.rejected += record.rejected
        this.#unsaved.add(key)
      }
      throw error
    }
  }

  async heedLiftedBans(): Promise<void> {
    for (const { keyId, number } of await this.#store.listLiftedBans(this.#clock())) {
      const state = this.#keys.get(keyId)?.state
      if (state?.ban?.number === number) delete state.ban
    }
  }

  /**
   * Looks at the clock, at every request and whenever it saves, so that a clock that is set back is noticed at once:
   * what a key has waited by then is not lost, and a window of a day does not become one of 25 hours.
   */
  #tellTime(): number {
    const now = this.#clock()
    if (now <= this.#time - SECOND) {
      for (const key of this.#keys.values()) {
        followClock(key.state, this.#time, now)
        this.#unsaved.add(key)
      }
    }
    this.#time = now
    return now
  }

  #add(keyId: string, state: LimitState): LedgerKey {
    const key = { keyId, state, accepted: 0, rejected: 0, at: this.#time }
    this.#keys.set(keyId, key)
    return key
  }
}
