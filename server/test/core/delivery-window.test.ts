import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { StockEvent } from '../../src/core/stock/stock-event.ts'
import { DeliveryWindow, Pending } from '../../src/core/webhooks/delivery-window.ts'
import { pauseAfter } from '../../src/core/webhooks/retry-schedule.ts'

const pending = (petId: bigint, place: number) => {
  const event: StockEvent = { kind: 'removed', petId, at: 0, keyId: 'key', cursor: String(place) }
  return new Pending(event, String(place - 1), { id: String(place), type: 'pet.removed', body: '' })
}

test('for any failures and delays: every event is delivered, those of a pet in order, and none before the head is skipped', () => {
  const step = fc.oneof(
    fc.record({ add: fc.bigInt({ min: 1n, max: 4n }) }),
    fc.record({ settle: fc.nat(15), isTaken: fc.boolean() }),
    fc.constant({ retry: true }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.boolean(), (steps, isDown) => {
      const window = new DeliveryWindow()
      const sending: Pending[] = []
      const added: Pending[] = []
      const delivered: Pending[] = []
      const send = () => {
        const next = isDown ? window.takeHead() : window.take()
        if (next !== undefined) {
          expect(sending.some((one) => one.event === next.event)).toBe(false)
          sending.push(next)
        }
        return next !== undefined
      }
      const settle = (index: number, isTaken: boolean) => {
        const [one] = sending.splice(index % sending.length, 1)
        if (one === undefined) return
        if (isTaken) {
          delivered.push(one)
          window.delivered(one)
        } else window.failed(one)
      }
      for (const taken of steps) {
        if ('add' in taken) {
          const one = pending(taken.add, added.length + 1)
          added.push(one)
          window.add(one)
        } else if ('settle' in taken) settle(taken.settle, taken.isTaken)
        else window.retry()
        send()
        const left = added.filter((one) => !delivered.includes(one))
        expect([window.head, window.size]).toEqual([left[0], left.length])
      }
      while (delivered.length < added.length) {
        window.retry()
        while (send()) {}
        settle(0, true)
      }
      for (const [, ofPet] of Map.groupBy(delivered, ({ message }) => petOf(added, message.id)))
        expect(ofPet.map(({ message }) => Number(message.id))).toEqual(
          ofPet.map(({ message }) => Number(message.id)).sort((one, other) => one - other),
        )
    }),
  )
})

function petOf(added: readonly Pending[], id: string): bigint | undefined {
  const event = added.find(({ message }) => message.id === id)?.event
  return event?.kind === 'removed' ? event.petId : undefined
}

test('retry delays grow, the last one repeats, and each varies by at most a tenth', () => {
  const pauses = [5_000, 30_000, 120_000]
  expect([1, 2, 3, 4, 99].map((attempts) => pauseAfter(attempts, pauses, 0.5))).toEqual([
    ...[5_000, 30_000, 120_000, 120_000, 120_000],
  ])
  expect([pauseAfter(1, pauses, 0), pauseAfter(1, pauses, 1)]).toEqual([4_500, 5_500])
})
