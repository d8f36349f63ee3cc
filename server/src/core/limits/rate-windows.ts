import type { Limits } from '../keys/api-key.ts'
import { type Clock, DAY, MINUTE, SECOND } from '../values/clock.ts'
import type {
  Admission,
  Ban,
  KeyWindows,
  LedgerStore,
  LimitKeeper,
  LimitState,
  Window,
  WindowCount,
  WindowStatus,
} from './limit-store.ts'

/**
 * The requests without a valid key that one address may make per minute: enough for a shop whose devices share an address,
 * and far too few to guess a key.
 */
export const ANONYMOUS_PER_MINUTE = 300

export const FIRST_BAN = 5 * MINUTE
export const LONGEST_BAN = 60 * MINUTE

/**
 * Requests that were sent together arrive within this time of each other, even over slow networks. So a request that arrives
 * later after the first rejection of its window was sent by a client that could have seen the rejection.
 */
const BURST_MS = SECOND

function newWindow(): Window {
  return { startedAt: 0, used: 0, rejected: 0 }
}

export function newLimitState(): LimitState {
  return { minute: newWindow(), day: newWindow(), lastUsedAt: 0 }
}

/**
 * Decides on a request, and counts it if it is admitted. A key is banned once a window has `limits.perMinute` rejections that
 * came BURST_MS or more after its first rejection. So a client that continues after a 429 is banned, and a parallel burst is
 * not, however many requests it has.
 */
export function admit(state: LimitState, limits: Limits, now: number): Admission {
  moveWithClock(state, state.lastUsedAt, now)
  // `moveWithClock` ignores a clock that was set back by less than a second. In that case, the time of the last request
  // is used.
  const at = Math.max(now, state.lastUsedAt)
  state.lastUsedAt = at
  return { ...decide(state, limits, at), at }
}

/** Moves the windows and the ban back with the clock. Otherwise a ban would last until the clock has caught up. */
function moveWithClock(state: LimitState, previousTime: number, now: number): void {
  const setBackMs = floorToSecond(previousTime - now)
  if (setBackMs <= 0) return
  for (const window of [state.minute, state.day]) {
    window.startedAt -= setBackMs
    if (window.firstRejectedAt !== undefined) window.firstRejectedAt -= setBackMs
  }
  state.lastUsedAt -= setBackMs
  if (state.ban !== undefined) {
    state.ban = { beganAt: state.ban.beganAt - setBackMs, endsAt: state.ban.endsAt - setBackMs }
  }
}

export function windowsOf(state: LimitState, limits: Limits, now: number): KeyWindows {
  const at = Math.max(now, state.lastUsedAt)
  const { ban } = state
  return {
    ...(ban !== undefined && at < ban.endsAt ? { bannedUntil: ban.endsAt } : {}),
    ...statusesOf(windowAt(state.minute, MINUTE, at), windowAt(state.day, DAY, at), limits),
  }
}

/** A window starts with its first request. Without requests, it is reported as starting now. */
function windowAt(window: Window, length: number, at: number): WindowCount {
  const { startedAt, used } = updateWindow({ ...window }, length, at)
  return { startedAt: used === 0 ? floorToSecond(at) : startedAt, used }
}

type Decision = Omit<Admission, 'at'>

function decide(state: LimitState, limits: Limits, now: number): Decision {
  const minute = updateWindow(state.minute, MINUTE, now)
  const day = updateWindow(state.day, DAY, now)
  const refuseBanned = ({ endsAt }: Ban): Decision => ({
    ...reportedWindow({ ...statusesOf(minute, day, limits), bannedUntil: endsAt }),
    refused: 'key_banned',
  })
  if (state.ban !== undefined && now < state.ban.endsAt) return refuseBanned(state.ban)

  const fullWindow = fullWindowOf(minute, day, limits)
  if (fullWindow === undefined) {
    countRequest(minute, now)
    countRequest(day, now)
    return tighterStatus(minute, day, limits)
  }

  countRejection(fullWindow, now)
  if (fullWindow.rejected >= limits.perMinute) {
    forgetRejections(fullWindow)
    state.ban = nextBan(state.ban, now)
    return { ...refuseBanned(state.ban), beginsBan: true }
  }
  return { ...tighterStatus(minute, day, limits), refused: 'rate_limit_exceeded' }
}

