import type { LimitKeeper } from '../limits/limit-store.ts'
import { ServiceError } from '../values/errors.ts'
import { LockWaits } from './lock-waits.ts'
import {
  forEachPet,
  MAX_CHANGES,
  type StockOutcome,
  type StockRequest,
  sizeOf,
  somePet,
} from './stock-request.ts'
import { PetsLocked, type StockStore } from './stock-store.ts'

/** Changes in one commit. Keeps it short: readers and the next batch wait for it. The largest adjustment fits. */
const MAX_BATCH = MAX_CHANGES
/** From so many on, they come from callers who were answered together, and the next turn brings more of them. */
const CROWD = 8

/** Is told of every commit once it is on disk. */
export interface CommitObserver {
  commitFinished(updates: number, durationMs: number): void
}

export interface GroupCommitParts {
  /** Commits that are under way at once name different pets. */
  readonly store: Pick<StockStore, 'changeStock' | 'concurrentCommits' | 'concurrentLockWaits'>
  /** Those whose limits are being looked at are about to come. */
  readonly limits: Pick<LimitKeeper, 'afterDecisions'>
  readonly observers: readonly CommitObserver[]
}

/** A request that waits for its commit. */
interface Waiting {
  readonly request: StockRequest
  settle(outcome: StockOutcome): void
  fail(error: unknown): void
}

/**
 * Puts updates that arrive together into one commit. Those that come while all slots are taken go into the next
 * one, in the order of their arrival; each is answered only after its commit is on disk. An update of a pet that is in a
 * commit under way waits for that one, so what happens to a pet happens in the order of arrival. If another process keeps
 * a pet locked, only the requests about that pet wait for it.
 *
 * What arrives together is known at the end of a turn of the event loop. An update that seems to be alone does not
 * wait for that: it does once a turn has brought a second one. Where this turn or the last commit had a crowd, the next
 * turn is waited for as well. Measured in docs/decisions/2026-11-16-one-truth.md.
 */
export class GroupCommit {
  readonly #parts: GroupCommitParts
  #waiting: Waiting[] = []
  /** The pets of commits under way, and how many requests name each. Not kept if there is one commit at a time. */
  readonly #pending = new Map<bigint, number>()
  readonly #tracksPets: boolean
  readonly #lockWaits: LockWaits
  #freeSlots: number
  #isDeferred = false
  /** How many updates the last commit had. */
  #lastSize = 0
  /** The last turn brought one update at the most. */
  #isQuiet = true
  /** This turn has brought one already. */
  #hasSeenOne = false

  constructor(parts: GroupCommitParts) {
    this.#parts = parts
    this.#freeSlots = parts.store.concurrentCommits
    this.#tracksPets = parts.store.concurrentCommits > 1 || parts.store.concurrentLockWaits > 0
    this.#lockWaits = new LockWaits(parts.store.concurrentLockWaits)
  }

