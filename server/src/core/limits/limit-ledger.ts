import type { Limits } from '../keys/plans.ts'
import { type Clock, SECOND } from '../values/clock.ts'
import { dayOf, type LedgerStore, type LimitKeeper, type LimitRecord } from './limit-store.ts'
import {
  type Admission,
  admit,
  followClock,
  freshState,
  type KeyWindows,
  type LimitState,
  windowsOf,
} from './rate-windows.ts'

/** What a key did since it was last saved. */
interface Unsaved {
  readonly state: LimitState
  accepted: number
  rejected: number
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
  readonly #states: Map<string, LimitState>
  #unsaved = new Map<string, Unsaved>()
  #saving: Promise<void> = Promise.resolve()
  /** What the clock showed when it was last looked at. */
  #time: number

  static async open(store: LedgerStore, clock: Clock): Promise<LimitLedger> {
    return new LimitLedger(store, clock, new Map(await store.loadLimits()))
  }

  private constructor(store: LedgerStore, clock: Clock, states: Map<string, LimitState>) {
    this.#store = store
    this.#clock = clock
    this.#time = clock()
    this.#states = states
  }

  admit(keyId: string, limits: Limits): Admission {
    const now = this.#tellTime()
    let state = this.#states.get(keyId)
    if (state === undefined) {
      state = freshState()
      this.#states.set(keyId, state)
    }
    const unsaved = this.#unsavedOf(keyId, state, now)
    const admission = admit(state, limits, now)
    if (admission.refused === undefined) unsaved.accepted++
    else unsaved.rejected++
    unsaved.at = now
    return admission
  }

  windowsOf(keyId: string, limits: Limits): KeyWindows {
    return windowsOf(this.#states.get(keyId) ?? freshState(), limits, this.#tellTime())
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
    const due = this.#unsaved
    this.#unsaved = new Map()
    const records = Array.from(
      due,
      ([keyId, { state, accepted, rejected, at }]): LimitRecord => ({
        ...{ keyId, state: structuredClone(state), accepted, rejected, day: dayOf(at) },
      }),
    )
    try {
      await this.#store.saveLimits(records)
    } catch (error) {
      this.#takeBack(due)
      throw error
    }
  }

  /** Frees the keys whose ban an operator has lifted. */
  async heedLiftedBans(): Promise<void> {
    for (const { keyId, number } of await this.#store.listLiftedBans(this.#clock())) {
      const state = this.#states.get(keyId)
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
      for (const [keyId, state] of this.#states) {
        followClock(state, this.#time, now)
        this.#unsavedOf(keyId, state, now)
      }
    }
    this.#time = now
    return now
  }

  #unsavedOf(keyId: string, state: LimitState, now: number): Unsaved {
    let unsaved = this.#unsaved.get(keyId)
    if (unsaved === undefined) {
      unsaved = { state, accepted: 0, rejected: 0, at: now }
      this.#unsaved.set(keyId, unsaved)
    }
    return unsaved
  }

  #takeBack(due: ReadonlyMap<string, Unsaved>): void {
    for (const [keyId, earlier] of due) {
      const later = this.#unsaved.get(keyId)
      this.#unsaved.set(keyId, {
        state: earlier.state,
        accepted: earlier.accepted + (later?.accepted ?? 0),
        rejected: earlier.rejected + (later?.rejected ?? 0),
        at: later?.at ?? earlier.at,
      })
    }
  }
}
