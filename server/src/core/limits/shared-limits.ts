import type { Limits } from '../keys/api-key.ts'
import { type Arrival, BURST_MS, BurstFilter } from './burst-filter.ts'
import {
  type Admission,
  type Counted,
  type CountedRequests,
  dayOf,
  type KeyWindows,
  type LimitKeeper,
  type LimitRecord,
  type LimitState,
  type SharedLimitStore,
} from './limit-store.ts'
import { admitAndNote, freshState, type KeyUse, tighter, windowsOf } from './rate-windows.ts'

/** Keeps a round short: those who come meanwhile wait for it. */
const MAX_REQUESTS = 1_000
/** Where so many came together, it pays to wait for the others: a round costs the store hardly more with twice as many. */
const REQUESTS_WORTH_GATHERING = 8

interface Waiting {
  readonly keyId: string
  readonly limits: Limits
  readonly arrival: Arrival
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
  readonly #bursts: BurstFilter

  constructor(store: SharedLimitStore, burstMs = BURST_MS) {
    this.#store = store
    this.#bursts = new BurstFilter(burstMs)
  }

  afterDecisions(work: () => void): void {
    if (this.#round === undefined) setImmediate(work)
    else void this.#round.then(() => setImmediate(work))
  }

  admit(keyId: string, limits: Limits, arrival: Arrival): Promise<Admission> {
    const { promise, resolve, reject } = Promise.withResolvers<Admission>()
    this.#waiting.push({ keyId, limits, arrival, resolve, reject })
    this.#startRound()
    return promise
  }

  async windowsOf(keyId: string, limits: Limits): Promise<KeyWindows> {
    let windows: KeyWindows | undefined
    await this.#store.changeLimits([keyId], (states, now) => {
      windows = windowsOf(states.get(keyId) ?? freshState(), limits, now)
      return []
    })
    if (windows === undefined) throw new Error('the store did not show the limits of a key')
    return windows
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
    if (Math.max(this.#lastSize, this.#waiting.length) >= REQUESTS_WORTH_GATHERING) await this.#gather()
    const batch = this.#waiting.splice(0, MAX_REQUESTS)
    this.#lastSize = batch.length
    let undecided: readonly Waiting[] = batch
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
    } while (this.#waiting.length > before && this.#waiting.length < MAX_REQUESTS)
  }

  /** The short way for keys with room for all that they ask for. Gives the requests that have to be decided. */
  async #countWhatFits(batch: readonly Waiting[]): Promise<readonly Waiting[]> {
    const mayFit = batch.filter(({ keyId }) => !this.#refused.has(keyId))
    if (mayFit.length === 0) return batch
    const byKey = Map.groupBy(mayFit, ({ keyId }) => keyId)
    // Those of one key are the same, unless an operator changed them between two requests: the latest count.
    const limitsOf = new Map(mayFit.map(({ keyId, limits }) => [keyId, limits]))
    const counted = await this.#store.countRequests(
      Array.from(limitsOf, ([keyId, limits]) => ({ keyId, limits, requests: byKey.get(keyId)?.length ?? 0 })),
    )
    for (const [keyId, asking] of byKey) {
      const after = counted.get(keyId)
      if (after !== undefined) tellCounted(asking, after)
    }
    return batch.filter(({ keyId }) => !counted.has(keyId))
  }

  async #decideOneByOne(batch: readonly Waiting[]): Promise<void> {
    const keyIds = [...new Set(batch.map(({ keyId }) => keyId))]
    let admissions: readonly Admission[] = []
    await this.#store.changeLimits(keyIds, (states, now) => {
      const decided = decide(batch, states, now, this.#bursts)
      admissions = decided.admissions
      return decided.records
    })
    for (const [index, { keyId, arrival, resolve }] of batch.entries()) {
      const admission = admissions[index]
      if (admission === undefined) throw new Error('the store did not let the limits be decided')
      if (admission.refused === undefined) this.#refused.delete(keyId)
      else {
        this.#refused.add(keyId)
        this.#bursts.noteRefusal(keyId, arrival, admission.resetAt)
      }
      resolve(admission)
    }
  }
}

/** Each is told what was left after it, and not after those that were counted with it. */
function tellCounted(asking: readonly Waiting[], { minute, day, at }: CountedRequests): void {
  for (const [index, { limits, resolve }] of asking.entries()) {
    const later = asking.length - 1 - index
    const before = ({ startedAt, used }: Counted) => ({ startedAt, used: used - later })
    resolve({ ...tighter(before(minute), before(day), limits), at })
  }
}

/** Works on copies, since the store may ask again. */
function decide(
  batch: readonly Waiting[],
  states: ReadonlyMap<string, LimitState>,
  now: number,
  bursts: BurstFilter,
): { admissions: readonly Admission[]; records: readonly LimitRecord[] } {
  const changes = new Map<string, KeyUse>()
  const admissions = batch.map(({ keyId, limits, arrival }) => {
    let change = changes.get(keyId)
    if (change === undefined) {
      change = { state: structuredClone(states.get(keyId) ?? freshState()), accepted: 0, rejected: 0 }
      changes.set(keyId, change)
    }
    const wasWarned = bursts.wasWarned(keyId, arrival, now, change.state.lastUsedAt)
    return admitAndNote(change, limits, now, wasWarned)
  })
  return {
    admissions,
    records: Array.from(changes, ([keyId, change]) => ({ keyId, day: dayOf(now), ...change })),
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resume) => setImmediate(resume))
}