  /** Gives what `answer` makes of the outcome, once that is on disk. */
  change<T>(request: StockRequest, answer: (outcome: StockOutcome) => T): Promise<T> {
    const answered = new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        request,
        settle: (outcome) => {
          try {
            resolve(answer(outcome))
          } catch (error) {
            reject(error)
          }
        },
        fail: reject,
      })
    })
    const { store, limits } = this.#parts
    const isIdle = this.#freeSlots === store.concurrentCommits
    if (this.#isQuiet && !this.#hasSeenOne && !this.#isDeferred && isIdle) {
      this.#hasSeenOne = true
      limits.afterDecisions(() => {
        this.#hasSeenOne = false
      })
      this.#startCommit()
    } else {
      this.#commitSoon()
    }
    return answered
  }

  #commitSoon(): void {
    if (this.#isDeferred || this.#freeSlots === 0 || this.#waiting.length === 0) return
    this.#isDeferred = true
    const { limits } = this.#parts
    limits.afterDecisions(() => {
      if (Math.max(this.#waiting.length, this.#lastSize) < CROWD) this.#commitGathered()
      else limits.afterDecisions(() => this.#commitGathered())
    })
  }

  #commitGathered(): void {
    this.#isDeferred = false
    this.#isQuiet = this.#waiting.length <= 1
    this.#startCommit()
  }

  #startCommit(): void {
    const batch = this.#takeBatch()
    if (batch.length === 0) return
    this.#freeSlots--
    this.#lastSize = batch.length
    this.#addPending(batch)
    void this.#commit(batch, 'brief').finally(() => {
      this.#freeSlots++
      this.#removePending(batch)
      this.#commitSoon()
    })
    // What is left may name other pets, or be more than one commit takes.
    this.#commitSoon()
  }

  /**
   * Commits a batch and answers its callers. Never rejects. If the store rejects the commit, each half of the batch is
   * retried on its own, and so on, until only the bad request fails. Nothing is committed twice: a failure with an unknown
   * result is a ServiceError, and every other failure means that the commit was rolled back.
   */
  async #commit(batch: readonly Waiting[], lockWait: 'brief' | 'full'): Promise<void> {
    const { store, observers } = this.#parts
    const began = performance.now()
    let outcomes: readonly StockOutcome[]
    try {
      outcomes = await store.changeStock(
        batch.map(({ request }) => request),
        lockWait,
      )
    } catch (error) {
      if (error instanceof PetsLocked) return this.#commitAround(batch, error.petIds)
      if (error instanceof ServiceError || batch.length === 1) {
        for (const { fail } of batch) fail(error)
        return
      }
      const middle = Math.ceil(batch.length / 2)
      await this.#commit(batch.slice(0, middle), lockWait)
      await this.#commit(batch.slice(middle), lockWait)
      return
    }
    const durationMs = performance.now() - began
    settleAll(batch, outcomes)
    for (const observer of observers) observer.commitFinished(batch.length, durationMs)
  }

  /** Commits what does not need a locked pet. The rest waits for the locks without a slot, grouped by pet. */
  async #commitAround(batch: readonly Waiting[], lockedPets: ReadonlySet<bigint>): Promise<void> {
    const { free, blocked } = splitByLocks(batch, lockedPets)
    for (const group of blocked) void this.#commitAfterLocks(group)
    if (free.length > 0) await this.#commit(free, 'brief')
  }

  async #commitAfterLocks(group: readonly Waiting[]): Promise<void> {
    this.#addPending(group)
    try {
      await this.#lockWaits.run(() => this.#commit(group, 'full'))
    } catch (error) {
      for (const { fail } of group) fail(error)
    }
    this.#removePending(group)
    this.#commitSoon()
  }

  #addPending(batch: readonly Waiting[]): void {
    if (!this.#tracksPets) return
    for (const { request } of batch) {
      forEachPet(request, (petId) => this.#pending.set(petId, (this.#pending.get(petId) ?? 0) + 1))
    }
  }

  #removePending(batch: readonly Waiting[]): void {
    if (!this.#tracksPets) return
    for (const { request } of batch) {
      forEachPet(request, (petId) => {
        const left = (this.#pending.get(petId) ?? 0) - 1
        if (left > 0) this.#pending.set(petId, left)
        else this.#pending.delete(petId)
      })
    }
  }

  /** The first of those that wait, as many as fit, but for pets of commits under way. */
  #takeBatch(): Waiting[] {
    if (this.#pending.size === 0) return this.#waiting.splice(0, howManyFit(this.#waiting))
    const taken: Waiting[] = []
    const left: Waiting[] = []
    const passedOver = new Set<bigint>()
    const mustWait = (petId: bigint) => this.#pending.has(petId) || passedOver.has(petId)
    let room = MAX_BATCH
    for (const waiting of this.#waiting) {
      const { request } = waiting
      if (sizeOf(request) <= room && !somePet(request, mustWait)) {
        room -= sizeOf(request)
        taken.push(waiting)
      } else {
        forEachPet(request, (petId) => passedOver.add(petId))
        left.push(waiting)
      }
    }
    this.#waiting = left
    return taken
  }
}

function howManyFit(waiting: readonly Waiting[]): number {
  let room = MAX_BATCH
  const index = waiting.findIndex(({ request }) => {
    room -= sizeOf(request)
    return room < 0
  })
  return index === -1 ? waiting.length : index
}

function settleAll(batch: readonly Waiting[], outcomes: readonly StockOutcome[]): void {
  for (const [index, { settle, fail }] of batch.entries()) {
    const outcome = outcomes[index]
    if (outcome === undefined) fail(new Error('the store gave no outcome for a request'))
    else settle(outcome)
  }
}

interface SplitBatch {
  readonly free: readonly Waiting[]
  /** Groups that have no pet in common. */
  readonly blocked: readonly (readonly Waiting[])[]
}

/** A request that shares a pet with an earlier request that is blocked is blocked as well, so that their order is kept. */
function splitByLocks(batch: readonly Waiting[], lockedPets: ReadonlySet<bigint>): SplitBatch {
  if (lockedPets.size === 0) return { free: [], blocked: [batch] }
  const free: Waiting[] = []
  let groups: { readonly pets: ReadonlySet<bigint>; readonly members: readonly Waiting[] }[] = []
  for (const waiting of batch) {
    const { request } = waiting
    const joined = groups.filter(({ pets }) => somePet(request, (petId) => pets.has(petId)))
    if (joined.length === 0 && !somePet(request, (petId) => lockedPets.has(petId))) {
      free.push(waiting)
      continue
    }
    const pets = new Set(joined.flatMap((group) => [...group.pets]))
    forEachPet(request, (petId) => pets.add(petId))
    const members = [...joined.flatMap((group) => group.members), waiting]
    groups = [...groups.filter((group) => !joined.includes(group)), { pets, members }]
  }
  return { free, blocked: groups.map(({ members }) => members) }
}
