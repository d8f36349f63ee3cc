// Resources that all webhooks of a process share: the starts of requests, and the reads of the event log.
import type { DeliveryStore } from './webhook-store.ts'

/** With MAX_WEBHOOKS and a test event for each, fewer than the 256 requests that Bun sends in parallel. */
export const MAX_PARALLEL_PER_WEBHOOK = 16
const MAX_STARTED_PER_TURN = 16

/** Spreads the starts of deliveries over turns of the event loop, because API requests wait for the end of each turn. */
export class DeliveryStarts {
  #startedThisTurn = 0
  readonly #waiting = new Set<() => void>()

  /** Whether a delivery may start in this turn. If not, `retry` is called in the next turn. */
  take(retry: () => void): boolean {
    if (this.#startedThisTurn === 0) setImmediate(this.#nextTurn)
    if (this.#startedThisTurn < MAX_STARTED_PER_TURN) {
      this.#startedThisTurn++
      return true
    }
    this.#waiting.add(retry)
    return false
  }

  readonly #nextTurn = (): void => {
    this.#startedThisTurn = 0
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const retry of waiting) retry()
  }
}

export const EVENTS_PER_READ = 256
const MAX_CACHED_READS = 16

type LogRead = Awaited<ReturnType<DeliveryStore['eventsAfter']>>

/**
 * Reads the event log for all webhooks of a process. Webhooks at the same cursor share a read. Reads never overlap, and the
 * event loop gets a turn between them.
 */
export class SharedLog {
  readonly #store: Pick<DeliveryStore, 'eventsAfter'>
  /** The latest reads by cursor, oldest first. */
  readonly #reads = new Map<string, Promise<LogRead>>()
  #lastRead: Promise<unknown> = Promise.resolve()

  constructor(store: Pick<DeliveryStore, 'eventsAfter'>) {
    this.#store = store
  }

  eventsAfter(cursor: string): Promise<LogRead> {
    const cached = this.#reads.get(cursor)
    if (cached !== undefined) return cached
    const read = this.#lastRead.then(async () => {
      await new Promise(setImmediate)
      return this.#store.eventsAfter(cursor, EVENTS_PER_READ)
    })
    this.#reads.set(cursor, read)
    const [oldest] = this.#reads.keys()
    if (this.#reads.size > MAX_CACHED_READS && oldest !== undefined) this.#reads.delete(oldest)
    this.#lastRead = read.then(
      (result) => {
        // Only a full read stays cached. After a read that reached the end of the log, a later read may return more.
        if (typeof result === 'string' || result.events.length < EVENTS_PER_READ) this.#forget(cursor, read)
      },
      () => this.#forget(cursor, read),
    )
    return read
  }

  #forget(cursor: string, read: Promise<LogRead>): void {
    if (this.#reads.get(cursor) === read) this.#reads.delete(cursor)
  }
}
