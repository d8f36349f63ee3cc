import type { Limits } from '../keys/api-key.ts'
import type {
  Admission,
  CountedWindows,
  KeyWindows,
  LimitKeeper,
  LimitState,
  SharedLimitStore,
  WindowCount,
} from './limit-store.ts'
import { admit, newLimitState, tighterStatus, windowsOf } from './rate-windows.ts'

/** Keeps rounds short, because requests that arrive during a round wait for its end. */
const MAX_REQUESTS_PER_ROUND = 1_000
/**
 * If the last round had at least this many requests, or this many are waiting, the next round waits for more: a larger round
 * costs the store hardly more.
 */
const MIN_REQUESTS_TO_GATHER = 8

interface WaitingRequest {
  readonly keyId: string
  readonly limits: Limits
  readonly resolve: (admission: Admission) => void
  readonly reject: (error: unknown) => void
}

/**
 * Holds the windows and bans in the store, so that all instances together enforce the limits. One round decides all requests
 * that arrived together, in their order. Uses the clock of the store, because the clocks of the instances may differ.
 */
export class SharedLimits implements LimitKeeper {
  readonly #store: SharedLimitStore
  #waiting: WaitingRequest[] = []
  #round: Promise<void> | undefined
  #lastRoundSize = 0
  /** Keys whose last request was refused. They skip `countRequests`, which would probably not admit their next request. */
  readonly #refusedKeys = new Set<string>()
  /** The later requests of each key that another process has locked. They wait for the lock, and the rounds do not. */
  readonly #lockedKeys = new Map<string, WaitingRequest[]>()

  constructor(store: SharedLimitStore) {
    this.#store = store
  }

  afterPendingChecks(work: () => void): void {
    if (this.#round === undefined) setImmediate(work)
    else void this.#round.then(() => setImmediate(work))
  }

  admit(keyId: string, limits: Limits): Promise<Admission> {
    const { promise, resolve, reject } = Promise.withResolvers<Admission>()
    const waitsForLock = this.#lockedKeys.get(keyId)
    const queue = waitsForLock ?? this.#waiting
    queue.push({ keyId, limits, resolve, reject })
    this.#startRound()
    return promise
  }

  async windowsOf(keyId: string, limits: Limits): Promise<KeyWindows> {
    const { state, now } = await this.#store.readState(keyId)
    return windowsOf(state, limits, now)
  }

  /** Nothing to do: every round saves its decisions. */
  async save(): Promise<void> {}

  #startRound(): void {
    if (this.#waiting.length === 0) return
    this.#round ??= nextTurn()
      .then(() => this.#runRound())
      .finally(() => {
        this.#round = undefined
        this.#startRound()
      })
  }

  async #runRound(): Promise<void> {
    if (Math.max(this.#lastRoundSize, this.#waiting.length) >= MIN_REQUESTS_TO_GATHER) {
      await this.#gatherRequests()
    }
    const batch = this.#waiting.splice(0, MAX_REQUESTS_PER_ROUND)
    this.#lastRoundSize = batch.length
    let undecided: readonly WaitingRequest[] = batch
    try {
      undecided = await this.#admitWithinLimits(batch)
      if (undecided.length === 0 || (await this.#decideEach(undecided, 'brief'))) return
      for (const [keyId, requests] of Map.groupBy(undecided, (request) => request.keyId)) {
        void this.#decideAfterLock(keyId, requests)
      }
    } catch (error) {
      for (const { reject } of undecided) reject(error)
    }
  }

  /** Waits while each turn brings more requests: clients that were answered together send their next requests together. */
  async #gatherRequests(): Promise<void> {
    let countBefore: number
    do {
      countBefore = this.#waiting.length
      await nextTurn()
    } while (this.#waiting.length > countBefore && this.#waiting.length < MAX_REQUESTS_PER_ROUND)
  }

  /** Admits the requests of each key that has room for all of its requests, in one statement. Returns the other requests. */
  async #admitWithinLimits(batch: readonly WaitingRequest[]): Promise<readonly WaitingRequest[]> {
    const candidates = batch.filter(({ keyId }) => !this.#refusedKeys.has(keyId))
    if (candidates.length === 0) return batch
    const requestsByKey = Map.groupBy(candidates, ({ keyId }) => keyId)
    // An operator may have changed the limits between two requests of a key. The latest limits apply.
    const limitsByKey = new Map(candidates.map(({ keyId, limits }) => [keyId, limits]))
    const countedWindows = await this.#store.countRequests(
      Array.from(limitsByKey, ([keyId, limits]) => ({
        keyId,
        limits,
        requests: requestsByKey.get(keyId)?.length ?? 0,
      })),
    )
    for (const [keyId, requests] of requestsByKey) {
      const windows = countedWindows.get(keyId)
      if (windows !== undefined) resolveCountedRequests(requests, windows)
    }
    return batch.filter(({ keyId }) => !countedWindows.has(keyId))
  }

  /** Decides the requests of one key once no other process locks its state. Never rejects. */
  async #decideAfterLock(keyId: string, requests: readonly WaitingRequest[]): Promise<void> {
    const later: WaitingRequest[] = []
    this.#lockedKeys.set(keyId, later)
    let batch = requests
    while (batch.length > 0) {
      try {
        await this.#decideEach(batch, 'full')
        break
      } catch (error) {
        for (const { reject } of batch) reject(error)
        batch = later.splice(0)
      }
    }
    this.#lockedKeys.delete(keyId)
    this.#waiting.push(...later)
    this.#startRound()
  }

  /** Returns false if the lock wait was brief and another process has locked the state of a key. Then nothing is decided. */
  async #decideEach(batch: readonly WaitingRequest[], lockWait: 'brief' | 'full'): Promise<boolean> {
    const keyIds = [...new Set(batch.map(({ keyId }) => keyId))]
    let admissions: readonly Admission[] = []
    const decide: Parameters<SharedLimitStore['changeLimits']>[1] = (states, now) => {
      const decided = decideBatch(batch, states, now)
      admissions = decided.admissions
      return decided.states
    }
    if ((await this.#store.changeLimits(keyIds, decide, lockWait)) === 'locked') return false
    for (const [index, { keyId, resolve }] of batch.entries()) {
      const admission = admissions[index]
      if (admission === undefined) throw new Error('changeLimits did not call its callback')
      if (admission.refused === undefined) this.#refusedKeys.delete(keyId)
      else this.#refusedKeys.add(keyId)
      resolve(admission)
    }
    return true
  }
}

/** The counts include all of these requests, so each request gets the counts minus the requests after it. */
function resolveCountedRequests(
  requests: readonly WaitingRequest[],
  { minute, day, at }: CountedWindows,
): void {
  for (const [index, { limits, resolve }] of requests.entries()) {
    const laterRequests = requests.length - 1 - index
    const withoutLater = ({ startedAt, used }: WindowCount) => ({ startedAt, used: used - laterRequests })
    resolve({ ...tighterStatus(withoutLater(minute), withoutLater(day), limits), at })
  }
}

/** Changes only copies of the states, because the store may call this again with the same states. */
function decideBatch(
  batch: readonly WaitingRequest[],
  states: ReadonlyMap<string, LimitState>,
  now: number,
): { admissions: readonly Admission[]; states: ReadonlyMap<string, LimitState> } {
  const changed = new Map<string, LimitState>()
  const admissions = batch.map(({ keyId, limits }) => {
    const state = changed.get(keyId) ?? structuredClone(states.get(keyId) ?? newLimitState())
    changed.set(keyId, state)
    return admit(state, limits, now)
  })
  return { admissions, states: changed }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
