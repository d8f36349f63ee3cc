import type { QuantityChange, QuantityOutcome } from './inventory.ts'
import type { Store } from './store.ts'

/** Keeps a commit short: readers and the next batch wait for it. */
const MOST_CHANGES = 1_000
/** Where so many come together, they come from callers who were answered together, and the next turn brings more of them. */
const MANY = 8

interface Waiting {
  readonly change: QuantityChange
  readonly resolve: (outcome: QuantityOutcome) => void
  readonly reject: (error: unknown) => void
}

/**
 * Puts updates that arrive together into one commit. Those that come while a commit is under way go into the next
 * one, in the order of their arrival; each is answered only after its commit is on disk.
 *
 * What arrives together is known at the end of a turn of the event loop. An update that seems to be alone does not
 * wait for that (50 µs, a quarter of its time): it does once a turn has brought a second one. Where this turn or the last
 * commit had many, the next turn is waited for as well: with 64 connections, 52 updates in a commit instead of 37.
 */
export class GroupCommit {
  readonly #commit: Store['setQuantities']
  /** Runs a function once the requests that have arrived by now have been taken in. */
  readonly #defer: (work: () => void) => void
  #waiting: Waiting[] = []
  #isCommitting = false
  #isDeferred = false
  /** How many updates the last commit had. */
  #lastSize = 0
  /** The last turn brought one update at the most. */
  #isQuiet = true
  /** This turn has brought one already. */
  #hasSeenOne = false

  constructor(
    commit: Store['setQuantities'],
    defer: (work: () => void) => void = (work) => setImmediate(work),
  ) {
    this.#commit = commit
    this.#defer = defer
  }

  set(change: QuantityChange): Promise<QuantityOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<QuantityOutcome>()
    this.#waiting.push({ change, resolve, reject })
    if (this.#isQuiet && !this.#hasSeenOne && !this.#isDeferred && !this.#isCommitting) {
      this.#hasSeenOne = true
      this.#defer(() => {
        this.#hasSeenOne = false
      })
      this.#commitWaiting()
    } else {
      this.#commitSoon()
    }
    return promise
  }

  #commitSoon(): void {
    if (this.#isDeferred || this.#isCommitting || this.#waiting.length === 0) return
    this.#isDeferred = true
    this.#defer(() => {
      if (Math.max(this.#waiting.length, this.#lastSize) < MANY) this.#commitGathered()
      else this.#defer(() => this.#commitGathered())
    })
  }

  #commitGathered(): void {
    this.#isDeferred = false
    this.#isQuiet = this.#waiting.length <= 1
    if (this.#waiting.length > 0) this.#commitWaiting()
  }

  #commitWaiting(): void {
    this.#isCommitting = true
    const batch = this.#waiting.splice(0, MOST_CHANGES)
    this.#lastSize = batch.length
    this.#commit(batch.map(({ change }) => change))
      .then(
        (outcomes) => {
          batch.forEach(({ resolve, reject }, index) => {
            const outcome = outcomes[index]
            if (outcome === undefined) reject(new Error('the store gave no outcome for a change'))
            else resolve(outcome)
          })
        },
        (error: unknown) => {
          for (const { reject } of batch) reject(error)
        },
      )
      .finally(() => {
        this.#isCommitting = false
        this.#commitSoon()
      })
  }
}
