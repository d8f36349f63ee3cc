import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { DeliveryWindow, type PendingDelivery, retryDelay } from '../../src/core/webhooks/webhook-runner.ts'

function pending(petId: bigint, position: number): PendingDelivery {
  const [cursorBefore, cursor] = [String(position - 1), String(position)]
  return {
    event: { kind: 'removed', petId, at: 0, keyId: 'key', cursor },
    cursorBefore,
    message: { id: cursor, type: 'pet.removed', body: '' },
    attempts: 0,
    failingSince: undefined,
    retryAt: 0,
  }
}

test('every delivery finishes, those of a pet in order, and the head is the oldest unfinished delivery', () => {
  const step = fc.oneof(
    fc.record({ add: fc.bigInt({ min: 1n, max: 4n }) }),
    fc.record({ settle: fc.nat(15), isAccepted: fc.boolean() }),
    fc.constant({ retry: true }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.boolean(), (steps, isDown) => {
      const window = new DeliveryWindow()
      const sending: PendingDelivery[] = []
      const added: PendingDelivery[] = []
      const delivered: PendingDelivery[] = []
      const send = () => {
        const next = isDown ? window.takeHead() : window.takeReady()
        if (next !== undefined) {
          expect(sending.some((one) => one.event === next.event)).toBe(false)
          sending.push(next)
        }
        return next !== undefined
      }
      const settle = (index: number, isAccepted: boolean) => {
        const [one] = sending.splice(index % sending.length, 1)
        if (one === undefined) return
        if (isAccepted) {
          delivered.push(one)
          window.finish(one)
        } else window.postpone(one)
      }
      for (const taken of steps) {
        if ('add' in taken) {
          const one = pending(taken.add, added.length + 1)
          added.push(one)
          window.add(one)
        } else if ('settle' in taken) settle(taken.settle, taken.isAccepted)
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

function petOf(added: readonly PendingDelivery[], id: string): bigint | undefined {
  const event = added.find(({ message }) => message.id === id)?.event
  return event?.kind === 'removed' ? event.petId : undefined
}

test('retry delays get longer, the last one repeats, and each varies by up to a tenth', () => {
  const delays = [5_000, 30_000, 120_000]
  expect([1, 2, 3, 4, 99].map((attempts) => retryDelay(attempts, delays, 0.5))).toEqual([
    ...[5_000, 30_000, 120_000, 120_000, 120_000],
  ])
  expect([retryDelay(1, delays, 0), retryDelay(1, delays, 1)]).toEqual([4_500, 5_500])
})
