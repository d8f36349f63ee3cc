import type { StockEvents } from '../stock/stock-event.ts'
import type { DeliveryStore } from './webhook-store.ts'

export const EVENTS_A_READ = 256
/** As many as webhooks that are about as far along have in common. */
const MAX_KEPT_READS = 16

type Read = StockEvents | 'too_far' | 'unknown_cursor'

/**
 * The log as all webhooks of a process read it: what one has read the next ones find here, and what has to be read from
 * the database is read one after the other, with a turn of the event loop in between. However many webhooks are behind,
 * however far, the others of this process are not held up.
 */
export class SharedLog {
  readonly #store: Pick<DeliveryStore, 'eventsAfter'>
  /** By the cursor that was read from, the latest last. */
  readonly #reads = new Map<string, Promise<Read>>()
  #lastRead: Promise<unknown> = Promise.resolve()

  constructor(store: Pick<DeliveryStore, 'eventsAfter'>) {
    this.#store = store
  }

  eventsAfter(cursor: string): Promise<Read> {
    const known = this.#reads.get(cursor)
    if (known !== undefined) return known
    const read = this.#lastRead.then(async () => {
      await new Promise(setImmediate)
      return this.#store.eventsAfter(cursor, EVENTS_A_READ)
    })
    this.#keep(cursor, read)
    this.#lastRead = read.then(
      (found) => {
        // Where it ends there will be more.
        if (typeof found === 'string' || found.events.length < EVENTS_A_READ) this.#forget(cursor, read)
      },
      () => this.#forget(cursor, read),
    )
    return read
  }

  #keep(cursor: string, read: Promise<Read>): void {
    this.#reads.set(cursor, read)
    const [oldest] = this.#reads.keys()
    if (this.#reads.size > MAX_KEPT_READS && oldest !== undefined) this.#reads.delete(oldest)
  }

  #forget(cursor: string, read: Promise<Read>): void {
    if (this.#reads.get(cursor) === read) this.#reads.delete(cursor)
  }
}
