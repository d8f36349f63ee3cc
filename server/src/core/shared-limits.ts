import type { Clock } from './clock.ts'
import type { LimitKeeper } from './limit-keeper.ts'
import type { Limits } from './plans.ts'
import { type Admission, admit, freshState, type LimitState } from './rate-windows.ts'
import type { Store } from './store.ts'
import { dayOf, type LimitRecord } from './usage.ts'

type LimitStore = Pick<Store, 'changeLimits'>

/** Keeps a round short: those who come meanwhile wait for it. */
const MOST_REQUESTS = 1_000

interface Waiting {
  readonly keyId: string
  readonly limits: Limits
  readonly at: number
  readonly resolve: (admission: Admission) => void
  readonly reject: (error: unknown) => void
}

/**
 * The windows and bans of every key, held in the store, so that any number of instances together allow what the plan
 * allows. Requests that arrive together are decided in one round, in the order of their arrival; those that come
 * while a round is under way go into the next one.
 */
export class SharedLimits implements LimitKeeper {
  readonly #store: LimitStore
  readonly #clock: Clock
  #waiting: Waiting[] = []
  #isBusy = false

  constructor(store: LimitStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  admit(keyId: string, limits: Limits): Promise<Admission> {
    const { promise, resolve, reject } = Promise.withResolvers<Admission>()
    this.#waiting.push({ keyId, limits, at: this.#clock(), resolve, reject })
    if (!this.#isBusy) {
      this.#isBusy = true
      setImmediate(() => void this.#decideWaiting())
    }
    return promise
  }

  /** Nothing is ever held back. */
  async save(): Promise<void> {}

  /** The store itself is asked each time. */
  async heedLiftedBans(): Promise<void> {}

  async #decideWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST_REQUESTS)
      const keyIds = [...new Set(batch.map(({ keyId }) => keyId))]
      try {
        let admissions: readonly Admission[] = []
        await this.#store.changeLimits(keyIds, (states) => {
          const decided = decide(batch, states)
          admissions = decided.admissions
          return decided.records
        })
        for (const [index, { resolve, reject }] of batch.entries()) {
          const admission = admissions[index]
          if (admission === undefined) reject(new Error('the store did not let the limits be decided'))
          else resolve(admission)
        }
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#isBusy = false
  }
}

/** Works on copies, since the store may ask again. */
function decide(
  batch: readonly Waiting[],
  states: ReadonlyMap<string, LimitState>,
): { admissions: readonly Admission[]; records: readonly LimitRecord[] } {
  const records = new Map<string, Tally>()
  const admissions = batch.map(({ keyId, limits, at }) => {
    let tally = records.get(keyId)
    if (tally === undefined) {
      const state = structuredClone(states.get(keyId) ?? freshState())
      tally = { keyId, state, lastUsedAt: at, day: dayOf(at), accepted: 0, rejected: 0 }
      records.set(keyId, tally)
    }
    const admission = admit(tally.state, limits, at)
    if (admission.refused === undefined) tally.accepted++
    else tally.rejected++
    tally.lastUsedAt = at
    return admission
  })
  return { admissions, records: [...records.values()] }
}

type Tally = { -readonly [Name in keyof LimitRecord]: LimitRecord[Name] }
