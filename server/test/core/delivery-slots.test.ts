import { describe, expect, test } from 'bun:test'
import { DeliverySlots, MAX_AT_ONCE } from '../../src/core/webhooks/delivery-slots.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Starts as many deliveries as allowed, like a webhook with a large backlog. */
class Sender {
  begun = 0
  readonly #slots: DeliverySlots

  constructor(slots: DeliverySlots) {
    this.#slots = slots
  }

  readonly goOn = (): void => {
    while (this.#slots.hasRoom(this.begun, this.goOn)) {
      this.#slots.take()
      this.begun++
    }
  }
}

describe('the delivery slots shared by all webhooks of a process', () => {
  test('let some start, then other work, then the rest', async () => {
    const slots = new DeliverySlots()
    const senders = Array.from({ length: 4 }, () => new Sender(slots))
    for (const { goOn } of senders) goOn()
    expect(senders.map(({ begun }) => begun)).toEqual([MAX_AT_ONCE, 0, 0, 0])
    for (let turn = 2; turn <= 4; turn++) {
      await nextTurn()
      expect(senders.map(({ begun }) => begun)).toEqual(
        [1, 2, 3, 4].map((rank) => (rank <= turn ? MAX_AT_ONCE : 0)),
      )
    }
  })

  test('are never exhausted: each webhook may have one delivery in flight', async () => {
    const slots = new DeliverySlots()
    const senders = Array.from({ length: 100 }, () => new Sender(slots))
    for (const { goOn } of senders) goOn()
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(Math.min(...senders.map(({ begun }) => begun))).toBe(1)
    const total = senders.reduce((sum, { begun }) => sum + begun, 0)
    expect(total).toBeLessThanOrEqual(256)
    // A finished delivery makes room for others.
    const last = senders.at(-1)
    for (let index = 0; index < 200; index++) slots.free()
    last?.goOn()
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(last?.begun).toBe(MAX_AT_ONCE)
  })
})
