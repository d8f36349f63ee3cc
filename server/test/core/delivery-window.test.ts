import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { DeliveryWindow, type PendingDelivery } from '../../src/core/webhooks/delivery-window.ts'

function pending(petId: bigint, position: number): PendingDelivery {
  const [cursorBefore, cursor] = [String(position - 1), String(position)]
  return {
    event: { kind: 'removed', petId, at: 0, keyId: 'key', cursor },
    cursorBefore,
    message: { id: cursor, type: 'pet.removed', body: '' },
    failure: undefined,
  }
}

const petOf = ({ event }: PendingDelivery) => (event.kind === 'removed' ? event.petId : undefined)

test('deliveries of a pet are taken one by one and in order, and the head is the oldest unfinished delivery', () => {
  const step = fc.oneof(
    fc.record({ add: fc.bigInt({ min: 1n, max: 4n }) }),
    fc.record({ settle: fc.nat(15), outcome: fc.constantFrom('finish', 'put back', 'remove the pet') }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const window = new DeliveryWindow()
      const taken: PendingDelivery[] = []
      let left: PendingDelivery[] = []
      for (const [index, current] of steps.entries()) {
        if ('add' in current) {
          const added = pending(current.add, index + 1)
          left.push(added)
          window.add(added)
        } else {
          const [settled] = taken.splice(current.settle % Math.max(taken.length, 1), 1)
          if (settled === undefined) continue
          if (current.outcome === 'finish') {
            left = left.filter((one) => one !== settled)
            window.finish(settled)
          } else if (current.outcome === 'put back') window.putBack(settled)
          else {
            left = left.filter((one) => petOf(one) !== petOf(settled))
            window.removePetOf(settled)
          }
        }
        const next = window.takeReady()
        if (next !== undefined) {
          expect(taken.some((one) => petOf(one) === petOf(next))).toBe(false)
          expect(left.find((one) => petOf(one) === petOf(next))).toBe(next)
          taken.push(next)
        }
        expect([window.head, window.size]).toEqual([left[0], left.length])
      }
    }),
  )
})