/** If both windows are full, returns the window that ends later, because the caller has to wait for its end. */
function fullWindowOf(minute: Window, day: Window, limits: Limits): Window | undefined {
  const isMinuteFull = minute.used >= limits.perMinute
  if (day.used < limits.perDay) return isMinuteFull ? minute : undefined
  return isMinuteFull && minute.startedAt + MINUTE > day.startedAt + DAY ? minute : day
}

function nextBan(last: Ban | undefined, now: number): Ban {
  const isRepeated = last !== undefined && now < last.endsAt + DAY
  const length = isRepeated ? Math.min((last.endsAt - last.beganAt) * 2, LONGEST_BAN) : FIRST_BAN
  const beganAt = floorToSecond(now)
  return { beganAt, endsAt: beganAt + length }
}

export function tighterStatus(minute: WindowCount, day: WindowCount, limits: Limits): WindowStatus {
  return reportedWindow(statusesOf(minute, day, limits))
}

function statusesOf(minute: WindowCount, day: WindowCount, { perMinute, perDay }: Limits): KeyWindows {
  return { minute: statusOf(minute, 'minute', perMinute), day: statusOf(day, 'day', perDay) }
}

/**
 * The window with fewer requests left. If they are equal, the window that ends later: it admits the next request. A ban resets
 * later than the minute, but perhaps not later than an exhausted day.
 */
export function reportedWindow({ minute, day, bannedUntil }: KeyWindows): WindowStatus {
  const tighter = tighterWindow(minute, day)
  if (bannedUntil === undefined || (tighter.remaining === 0 && tighter.resetAt > bannedUntil)) return tighter
  return { ...minute, remaining: 0, resetAt: bannedUntil }
}

function tighterWindow(minute: WindowStatus, day: WindowStatus): WindowStatus {
  if (day.remaining !== minute.remaining) return day.remaining < minute.remaining ? day : minute
  return day.resetAt < minute.resetAt ? minute : day
}

export const WINDOW_LENGTHS = { minute: MINUTE, day: DAY }

function statusOf(
  { startedAt, used }: WindowCount,
  window: WindowStatus['window'],
  limit: number,
): WindowStatus {
  return {
    window,
    limit,
    remaining: Math.max(0, limit - used),
    resetAt: startedAt + WINDOW_LENGTHS[window],
  }
}

/** Resets the window if it has ended. */
export function updateWindow(window: Window, length: number, now: number): Window {
  if (now >= window.startedAt + length) {
    window.used = 0
    forgetRejections(window)
  } else if (now < window.startedAt) {
    // The clock was set back. The window keeps its count and restarts now, so it ends within `length`.
    window.startedAt = floorToSecond(now)
    forgetRejections(window)
  }
  return window
}

function countRejection(window: Window, now: number): void {
  window.firstRejectedAt ??= now
  if (now >= window.firstRejectedAt + BURST_MS) window.rejected++
}

function forgetRejections(window: Window): void {
  window.rejected = 0
  delete window.firstRejectedAt
}

/** The first request of a window starts it. */
function countRequest(window: Window, now: number): void {
  if (window.used === 0) window.startedAt = floorToSecond(now)
  window.used++
}

/** Rounds down, so that a one-minute window that starts now ends in at most one minute. */
function floorToSecond(time: number): number {
  return Math.floor(time / SECOND) * SECOND
}

/** Counts in memory, so that a request needs no disk access. `save` writes from time to time and at shutdown. */
export class LimitLedger implements LimitKeeper {
  readonly #store: LedgerStore
  readonly #clock: Clock
  readonly #states: Map<string, LimitState>
  #unsavedStates = new Map<string, LimitState>()
  #lastSave: Promise<void> = Promise.resolve()
  /** The time at the last call of `#readClock`. */
  #time: number

  static async open(store: LedgerStore, clock: Clock): Promise<LimitLedger> {
    return new LimitLedger(store, clock, await store.loadLimits())
  }

