import { describe, expect, test } from 'bun:test'
import {
  DeliverySlots,
  MAX_PARALLEL_PER_WEBHOOK,
  MAX_PARALLEL_TESTS,
} from '../../src/core/webhooks/shared-delivery.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Starts as many requests as it may, like a webhook with a long backlog. */
class Sender {
  started = 0
  readonly #slots: DeliverySlots

  constructor(slots: DeliverySlots) {
    this.#slots = slots
  }

  readonly resume = (): void => {
    while (this.#slots.hasRoomOrCallLater(this.started, this.resume)) {
      this.#slots.take()
      this.started++
    }
  }
}

describe('the delivery slots shared by all webhooks of a process', () => {
  test('limit the requests that start in one turn of the event loop', async () => {
    const slots = new DeliverySlots()
    const senders = Array.from({ length: 4 }, () => new Sender(slots))
    for (const { resume } of senders) resume()
    expect(senders.map(({ started }) => started)).toEqual([MAX_PARALLEL_PER_WEBHOOK, 0, 0, 0])
    for (let turn = 2; turn <= 4; turn++) {
      await nextTurn()
      expect(senders.map(({ started }) => started)).toEqual(
        [1, 2, 3, 4].map((rank) => (rank <= turn ? MAX_PARALLEL_PER_WEBHOOK : 0)),
      )
    }
  })

  test('always leave one request for each webhook, and room for test events', async () => {
    const slots = new DeliverySlots()
    const senders = Array.from({ length: 100 }, () => new Sender(slots))
    for (const { resume } of senders) resume()
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(Math.min(...senders.map(({ started }) => started))).toBe(1)
    const total = senders.reduce((sum, { started }) => sum + started, 0)
    expect(total).toBeLessThanOrEqual(256 - MAX_PARALLEL_TESTS)
    const last = senders.at(-1)
    for (let index = 0; index < 200; index++) slots.free()
    last?.resume()
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(last?.started).toBe(MAX_PARALLEL_PER_WEBHOOK)
  })
})
