import {
  forEachPet,
  petIdsOf,
  type StockOutcome,
  type StockRequest,
  somePet,
} from '../../core/stock/stock-request.ts'
import type { CommitProgress } from '../../core/stock/stock-store.ts'
import { ServiceError } from '../../core/values/errors.ts'
import type { Connection } from './connection.ts'
import { isLockTimeout } from './failures.ts'
import { arrayOf } from './parameters.ts'

/** Much longer than a commit of another instance keeps its pets locked. */
const BRIEF_WAIT_MS = 500

/** Limits the sessions that wait for locked pets, so that some are left for other callers. */
export class LockWaits {
  readonly #maxSessions: number
  readonly #maxQueueMs: number
  readonly #queue: (() => void)[] = []
  #count = 0

  constructor(maxSessions: number, maxQueueMs: number) {
    this.#maxSessions = maxSessions
    this.#maxQueueMs = maxQueueMs
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#count >= this.#maxSessions) await this.#turn()
    else this.#count++
    try {
      return await work()
    } finally {
      const next = this.#queue.shift()
      if (next === undefined) this.#count--
      else next()
    }
  }

  /** Resolves when another wait ends and hands its session over. */
  async #turn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#queue.push(resolve)
    const timer = setTimeout(() => {
      this.#queue.splice(this.#queue.indexOf(resolve), 1)
      reject(
        new ServiceError('service_unavailable', 'another process keeps the pet locked; try again shortly'),
      )
    }, this.#maxQueueMs)
    try {
      await promise
    } finally {
      clearTimeout(timer)
    }
  }
}

interface LockableCommit {
  readonly requests: readonly StockRequest[]
  readonly progress: CommitProgress | undefined
  readonly waits: LockWaits
  /** Commits the requests together; without a limit it waits for locks until the statement times out. */
  readonly commit: (requests: readonly StockRequest[], maxLockWaitMs?: number) => Promise<StockOutcome[]>
  readonly findLockedPets: (petIds: readonly bigint[]) => Promise<ReadonlySet<bigint>>
}

/**
 * Commits all requests together unless a pet stays locked by another process. Then the requests about other pets are
 * committed without it, and the requests about each locked pet wait on their own.
 */
export async function commitAroundLocks(parts: LockableCommit): Promise<StockOutcome[]> {
  const { requests, commit } = parts
  try {
    return await commit(requests, BRIEF_WAIT_MS)
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    return commitInParts(parts)
  }
}

async function commitInParts(parts: LockableCommit): Promise<StockOutcome[]> {
  const { requests, progress, waits, commit, findLockedPets } = parts
  const outcomes: StockOutcome[] = []
  const settle = (indexes: readonly number[], made: readonly StockOutcome[]) => {
    for (const [position, index] of indexes.entries()) {
      const outcome = made[position]
      if (outcome === undefined) throw new Error('a commit gave no outcome for a request')
      outcomes[index] = outcome
      progress?.settled(index, outcome)
    }
  }
  const pick = (indexes: readonly number[]) => requests.filter((_, index) => indexes.includes(index))

  let { free, locked } = splitByLocks(requests, await findLockedPets(petIdsOf(requests)))
  if (free.length > 0) {
    try {
      settle(free, await commit(pick(free), BRIEF_WAIT_MS))
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      // Something other than a pet is locked, such as the catalogue or an idempotency key.
      locked = [...locked, free]
    }
  }
  progress?.waiting()
  const failures: unknown[] = []
  await Promise.all(
    locked.map(async (indexes) => {
      try {
        settle(indexes, await waits.run(() => commit(pick(indexes))))
      } catch (error) {
        failures.push(error)
        for (const index of indexes) progress?.failed(index, error)
      }
    }),
  )
  if (failures.length > 0) throw failures[0]
  return outcomes
}

interface SplitRequests {
  readonly free: readonly number[]
  /** Groups that have no pet in common. */
  readonly locked: readonly (readonly number[])[]
}

/** A request that shares a pet with an earlier request that waits has to wait as well, so that order is kept. */
function splitByLocks(requests: readonly StockRequest[], lockedPets: ReadonlySet<bigint>): SplitRequests {
  const free: number[] = []
  let groups: { readonly pets: ReadonlySet<bigint>; readonly indexes: readonly number[] }[] = []
  for (const [index, request] of requests.entries()) {
    const joined = groups.filter(({ pets }) => somePet(request, (petId) => pets.has(petId)))
    if (joined.length === 0 && !somePet(request, (petId) => lockedPets.has(petId))) {
      free.push(index)
      continue
    }
    const pets = new Set(joined.flatMap((group) => [...group.pets]))
    forEachPet(request, (petId) => pets.add(petId))
    const indexes = [...joined.flatMap((group) => group.indexes), index].toSorted((a, b) => a - b)
    groups = [...groups.filter((group) => !joined.includes(group)), { pets, indexes }]
  }
  return { free, locked: groups.map(({ indexes }) => indexes) }
}

/** The pets among these that another transaction has locked at this moment. */
export async function findLockedPets(
  connection: Connection,
  petIds: readonly bigint[],
): Promise<ReadonlySet<bigint>> {
  const ids = arrayOf(petIds, (petId) => petId)
  const rows = await connection.run((sql) =>
    sql<{ pet_id: bigint }[]>`
      WITH free AS MATERIALIZED (
        SELECT pet_id FROM stock WHERE pet_id = ANY (${ids}::bigint[]) FOR NO KEY UPDATE SKIP LOCKED
      )
      SELECT pet_id FROM stock WHERE pet_id = ANY (${ids}::bigint[])
        AND pet_id NOT IN (SELECT pet_id FROM free)`.execute(),
  )
  return new Set(rows.map(({ pet_id }) => pet_id))
}
