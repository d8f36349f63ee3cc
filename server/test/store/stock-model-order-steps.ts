import { expect } from 'bun:test'
import fc from 'fast-check'
import type { NewOrder, OrderRow } from '../../src/core/orders/order.ts'
import { type OrderUpdate, orderCommand } from '../support/order-command.ts'
import { type ModelShop, PETS, type Step, told } from './stock-model-shop.ts'

const BY = { keyId: 'key_a', at: 1 }
const who = fc.integer({ min: 0, max: 1 })
const petId = fc.constantFrom(...PETS)
const units = fc.integer({ min: 1, max: 3 })

const draft = fc
  .record(
    { petId, quantity: units, holdSeconds: fc.integer({ min: 1, max: 4 }), shipDate: fc.nat(9) },
    { requiredKeys: ['petId', 'quantity'] },
  )
  .map((one): NewOrder => one)

/** Orders, a few per commit, after a change of quantity. */
export const ordering = fc.tuple(who, petId, fc.nat(9), fc.array(draft, { minLength: 1, maxLength: 4 })).map(
  ([index, changed, quantity, drafts]): Step =>
    async (shop) => {
      const outcomes = await shop
        .store(index)
        .changeStock([
          { type: 'set_quantity', ...BY, petId: changed, quantity },
          ...drafts.map((one) => ({ type: 'create_order' as const, ...BY, order: one })),
        ])
      shop.orders.endHolds([changed, ...drafts.map((one) => one.petId)])
      shop.record(changed, quantity)
      for (const [at, one] of drafts.entries()) shop.orders.create(one, outcomes[at + 1])
    },
)

/** All or none, in one commit. */
export const orderingTogether = fc.tuple(who, fc.array(draft, { minLength: 1, maxLength: 4 })).map(
  ([index, drafts]): Step =>
    async (shop) => {
      const [outcome] = await shop
        .store(index)
        .changeStock([{ type: 'create_orders', ...BY, orders: drafts }])
      shop.orders.endHolds(drafts.map((one) => one.petId))
      shop.orders.createAll(drafts, outcome)
    },
)

/** On both processes at once for the same pet: in any order, no more is sold than the stock. */
export const orderingTwice = fc.tuple(petId, units).map(
  ([id, quantity]): Step =>
    async (shop) => {
      const request = { type: 'create_order' as const, ...BY, order: { petId: id, quantity } }
      const outcomes = await Promise.all(shop.stores.map((store) => store.changeStock([request])))
      shop.orders.endHolds([id])
      // The successful orders came first.
      const isMade = (outcome: unknown) => Number(typeof outcome === 'object' && 'order' in (outcome ?? {}))
      for (const outcome of outcomes.flat().sort((one, other) => isMade(other) - isMade(one))) {
        shop.orders.create(request.order, outcome)
      }
    },
)

const customer = fc.constantFrom('Anna', 'Zoë "Z" Brown, 555\\0134')
const note = fc.constantFrom('gift', 'line 1\nline 2, {x}')

const update = fc.oneof(
  fc.constantFrom<OrderUpdate>('complete', 'cancel'),
  fc.record(
    { shipDate: fc.option(fc.nat(9)), customer: fc.option(customer), note: fc.option(note) },
    { requiredKeys: [] },
  ),
)

/** Of existing orders, some of them twice, and of an unknown one. */
export const updating = fc
  .tuple(who, fc.array(fc.tuple(fc.nat(), update), { minLength: 1, maxLength: 4 }))
  .map(
    ([index, updates]): Step =>
      async (shop) => {
        const { orders } = shop
        const wanted = updates.map(([number, what]) => {
          const order = orders.all[number % (orders.all.length + 1)]
          const named = { ...BY, orderId: order?.id ?? 404_404n, petId: order?.petId }
          return { what, command: orderCommand(named, what) }
        })
        const outcomes = await shop.store(index).changeStock(wanted.map(({ command }) => command))
        orders.endHolds(wanted.flatMap(({ command }) => command.petId ?? []))
        const expected = wanted.map(({ what, command }) => told(orders.update(command.orderId, what)))
        expect(outcomes.map(told)).toEqual(expected)
      },
  )

export const sweeping = who.map(
  (index): Step =>
    async (shop) => {
      const petIds = await shop.store(index).petsWithExpiredHolds(2)
      await shop.store(index).changeStock([{ type: 'release_holds', ...BY, petIds }])
      shop.orders.endHolds(petIds)
    },
)

/** Forward, and sometimes back. */
export const movingClock = fc.integer({ min: -1_500, max: 3_000 }).map(
  (by): Step =>
    async (shop) => {
      shop.orders.now += by
    },
)

const row = fc
  .record(
    {
      id: fc.bigInt({ min: 1n, max: 8n }),
      petId,
      quantity: units,
      shipDate: fc.nat(9),
      customer,
      note,
      complete: fc.boolean(),
    },
    { requiredKeys: ['id', 'petId', 'quantity', 'complete'] },
  )
  .map((one): OrderRow => one)

/** Invalid rows leave everything unchanged. */
export const importingOrders = fc
  .tuple(who, fc.uniqueArray(row, { minLength: 1, maxLength: 4, selector: ({ id }) => id }))
  .map(
    ([index, rows]): Step =>
      async (shop) => {
        const { orders } = shop
        const differing = rows
          .filter((one) => orders.differs(one))
          .sort((one, other) => (one.id < other.id ? -1 : 1))
        const staged = await shop.store(index).stageOrders()
        try {
          await staged.add(rows.map((value, at) => ({ line: at + 2, value })))
          await staged.finishStaging(0)
          const foreseen = await staged.preview(0)
          const counts = await staged.apply({ at: 5, keyId: 'import' }).catch((error: Error) => error.name)
          if (counts === 'RowsRefused') {
            expect(foreseen.refused).toBeDefined()
            return
          }
          orders.endHolds(differing.map((one) => one.petId))
          expect(differing.filter((one) => !orders.bringIn(one))).toEqual([])
          expect(foreseen.refused).toBeUndefined()
        } finally {
          await staged.discard()
        }
      },
  )

/** Removes a pet unless open orders prevent it; expired holds do not. */
export function removal(shop: ModelShop, id: bigint): 'removed' | 'unknown_pet' | 'in_use' {
  shop.orders.endHolds([id])
  if (shop.quantities.has(id) && shop.orders.hasOpen(id)) return 'in_use'
  shop.record(id, 0)
  return shop.quantities.delete(id) ? 'removed' : 'unknown_pet'
}
