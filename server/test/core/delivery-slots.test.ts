import { describe, expect, test } from 'bun:test'
import { DeliverySlots, MAX_AT_ONCE } from '../../src/core/webhooks/delivery-slots.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Begins as many as it may, as a webhook does that is far behind. */
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

describe('the slots that all webhooks of a process share', () => {
  test('let some begin, then whoever else has something to do, then the others', async () => {
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

  test('are never all taken: each webhook may have one under way', async () => {
    const slots = new DeliverySlots()
    const senders = Array.from({ length: 100 }, () => new Sender(slots))
    for (const { goOn } of senders) goOn()
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(Math.min(...senders.map(({ begun }) => begun))).toBe(1)
    const total = senders.reduce((sum, { begun }) => sum + begun, 0)
    expect(total).toBeLessThanOrEqual(256)
    // Whoever ends one makes room for others.
    const last = senders.at(-1)
    for (let index = 0; index < 200; index++) slots.free()
    last?.goOn()
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(last?.begun).toBe(MAX_AT_ONCE)
  })
})
