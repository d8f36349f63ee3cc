import type { Clock } from './clock.ts'
import type { Limits } from './plans.ts'
import { type Admission, admit, freshState, type LimitState } from './rate-windows.ts'
import type { Store } from './store.ts'

/**
 * The windows and bans of every key, held in memory so that a request costs no disk access, and to be
 * saved every now and then and once at the end.
 */
export class LimitLedger {
  readonly #store: Pick<Store, 'saveLimits'>
  readonly #clock: Clock
  readonly #states: Map<string, LimitState>
  readonly #unsaved = new Set<string>()

  static async open(store: Pick<Store, 'loadLimits' | 'saveLimits'>, clock: Clock): Promise<LimitLedger> {
    return new LimitLedger(store, clock, new Map(await store.loadLimits()))
  }

  private constructor(store: Pick<Store, 'saveLimits'>, clock: Clock, states: Map<string, LimitState>) {
    this.#store = store
    this.#clock = clock
    this.#states = states
  }

  admit(keyId: string, limits: Limits): Admission {
    let state = this.#states.get(keyId)
    if (state === undefined) {
      state = freshState()
      this.#states.set(keyId, state)
    }
    this.#unsaved.add(keyId)
    return admit(state, limits, this.#clock())
  }

  /** Writes what changed since the last call; on a failure it stays due. */
  async save(): Promise<void> {
    if (this.#unsaved.size === 0) return
    const due = new Map<string, LimitState>()
    for (const keyId of this.#unsaved) {
      const state = this.#states.get(keyId)
      if (state !== undefined) due.set(keyId, structuredClone(state))
    }
    this.#unsaved.clear()
    try {
      await this.#store.saveLimits(due)
    } catch (error) {
      for (const keyId of due.keys()) this.#unsaved.add(keyId)
      throw error
    }
  }
}
