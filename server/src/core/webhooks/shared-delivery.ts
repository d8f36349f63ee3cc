// Resources that all webhooks of a process share: the slots for parallel requests, and the reads of the event log.
import type { StockEvents } from '../stock/stock-event.ts'
import { MAX_WEBHOOKS } from './webhook.ts'
import type { DeliveryStore } from './webhook-store.ts'

export const MAX_PARALLEL_PER_WEBHOOK = 16
/**
 * A webhook may start a second parallel request only while fewer than this many requests are under way. Its first request
 * is always allowed. The total stays within the 256 requests that Bun sends in parallel: a request that waits inside Bun
 * would run into its timeout.
 */
const MAX_SHARED = 256 - MAX_WEBHOOKS
/** The number of requests that start in one turn of the event loop. Keeps the turn short for callers of the service. */
const MAX_STARTED_PER_TURN = 16

export class DeliverySlots {
  #taken = 0
  #startedThisTurn = 0
  readonly #waiting = new Set<() => void>()

  /**
   * Whether a webhook with `ownRequests` requests under way may start one more. If only the limit per turn is reached,
   * calls `onNextTurn` in the next turn.
   */
  hasRoomOrNotify(ownRequests: number, onNextTurn: () => void): boolean {
    if (ownRequests > 0 && (ownRequests >= MAX_PARALLEL_PER_WEBHOOK || this.#taken >= MAX_SHARED))
      return false
    if (this.#startedThisTurn < MAX_STARTED_PER_TURN) return true
    this.#waiting.add(onNextTurn)
    return false
  }

  take(): void {
    if (this.#startedThisTurn === 0) setImmediate(this.#nextTurn)
    this.#startedThisTurn++
    this.#taken++
  }

  free(): void {
    this.#taken--
  }

  readonly #nextTurn = (): void => {
    this.#startedThisTurn = 0
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const onNextTurn of waiting) onNextTurn()
  }
}

export const EVENTS_PER_READ = 256
const MAX_CACHED_READS = 16

type Read = StockEvents | 'too_far' | 'unknown_cursor'

/**
 * Reads the event log for all webhooks of a process. Webhooks at the same cursor share a read. The database is read by one
 * webhook at a time, with a turn of the event loop in between, so that webhooks with a backlog do not slow down others.
 */
export class SharedLog {
  readonly #store: Pick<DeliveryStore, 'eventsAfter'>
  /** By cursor, the latest read last. */
  readonly #reads = new Map<string, Promise<Read>>()
  #lastRead: Promise<unknown> = Promise.resolve()

  constructor(store: Pick<DeliveryStore, 'eventsAfter'>) {
    this.#store = store
  }

  eventsAfter(cursor: string): Promise<Read> {
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
        // At the end of the log, a later read returns more.
        if (typeof result === 'string' || result.events.length < EVENTS_PER_READ) this.#forget(cursor, read)
      },
      () => this.#forget(cursor, read),
    )
    return read
  }

  #forget(cursor: string, read: Promise<Read>): void {
    if (this.#reads.get(cursor) === read) this.#reads.delete(cursor)
  }
}
