import { describe, expect, test } from 'bun:test'
import { EventHub, type EventReader } from '../../src/core/stock/event-hub.ts'
import type { StockEvent, StockEvents } from '../../src/core/stock/stock-event.ts'
import { until } from '../support/until.ts'

/** A log whose reads take a while, and in which something happens between any two of them. */
class BusyLog {
  reads = 0
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
      this.#events.push({ kind: 'removed', petId, cursor: `at ${petId}` })
    }
  }

  version(): undefined {
    return undefined
  }

  async latestEventCursor(): Promise<string> {
    return `at ${this.#events.length}`
  }

  async stockEventsAfter(cursor: string, limit: number): Promise<StockEvents | 'too_far' | 'unknown_cursor'> {
    this.reads++
    const from = Number(cursor.replace('at ', ''))
    if (Number.isNaN(from)) return 'unknown_cursor'
    await Bun.sleep(Math.random() * 2)
    if (this.#events.length - from > this.#farthest) return 'too_far'
    const events = this.#events.slice(from, from + limit)
    const answer = {
      events,
      cursor: events.length < limit ? `at ${this.#events.length}` : `at ${from + limit}`,
    }
    this.happen(this.#pace())
    return answer
  }
}

class Reader implements EventReader {
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
    return this.taken.map((event) => (event.kind === 'relist' ? -1 : Number(event.petId)))
  }
}

const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)
const failed = (error: unknown) => {
  throw error
}

describe('the event hub', () => {
  test('readers who come, leave and come back at random get every event once and in order', async () => {
    const log = new BusyLog(undefined, () => Math.floor(Math.random() * 5))
    const hub = new EventHub(log, failed)
    const stays = [new Reader(), new Reader(), new Reader()]
    const froms: number[] = []
    for (const reader of stays) {
      froms.push(log.length)
      hub.join(reader, await log.latestEventCursor())
      log.happen(700)
      await Bun.sleep(5)
    }
    const restless = new Reader()
    for (let turn = 0; turn < 40; turn++) {
      hub.join(restless, `at ${restless.taken.length}`)
      await Bun.sleep(Math.random() * 8)
      hub.leave(restless)
      await Bun.sleep(Math.random() * 8)
    }
    hub.join(restless, `at ${restless.taken.length}`)
    const end = log.length
    while ([...stays, restless].some(({ petIds }) => (petIds.at(-1) ?? 0) < end)) await Bun.sleep(5)
    for (const [index, { petIds }] of stays.entries()) {
      expect(petIds).toEqual(upTo((froms[index] ?? 0) + 1, petIds.at(-1) ?? 0))
    }
    expect(restless.petIds).toEqual(upTo(1, restless.taken.length))
    for (const reader of [...stays, restless]) hub.leave(reader)
  })

  test('readers who have caught up share one read, also where something happens all the time', async () => {
    const log = new BusyLog(undefined, () => 1)
    const hub = new EventHub(log, failed)
    const readers = Array.from({ length: 20 }, () => new Reader())
    for (const [index, reader] of readers.entries()) {
      log.happen(index)
      hub.join(reader, 'at 0')
    }
    await Bun.sleep(400)
    const before = { reads: log.reads, takes: readers[0]?.takes ?? 0 }
    await Bun.sleep(300)
    const rounds = (readers[0]?.takes ?? 0) - before.takes
    expect(rounds).toBeGreaterThan(1)
    expect(log.reads - before.reads).toBeLessThanOrEqual(rounds + 1)
    for (const reader of readers) hub.leave(reader)
  })

  test('one that is not ready is given nothing until it is', async () => {
    const log = new BusyLog()
    const hub = new EventHub(log, failed)
    const reader = new Reader()
    reader.isOpen = false
    log.happen(1_200)
    hub.join(reader, 'at 0')
    await Bun.sleep(150)
    expect(reader.taken).toEqual([])
    reader.isOpen = true
    hub.ready(reader)
    await until(() => reader.petIds.length >= 1_200)
    expect(reader.petIds).toEqual(upTo(1, 1_200))
    hub.leave(reader)
  })

  test('after too much it says to list again, and goes on from there', async () => {
    const log = new BusyLog(100)
    const hub = new EventHub(log, failed)
    const [follower, late] = [new Reader(), new Reader()]
    hub.join(follower, 'at 0')
    await Bun.sleep(30)
    log.happen(500)
    hub.join(late, 'at 0')
    await Bun.sleep(50)
    log.happen(2)
    hub.wake()
    await Bun.sleep(50)
    expect(follower.petIds).toEqual([-1, 501, 502])
    expect(late.petIds).toEqual([-1, 501, 502])
    expect(follower.taken[0]?.cursor).toBe('at 500')
    hub.leave(follower)
    hub.leave(late)
  })

  test('reads nothing while nobody is there', async () => {
    const log = new BusyLog()
    const hub = new EventHub(log, failed)
    const reader = new Reader()
    hub.join(reader, 'at 0')
    await Bun.sleep(20)
    hub.leave(reader)
    const { reads } = log
    hub.wake()
    await Bun.sleep(250)
    expect(log.reads).toBe(reads)
  })
})
