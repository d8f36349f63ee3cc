import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ORDER_STATES, type Order, petIdsOfLines, stateRules } from '../../src/core/orders/order.ts'
import type { Command } from '../../src/core/stock/command.ts'
import { decide } from '../../src/core/stock/decide.ts'
import { change, entryWith } from '../store/plain-rows.ts'
import { createOrder, linesOf, orderCommand, orderWith, type Units } from '../support/orders.ts'

const NOW = 1_000_000
const BY = { keyId: 'key_a', at: 7 }
const PETS = [1n, 2n, 3n]
const UNKNOWN_PET = 4n

const pet = fc.constantFrom(...PETS)
const unitsOf = (petIds: fc.Arbitrary<bigint>, least: number) =>
  fc.uniqueArray(fc.tuple(petIds, fc.integer({ min: least, max: 4 })), {
    selector: ([petId]) => petId,
    minLength: 1,
  }) as fc.Arbitrary<Units[]>
const sentUnits = unitsOf(fc.constantFrom(...PETS, ...PETS, UNKNOWN_PET), 1)
const orders = fc.uniqueArray(
  fc
    .tuple(
      fc.bigInt({ min: 1n, max: 6n }),
      fc.constantFrom(...ORDER_STATES),
      fc.constantFrom({}, { expiresAt: NOW - 1 }, { expiresAt: NOW + 1 }),
      unitsOf(pet, 0),
    )
    .map(([id, state, hold, units]) => orderWith({ id, state, ...hold }, ...units)),
  { selector: ({ id }) => id, maxLength: 6 },
)
const flag = fc.constantFrom({}, { value: true })
const creation = fc.tuple(sentUnits, fc.boolean(), fc.boolean()).map(([units, complete, evenIfReserved]) => ({
  ...createOrder(...units),
  ...(complete ? { complete, evenIfReserved } : {}),
}))
const count = fc
  .tuple(pet, fc.integer({ min: 0, max: 9 }))
  .map(([petId, quantity]) => change(petId, quantity))
const update = fc
  .tuple(fc.bigInt({ min: 1n, max: 7n }), fc.integer({ min: 0, max: 4 }), flag, sentUnits)
  .map(([id, type, { value }, units]) => (found: ReadonlyMap<bigint, Order>): Command => {
    const order = { id, lines: found.get(id)?.lines ?? [] }
    switch (type) {
      case 0:
        return orderCommand('complete_order', order, { evenIfExpired: value })
      case 1:
        return orderCommand('cancel_order', order)
      case 2:
        return orderCommand('change_order', order, { patch: { note: null, shipDate: 3 } })
      case 3:
        return orderCommand('change_order', order, { holdSeconds: value ? 5 : null })
      default:
        return orderCommand('change_order', order, { lines: linesOf(units) })
    }
  })
const commands = fc.array(fc.oneof(creation, count, update), { maxLength: 12 })

function reservedOf(petId: bigint, some: Iterable<Order>): number {
  let units = 0
  for (const { state, lines } of some) {
    if (!stateRules(state).reserves) continue
    units += lines.find((line) => line.petId === petId)?.quantity ?? 0
  }
  return units
}

test('for any commands, reserved is the sum of the open lines, no unit is given out twice, and no basket is torn', () => {
  fc.assert(
    fc.property(orders, commands, fc.integer({ min: 0, max: 12 }), (all, asked, quantity) => {
      const found = new Map(all.map((one) => [one.id, one]))
      const sent = asked.map((one) => (typeof one === 'function' ? one(found) : one))
      const release: Command = {
        type: 'release_holds',
        ...BY,
        orderIds: [...found.keys()],
        petIds: all.flatMap(({ lines }) => petIdsOfLines(lines)),
      }
      const decision = decide(
        [release, ...sent],
        new Map(PETS.map((petId) => [petId, entryWith(quantity, { reserved: reservedOf(petId, all) })])),
        {
          orders: {
            now: NOW,
            petIds: new Set([...PETS, UNKNOWN_PET]),
            orders: found,
            newIds: sent.map((_, index) => 100n + BigInt(index)),
          },
        },
      )

      // Replaying the log gives the written state. Each new order found enough units, and each completed one took all of them.
      const current = new Map(found)
      const shelf = new Map(PETS.map((petId) => [petId, quantity]))
      const sold = new Map<bigint, number>()
      for (const row of decision.records) {
        if (row.kind === 'change') {
          expect(row.before).toBe(shelf.get(row.petId) as number)
          shelf.set(row.petId, row.after)
          if (row.fact.orderId !== undefined) sold.set(row.petId, row.before - row.after)
          continue
        }
        if (row.kind !== 'order') throw new Error(`${row.kind} was logged`)
        const { order } = row
        current.set(order.id, order)
        if (row.change === 'completed') {
          expect(sold).toEqual(new Map(order.lines.map((line) => [line.petId, line.quantity])))
          sold.clear()
        }
        expect(sold.size).toBe(0)
        for (const { petId } of order.lines) {
          const reserved = reservedOf(petId, current.values())
          if (row.change === 'created') expect(reserved).toBeLessThanOrEqual(shelf.get(petId) ?? 0)
          expect(row.lines).toContainEqual(expect.objectContaining({ petId, reserved }))
        }
      }
      const written = new Map(found)
      for (const order of decision.orders?.added ?? []) written.set(order.id, order)
      for (const order of decision.orders?.changed ?? []) written.set(order.id, order)
      expect(written).toEqual(current)
      for (const petId of PETS) {
        const reserved = decision.entries.get(petId)?.entry?.reserved ?? reservedOf(petId, all)
        expect(reserved).toBe(reservedOf(petId, current.values()))
      }
    }),
    { numRuns: 300 },
  )
})