  private constructor(store: LedgerStore, clock: Clock, states: ReadonlyMap<string, LimitState>) {
    this.#store = store
    this.#clock = clock
    this.#time = clock()
    this.#states = new Map(states)
  }

  admit(keyId: string, limits: Limits): Admission {
    const now = this.#readClock()
    const state = this.#states.get(keyId) ?? newLimitState()
    this.#states.set(keyId, state)
    this.#unsavedStates.set(keyId, state)
    return admit(state, limits, now)
  }

  windowsOf(keyId: string, limits: Limits): KeyWindows {
    return windowsOf(this.#states.get(keyId) ?? newLimitState(), limits, this.#readClock())
  }

  /** Limit checks are synchronous, so none is pending at the end of a turn. */
  afterPendingChecks(work: () => void): void {
    setImmediate(work)
  }

  /** Writes the changes since the last call. Calls never overlap. After a failure, the next call writes the same changes. */
  save(): Promise<void> {
    const save = this.#lastSave.then(() => this.#saveUnsavedStates())
    this.#lastSave = save.catch(() => {})
    return save
  }

  async #saveUnsavedStates(): Promise<void> {
    this.#readClock()
    const unsaved = this.#unsavedStates
    if (unsaved.size === 0) return
    this.#unsavedStates = new Map()
    try {
      await this.#store.saveLimits(structuredClone(unsaved))
    } catch (error) {
      for (const [keyId, state] of unsaved) this.#unsavedStates.set(keyId, state)
      throw error
    }
  }

  /** Called at every request and save, so that a clock that was set back does not prolong a window or a ban. */
  #readClock(): number {
    const now = this.#clock()
    if (now <= this.#time - SECOND) {
      for (const [keyId, state] of this.#states) {
        moveWithClock(state, this.#time, now)
        this.#unsavedStates.set(keyId, state)
      }
    }
    this.#time = now
    return now
  }
}

/** Bounds the memory of AddressWindows. This many addresses are enough for a busy minute. */
const MAX_ADDRESSES_PER_GENERATION = 50_000

/**
 * Counts the requests without a valid key by client address, only in memory. Addresses are never banned, since a whole
 * office may share an address.
 *
 * Only the last two generations of addresses are kept. A generation lasts a minute, like a window, so the windows of a
 * dropped generation have ended. Under a flood of addresses, generations are replaced sooner.
 */
export class AddressWindows {
  readonly #perMinute: number
  readonly #clock: Clock
  #current = new Map<string, Window>()
  #previous: ReadonlyMap<string, Window> = new Map()
  #currentSince = 0

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute
    this.#clock = clock
  }

  /** Decides on a request, and counts it if it is admitted. */
  admit(address: string): Admission {
    const now = this.#clock()
    const window = this.#openWindow(address, now)
    const isRefused = window.used >= this.#perMinute
    if (!isRefused) countRequest(window, now)
    return this.#toAdmission(window, now, isRefused)
  }

  /** The decision on a request that would arrive now. Counts nothing. */
  status(address: string): Admission {
    const now = this.#clock()
    const window = windowAt(this.#find(address) ?? newWindow(), MINUTE, now)
    return this.#toAdmission(window, now, window.used >= this.#perMinute)
  }

  #toAdmission(window: WindowCount, at: number, isRefused: boolean): Admission {
    const status = statusOf(window, 'minute', this.#perMinute)
    return isRefused ? { ...status, at, refused: 'rate_limit_exceeded' } : { ...status, at }
  }

  #find(address: string): Window | undefined {
    return this.#current.get(address) ?? this.#previous.get(address)
  }

  #openWindow(address: string, now: number): Window {
    this.#startGenerationIfDue(now)
    const found = this.#find(address)
    if (found !== undefined && updateWindow(found, MINUTE, now).used > 0) return found
    const window = newWindow()
    this.#current.set(address, window)
    return window
  }

  #startGenerationIfDue(now: number): void {
    const isFull = this.#current.size >= MAX_ADDRESSES_PER_GENERATION
    if (isFull || now >= this.#currentSince + MINUTE) {
      this.#previous = this.#current
      this.#current = new Map()
      this.#currentSince = now
    } else if (now < this.#currentSince) {
      // The clock was set back.
      this.#currentSince = now
    }
  }
}
