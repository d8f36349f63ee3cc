// Resources that all webhooks of a process share: the slots for parallel requests, and the reads of the event log.
import { MAX_WEBHOOKS } from './webhook.ts'
import type { DeliveryStore } from './webhook-store.ts'

export const MAX_PARALLEL_PER_WEBHOOK = 16
/** Bun sends at most this many requests in parallel. Further requests would wait inside Bun until they time out. */
const MAX_PARALLEL_IN_BUN = 256
/** Reserved for test events, so that these never delay deliveries. */
export const MAX_PARALLEL_TESTS = 16
/** Every webhook may always send one request. It may send several only while the total is below this limit. */
const MAX_TOTAL_FOR_FURTHER_REQUESTS = MAX_PARALLEL_IN_BUN - MAX_PARALLEL_TESTS - MAX_WEBHOOKS
/** The requests that may start in one turn of the event loop. Keeps turns short for API requests. */
const MAX_STARTED_PER_TURN = 16

/** Limits the requests that the webhooks of a process send in parallel. */
export class DeliverySlots {
  #totalRequests = 0
  #startedThisTurn = 0
  readonly #waiting = new Set<() => void>()

  /**
   * Whether a webhook with this many open requests may start one more. If only the limit per turn prevents it, `onNextTurn` is
   * called next turn.
   */
  hasRoomOrCallLater(openRequests: number, onNextTurn: () => void): boolean {
    const isFirst = openRequests === 0
    if (!isFirst && openRequests >= MAX_PARALLEL_PER_WEBHOOK) return false
    if (!isFirst && this.#totalRequests >= MAX_TOTAL_FOR_FURTHER_REQUESTS) return false
    if (this.#startedThisTurn < MAX_STARTED_PER_TURN) return true
    this.#waiting.add(onNextTurn)
    return false
  }

  take(): void {
    if (this.#startedThisTurn === 0) setImmediate(this.#nextTurn)
    this.#startedThisTurn++
    this.#totalRequests++
  }

  free(): void {
    this.#totalRequests--
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
