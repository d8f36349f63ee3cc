import type { Clock } from './clock.ts'
import type { LimitKeeper } from './limit-keeper.ts'
import type { Limits } from './plans.ts'
import { type Admission, admit, freshState, type LimitState } from './rate-windows.ts'
import type { Store } from './store.ts'
import { dayOf, type LimitRecord } from './usage.ts'

type LimitStore = Pick<Store, 'loadLimits' | 'saveLimits' | 'listLiftedBans'>

/** What a key did since it was last saved. */
interface Unsaved {
  accepted: number
  rejected: number
  lastUsedAt: number
}

/**
 * The windows and bans of every key, held in memory so that a request costs no disk access, and to be
 * saved every now and then and once at the end.
 */
export class LimitLedger implements LimitKeeper {
  readonly #store: LimitStore
  readonly #clock: Clock
  readonly #states: Map<string, LimitState>
  #unsaved = new Map<string, Unsaved>()
  #saving: Promise<void> = Promise.resolve()

  static async open(store: LimitStore, clock: Clock): Promise<LimitLedger> {
    return new LimitLedger(store, clock, new Map(await store.loadLimits()))
  }

  private constructor(store: LimitStore, clock: Clock, states: Map<string, LimitState>) {
    this.#store = store
    this.#clock = clock
    this.#states = states
  }

  admit(keyId: string, limits: Limits): Admission {
    const now = this.#clock()
    let state = this.#states.get(keyId)
    if (state === undefined) {
      state = freshState()
      this.#states.set(keyId, state)
    }
    let unsaved = this.#unsaved.get(keyId)
    if (unsaved === undefined) {
      unsaved = { accepted: 0, rejected: 0, lastUsedAt: now }
      this.#unsaved.set(keyId, unsaved)
    }
    const admission = admit(state, limits, now)
    if (admission.refused === undefined) unsaved.accepted++
    else unsaved.rejected++
    unsaved.lastUsedAt = now
    return admission
  }

  /** Writes what changed since the last call, one call after the other; on a failure it stays due. */
  save(): Promise<void> {
    const saving = this.#saving.then(() => this.#saveUnsaved())
    this.#saving = saving.catch(() => {})
    return saving
  }

  async #saveUnsaved(): Promise<void> {
    if (this.#unsaved.size === 0) return
    const due = this.#unsaved
    this.#unsaved = new Map()
    const records: LimitRecord[] = []
    for (const [keyId, unsaved] of due) {
      const state = structuredClone(this.#states.get(keyId) ?? freshState())
      records.push({ keyId, state, ...unsaved, day: dayOf(unsaved.lastUsedAt) })
    }
    try {
      await this.#store.saveLimits(records)
    } catch (error) {
      this.#takeBack(due)
      throw error
    }
  }

  /** Frees the keys whose ban an operator has lifted. */
  async heedLiftedBans(): Promise<void> {
    for (const keyId of await this.#store.listLiftedBans(this.#clock())) {
      const state = this.#states.get(keyId)
      if (state !== undefined) delete state.ban
    }
  }

  #takeBack(due: ReadonlyMap<string, Unsaved>): void {
    for (const [keyId, earlier] of due) {
      const later = this.#unsaved.get(keyId)
      this.#unsaved.set(keyId, {
        accepted: earlier.accepted + (later?.accepted ?? 0),
        rejected: earlier.rejected + (later?.rejected ?? 0),
        lastUsedAt: later?.lastUsedAt ?? earlier.lastUsedAt,
      })
    }
  }
}
