import { type Clock, MINUTE } from '../values/clock.ts'
import {
  type Admission,
  count,
  current,
  freshWindow,
  type Window,
  type WindowStatus,
  wholeSecond,
} from './rate-windows.ts'

/** Enough for a busy minute, and 100,000 windows of some 100 bytes are no burden. */
const MOST_ADDRESSES = 100_000

/**
 * Counts the requests that come without a valid key, by client address: a window of a minute, and no
 * ban, since an address may stand for a whole office. In memory alone: an address has no plan to keep to
 * over a restart, and a flood of addresses must not become a flood of writes.
 */
export class AddressWindows {
  readonly #perMinute: number
  readonly #clock: Clock
  readonly #windows = new Map<string, Window>()

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute
    this.#clock = clock
  }

  admit(address: string): Admission {
    const now = this.#clock()
    const window = current(this.#windowOf(address, now), MINUTE, now)
    if (window.used >= this.#perMinute) {
      return { ...this.#standing(window), at: now, refused: 'rate_limit_exceeded' }
    }
    count(window, now)
    return { ...this.#standing(window), at: now }
  }

  /** What the headers say when a request is not counted, because nobody could tell whose it was. */
  standing(address: string): WindowStatus {
    const now = this.#clock()
    const window = current({ ...(this.#windows.get(address) ?? freshWindow()) }, MINUTE, now)
    if (window.used === 0) window.startedAt = wholeSecond(now)
    return this.#standing(window)
  }

  #standing(window: Window): WindowStatus {
    return {
      limit: this.#perMinute,
      remaining: Math.max(0, this.#perMinute - window.used),
      resetAt: window.startedAt + MINUTE,
    }
  }

  #windowOf(address: string, now: number): Window {
    let window = this.#windows.get(address)
    if (window === undefined) {
      if (this.#windows.size >= MOST_ADDRESSES) this.#makeRoom(now)
      window = freshWindow()
      this.#windows.set(address, window)
    }
    return window
  }

  #makeRoom(now: number): void {
    for (const [address, window] of this.#windows) {
      if (window.startedAt + MINUTE <= now) this.#windows.delete(address)
    }
    // All of them live: the one first seen is the nearest to its end.
    for (const address of this.#windows.keys()) {
      if (this.#windows.size < MOST_ADDRESSES) break
      this.#windows.delete(address)
    }
  }
}
