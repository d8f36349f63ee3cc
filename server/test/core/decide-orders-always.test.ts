import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isExpired, type Order } from '../../src/core/orders/order.ts'
import type { Command } from '../../src/core/stock/command.ts'
import { decide } from '../../src/core/stock/decide.ts'
import { change, entryWith } from '../store/plain-rows.ts'

const NOW = 1_000_000
const BY = { keyId: 'key_a', at: 7 }
const PETS = [1n, 2n]

const pet = fc.constantFrom(...PETS)
const STATES = ['open', 'complete', 'cancelled', 'expired'] as const
const orders = fc
  .uniqueArray(
    fc.record({
      id: fc.bigInt({ min: 1n, max: 6n }),
      petId: pet,
      state: fc.constantFrom(...STATES),
      quantity: fc.integer({ min: 0, max: 4 }),
      createdAt: fc.constant(5),
      expiresAt: fc.constantFrom(undefined, NOW - 1, NOW, NOW + 1),
    }),
    { selector: ({ id }) => id, maxLength: 6 },
  )
  .map((all) =>
    all.map(({ expiresAt, ...one }): Order => (expiresAt === undefined ? one : { ...one, expiresAt })),
  )
const creation = fc
  .record({ petId: fc.constantFrom(...PETS, 3n), quantity: fc.integer({ min: 1, max: 5 }) })
  .map((draft): Command => ({ type: 'create_order' as const, ...BY, order: draft }))
const setting = fc
  .record({ petId: pet, quantity: fc.integer({ min: 0, max: 9 }) })
  .map(({ petId, quantity }): Command => change(petId, quantity))
const update = fc.record({
  orderId: fc.bigInt({ min: 1n, max: 7n }),
  update: fc.constantFrom(
    { type: 'complete_order' as const },
    { type: 'cancel_order' as const },
    { type: 'change_order' as const, patch: { shipDate: 3 } },
  ),
})
const requests = fc.array(fc.oneof(creation, setting, update), { maxLength: 12 })

function heldOf(petId: bigint, some: Iterable<Order>): number {
  return [...some].reduce(
    (sum, one) => sum + (one.petId === petId && one.state === 'open' ? one.quantity : 0),
    0,
  )
}

test('for any requests, reserved is the sum of the open orders, and no unit is given out twice', () => {
  fc.assert(
    fc.property(orders, requests, fc.integer({ min: 0, max: 12 }), (all, asked, quantity) => {
      const found = new Map(all.map((one) => [one.id, one]))
      const sent = asked.map(
        (one): Command =>
          'update' in one
            ? { ...BY, ...one.update, orderId: one.orderId, petId: found.get(one.orderId)?.petId }
            : one,
      )
      const decision = decide(
        sent,
        new Map(PETS.map((petId) => [petId, entryWith(quantity, { reserved: heldOf(petId, all) })])),
        {
          orders: {
            now: NOW,
            orders: found,
            expiredHolds: all.filter((one) => isExpired(one, NOW)),
            newIds: sent.map((_, index) => 100n + BigInt(index)),
          },
        },
      )

      // Replaying the log gives the written state, and each order found enough units.
      const current = new Map(found)
      const shelf = new Map(PETS.map((petId) => [petId, quantity]))
      for (const row of decision.records) {
        if (row.kind === 'change') {
          expect(row.before).toBe(shelf.get(row.petId) as number)
          shelf.set(row.petId, row.after)
          continue
        }
        if (row.kind !== 'order') throw new Error(`${row.kind} was made`)
        const { order } = row
        if (row.change === 'created') {
          const available = (shelf.get(order.petId) ?? 0) - heldOf(order.petId, current.values())
          expect(available).toBeGreaterThanOrEqual(order.quantity)
        }
        current.set(order.id, order)
      }
      const written = new Map(found)
      for (const order of decision.orders?.added ?? []) written.set(order.id, order)
      for (const order of decision.orders?.changed ?? []) written.set(order.id, order)
      expect(written).toEqual(current)
      for (const petId of PETS) {
        const reserved = decision.entries.get(petId)?.entry?.reserved ?? heldOf(petId, all)
        expect(reserved).toBe(heldOf(petId, current.values()))
      }
      for (const order of current.values()) expect(isExpired(order, NOW)).toBe(false)
    }),
  )
})
