import type { EventReader } from '../../src/core/stock/event-hub.ts'
import { petIdOf, type StockEvent, type StockEvents } from '../../src/core/stock/stock-event.ts'

export const upTo = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)

/** A log with slow reads, which grows between any two of them. */
export class BusyLog {
  /** How often somebody has looked for the end of the log. */
  looks = 0
  readonly #events: StockEvent[] = []
  readonly #farthest: number
  readonly #pace: () => number

  constructor(farthest = Number.POSITIVE_INFINITY, pace = () => 0) {
    this.#farthest = farthest
    this.#pace = pace
  }

  get length(): number {
    return this.#events.length
  }

  happen(times: number): void {
    for (let time = 0; time < times; time++) {
      const petId = BigInt(this.#events.length + 1)
      this.#events.push(removedAt(petId))
    }
  }

  version(): number | undefined {
    return undefined
  }

  async latestEventCursor(): Promise<string> {
    this.looks++
    return `${this.#events.length}.a`
  }

  async eventsAfter(cursor: string, limit: number): Promise<StockEvents | 'relist_needed'> {
    const from = Number.parseInt(cursor, 10)
    await Bun.sleep(Math.random() * 2)
    if (this.#events.length - from > this.#farthest) return 'relist_needed'
    const events = this.#events.slice(from, from + limit)
    const answer = {
      events,
      cursor: events.length < limit ? `${this.#events.length}.a` : `${from + limit}.a`,
    }
    this.happen(this.#pace())
    return answer
  }
}

/** A log whose reads resolve when the test says so, with the content at the time of the call or of the answer. */
export class HeldLog {
  length = 0
  reads = 0
  readonly #waiting: ((isFresh: boolean) => void)[] = []

  version(): undefined {
    return undefined
  }

  async latestEventCursor(): Promise<string> {
    return `${this.length}.a`
  }

  eventsAfter(cursor: string, limit: number): Promise<StockEvents> {
    this.reads++
    const from = Number.parseInt(cursor, 10)
    const lengthAtCall = this.length
    const { promise, resolve } = Promise.withResolvers<StockEvents>()
    this.#waiting.push((isFresh) => {
      const end = Math.min(isFresh ? this.length : lengthAtCall, from + limit)
      resolve({
        events: upTo(from + 1, end).map((id) => removedAt(BigInt(id))),
        cursor: `${end}.a`,
      })
    })
    return promise
  }

  get isAsked(): boolean {
    return this.#waiting.length > 0
  }

  /** Resolves the oldest waiting read. */
  answer(isFresh: boolean): void {
    this.#waiting.shift()?.(isFresh)
  }
}

export class Reader implements EventReader {
  readonly taken: StockEvent[] = []
  isOpen = true
  takes = 0

  isReady(): boolean {
    return this.isOpen
  }

  take(events: readonly StockEvent[]): void {
    this.takes++
    this.taken.push(...events)
  }

  get petIds(): number[] {
    return this.taken.map((event) => Number(petIdOf(event) ?? -1))
  }
}

function removedAt(petId: bigint): StockEvent {
  return { kind: 'removed', petId, at: 0, keyId: 'key', cursor: `${petId}.a` }
}
