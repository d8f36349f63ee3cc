import type { LimitKeeper } from '../limits/limit-store.ts'
import {
  forEachPet,
  MAX_CHANGES,
  type StockOutcome,
  type StockRequest,
  sizeOf,
  somePet,
} from './stock-request.ts'
import type { StockStore } from './stock-store.ts'

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
  readonly store: Pick<StockStore, 'changeStock' | 'concurrentCommits'>
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
 * commit under way waits for that one, so what happens to a pet happens in the order of arrival. A commit that waits for a
 * pet that another process has locked gives its slot back, and settles its requests about other pets first.
 *
 * What arrives together is known at the end of a turn of the event loop. An update that seems to be alone does not
 * wait for that: it does once a turn has brought a second one. Where this turn or the last commit had a crowd, the next
 * turn is waited for as well. Measured in docs/decisions/2026-11-16-one-truth.md.
 */
export class GroupCommit {
  readonly #parts: GroupCommitParts
  #waiting: Waiting[] = []
  /** The pets of commits under way, where there can be several. */
  readonly #pending = new Set<bigint>()
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
    const { store, observers } = this.#parts
    const requests = batch.map(({ request }) => request)
    if (store.concurrentCommits > 1) this.#addPending(requests)
    const left = new Set(batch)
    let hasSlot = true
    const freeSlot = () => {
      if (hasSlot) this.#freeSlots++
      hasSlot = false
    }
    const release = (waiting: Waiting) => {
      left.delete(waiting)
      this.#removePending([waiting.request])
      // A pet stays pending as long as a request of the batch that names it is left.
      this.#addPending([...left].map(({ request }) => request))
      this.#commitSoon()
    }
    const began = performance.now()
    store
      .changeStock(requests, {
        waiting: () => {
          this.#addPending([...left].map(({ request }) => request))
          freeSlot()
          this.#commitSoon()
        },
        settled: (index, outcome) => {
          const waiting = batch[index]
          if (waiting === undefined) return
          waiting.settle(outcome)
          release(waiting)
        },
        failed: (index, error) => {
          const waiting = batch[index]
          if (waiting === undefined) return
          waiting.fail(error)
          release(waiting)
        },
      })
      .then(
        (outcomes) => {
          const durationMs = performance.now() - began
          settleAll(batch, outcomes)
          for (const observer of observers) observer.commitFinished(batch.length, durationMs)
        },
        (error: unknown) => {
          for (const { fail } of left) fail(error)
        },
      )
      .finally(() => {
        freeSlot()
        this.#removePending([...left].map(({ request }) => request))
        this.#commitSoon()
      })
    // What is left may name other pets, or be more than one commit takes.
    this.#commitSoon()
  }

  #addPending(requests: readonly StockRequest[]): void {
    for (const request of requests) forEachPet(request, (petId) => this.#pending.add(petId))
  }

  #removePending(requests: readonly StockRequest[]): void {
    for (const request of requests) forEachPet(request, (petId) => this.#pending.delete(petId))
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
