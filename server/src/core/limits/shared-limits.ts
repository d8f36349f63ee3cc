import type { Limits } from '../keys/plans.ts'
import type { LimitKeeper } from './limit-keeper.ts'
import { type Standings, standingsOf } from './limit-standings.ts'
import type { SharedLimitStore } from './limit-store.ts'
import { type Admission, admit, freshState, type LimitState, tighter } from './rate-windows.ts'
import { dayOf, type LimitRecord } from './usage.ts'

/** Keeps a round short: those who come meanwhile wait for it. */
const MOST_REQUESTS = 1_000
/** Where so many came together, it pays to wait for the others: one round of 40 costs the store hardly more than one of 20. */
const MANY = 8

interface Waiting {
  readonly keyId: string
  readonly limits: Limits
  readonly resolve: (admission: Admission) => void
  readonly reject: (error: unknown) => void
}

/**
 * The windows and bans of every key, held in the store, so that any number of instances together allow what the plan
 * allows. Requests that arrive together are decided in one round, in the order of their arrival; those that come
 * while a round is under way go into the next one. The time is the store's: the clocks of the instances may differ.
 */
export class SharedLimits implements LimitKeeper {
  readonly #store: SharedLimitStore
  #waiting: Waiting[] = []
  #round: Promise<void> | undefined
  /** How many requests the last round had. */
  #lastSize = 0
  /** Keys whose last request was refused: where there was no room, it is not tried the short way. */
  readonly #refused = new Set<string>()

  constructor(store: SharedLimitStore) {
    this.#store = store
  }

  /** Runs the work at the end of a turn, once the requests that are being decided have been. */
  readonly afterRound = (work: () => void): void => {
    if (this.#round === undefined) setImmediate(work)
    else void this.#round.then(() => setImmediate(work))
  }

  admit(keyId: string, limits: Limits): Promise<Admission> {
    const { promise, resolve, reject } = Promise.withResolvers<Admission>()
    this.#waiting.push({ keyId, limits, resolve, reject })
    this.#startRound()
    return promise
  }

  async standings(keyId: string, limits: Limits): Promise<Standings> {
    let standings = standingsOf(freshState(), limits, 0)
    await this.#store.changeLimits([keyId], (states, now) => {
      standings = standingsOf(states.get(keyId) ?? freshState(), limits, now)
      return []
    })
    return standings
  }

  /** Nothing is ever held back. */
  async save(): Promise<void> {}

  /** The store itself is asked each time. */
  async heedLiftedBans(): Promise<void> {}

  #startRound(): void {
    if (this.#waiting.length === 0) return
    this.#round ??= nextTurn()
      .then(() => this.#decideWaiting())
      .finally(() => {
        this.#round = undefined
        this.#startRound()
      })
  }

  async #decideWaiting(): Promise<void> {
    if (Math.max(this.#lastSize, this.#waiting.length) >= MANY) await this.#gather()
    const batch = this.#waiting.splice(0, MOST_REQUESTS)
    this.#lastSize = batch.length
    let undecided = batch
    try {
      undecided = await this.#countWhatFits(batch)
      if (undecided.length > 0) await this.#decideOneByOne(undecided)
    } catch (error) {
      for (const { reject } of undecided) reject(error)
    }
  }

  /** Many come from callers who were answered together: as long as each turn brings more of them, they are waited for. */
  async #gather(): Promise<void> {
    let before: number
    do {
      before = this.#waiting.length
      await nextTurn()
    } while (this.#waiting.length > before && this.#waiting.length < MOST_REQUESTS)
  }

  /** The short way for keys with room for all that they ask for. Gives the requests that have to be decided. */
  async #countWhatFits(batch: readonly Waiting[]): Promise<Waiting[]> {
    const byKey = Map.groupBy(batch, ({ keyId }) => keyId)
    const counts = [...byKey]
      .filter(([keyId]) => !this.#refused.has(keyId))
      .map(([keyId, asking]) => ({ keyId, requests: asking.length, limits: latestLimits(asking) }))
    if (counts.length === 0) return [...batch]
    const counted = await this.#store.countRequests(counts)
    for (const [keyId, { minute, day, at }] of counted) {
      const asking = byKey.get(keyId) ?? []
      for (const [index, { limits, resolve }] of asking.entries()) {
        const later = asking.length - 1 - index
        const before = ({ startedAt, used }: typeof minute) => ({ startedAt, used: used - later })
        resolve({ ...tighter(before(minute), before(day), limits), at })
      }
    }
    return batch.filter(({ keyId }) => !counted.has(keyId))
  }

  async #decideOneByOne(batch: readonly Waiting[]): Promise<void> {
    const keyIds = [...new Set(batch.map(({ keyId }) => keyId))]
    let admissions: readonly Admission[] = []
    await this.#store.changeLimits(keyIds, (states, now) => {
      const decided = decide(batch, states, now)
      admissions = decided.admissions
      return decided.records
    })
    for (const [index, { keyId, resolve, reject }] of batch.entries()) {
      const admission = admissions[index]
      if (admission === undefined) {
        reject(new Error('the store did not let the limits be decided'))
        continue
      }
      if (admission.refused === undefined) this.#refused.delete(keyId)
      else this.#refused.add(keyId)
      resolve(admission)
    }
  }
}

/** Those of one key are the same, unless an operator changed them between two requests. */
function latestLimits(asking: readonly Waiting[]): Limits {
  return asking.at(-1)?.limits ?? { perMinute: 0, perDay: 0 }
}

/** Works on copies, since the store may ask again. */
function decide(
  batch: readonly Waiting[],
  states: ReadonlyMap<string, LimitState>,
  now: number,
): { admissions: readonly Admission[]; records: readonly LimitRecord[] } {
  const records = new Map<string, Tally>()
  const admissions = batch.map(({ keyId, limits }) => {
    let tally = records.get(keyId)
    if (tally === undefined) {
      const state = structuredClone(states.get(keyId) ?? freshState())
      tally = { keyId, state, day: dayOf(now), accepted: 0, rejected: 0 }
      records.set(keyId, tally)
    }
    const admission = admit(tally.state, limits, now)
    if (admission.refused === undefined) tally.accepted++
    else tally.rejected++
    return admission
  })
  return { admissions, records: [...records.values()] }
}

type Tally = { -readonly [Name in keyof LimitRecord]: LimitRecord[Name] }

function nextTurn(): Promise<void> {
  return new Promise((resume) => setImmediate(resume))
}
