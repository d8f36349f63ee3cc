import { type Clock, MINUTE } from '../values/clock.ts'
import type { Admission, Window } from './limit-store.ts'
import { count, current, freshWindow, statusOf, wholeSecond } from './rate-windows.ts'

/** Two generations of these are enough for a busy minute, and no burden for the memory. */
const MAX_ADDRESSES_IN_GENERATION = 50_000

/**
 * Counts the requests that come without a valid key, by client address: a window of a minute, and no
 * ban, since an address may stand for a whole office. In memory alone: an address has no plan to keep to
 * over a restart, and a flood of addresses must not become a flood of writes.
 *
 * Addresses are forgotten by the generation and never looked through: a generation lasts a minute, so when the one after
 * it is over, its windows are too. Where too many come for that, those that came first are forgotten sooner.
 */
export class AddressWindows {
  readonly #perMinute: number
  readonly #clock: Clock
  #young = new Map<string, Window>()
  #old: ReadonlyMap<string, Window> = new Map()
  /** When the young generation began. */
  #since = 0

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute
    this.#clock = clock
  }

  /** Decides on one request, and counts it. */
  admit(address: string): Admission {
    const now = this.#clock()
    const window = this.#windowOf(address, now)
    const isRefused = window.used >= this.#perMinute
    if (!isRefused) count(window, now)
    return this.#told(window, now, isRefused)
  }

  /** How a request would be decided now. Changes nothing. */
  status(address: string): Admission {
    const now = this.#clock()
    const window = current({ ...(this.#find(address) ?? freshWindow()) }, MINUTE, now)
    if (window.used === 0) window.startedAt = wholeSecond(now)
    return this.#told(window, now, window.used >= this.#perMinute)
  }

  #told(window: Window, at: number, isRefused: boolean): Admission {
    const status = statusOf(window, MINUTE, this.#perMinute)
    return isRefused ? { ...status, at, refused: 'rate_limit_exceeded' } : { ...status, at }
  }

  #find(address: string): Window | undefined {
    return this.#young.get(address) ?? this.#old.get(address)
  }

  #windowOf(address: string, now: number): Window {
    this.#age(now)
    const found = this.#find(address)
    if (found !== undefined && current(found, MINUTE, now).used > 0) return found
    const window = freshWindow()
    this.#young.set(address, window)
    return window
  }

  #age(now: number): void {
    const isFull = this.#young.size >= MAX_ADDRESSES_IN_GENERATION
    if (isFull || now >= this.#since + MINUTE) {
      this.#old = this.#young
      this.#young = new Map()
      this.#since = now
    } else if (now < this.#since) {
      // The clock went back.
      this.#since = now
    }
  }
}
