import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { NewOrder, Order } from '../../src/core/orders/order.ts'
import { customerSearch } from '../../src/core/orders/order-list.ts'
import type { Command, Result } from '../../src/core/stock/command.ts'
import type { Store } from '../../src/store/store.ts'
import { addOrders } from '../support/add-orders.ts'
import { addPets } from '../support/add-pets.ts'
import { type OrderUpdate, orderCommand } from '../support/order-command.ts'
import { removePet } from '../support/remove-pet.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { change, pet } from './plain-rows.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const START = 1_790_000_000_000
const HIGHEST = 9223372036854775807n
const BY = { keyId: 'key_a', at: 1 }
const draft = (petId: bigint, quantity: number, more: Partial<NewOrder> = {}): Command => ({
  type: 'create_order',
  ...BY,
  order: { petId, quantity, ...more },
})
const of = (customer: string) => ({ customer: customerSearch(customer) })
const update = ({ id, petId }: Order, what: OrderUpdate): Command =>
  orderCommand({ ...BY, orderId: id, petId }, what)

/** The guarantees of every adapter for orders. */
export function orderSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: orders`, () => {
    let now: number
    let store: Store
    let other: Store
    beforeEach(async () => {
      now = START
      store = await underTest.open(() => now)
      other = await underTest.open(() => now)
      await addPets(store, [pet(1n, 10), pet(2n, 5), pet(HIGHEST, 3)])
    })
    afterEach(async () => {
      expect(await store.findDamage()).toEqual([])
      await store.close()
      await other.close()
      await underTest.discard()
    })

    const orderIn = (outcome: Result | undefined): Order => {
      if (outcome === undefined || !('order' in outcome)) throw new Error(`no order: ${Bun.inspect(outcome)}`)
      return outcome.order
    }
    const made = async (petId: bigint, quantity: number, more: Partial<NewOrder> = {}, by = store) =>
      orderIn((await by.changeStock([draft(petId, quantity, more)]))[0])
    const ids = async (...request: Parameters<Store['listOrders']>) =>
      (await store.listOrders(...request)).map(({ id }) => id)
    const reservedOf = async (petId: bigint) => (await other.findAvailability(petId))?.reserved
    async function eventsAfter(cursor: string): Promise<unknown[]> {
      const found = await other.eventsAfter(cursor, 100)
      if (typeof found === 'string') throw new Error(found)
      return found.events.map((event) => {
        if (event.kind === 'order') return [event.change, event.order]
        return event.kind === 'change'
          ? [event.before, event.after, event.reason, event.reference]
          : event.kind
      })
    }

    test('a new order is complete and visible to everybody, and reserves units', async () => {
      const shipDate = START + 5
      const order = await made(HIGHEST, 2, { shipDate, holdSeconds: 60 })
      expect(order).toEqual({
        id: 1n,
        petId: HIGHEST,
        quantity: 2,
        state: 'open',
        createdAt: START,
        shipDate,
        expiresAt: START + 60_000,
        createdBy: 'key_a',
      })
      expect(await other.findOrder(1n)).toEqual(order)
      expect(await other.findOrder(2n)).toBeUndefined()
      expect(await other.findAvailability(HIGHEST)).toEqual({ petId: HIGHEST, quantity: 3, reserved: 2 })
      expect(await other.findAvailability(404n)).toBeUndefined()
      expect((await stockOf(other)).map(({ quantity }) => quantity)).toEqual([10, 5, 3])
      expect(await made(1n, 1)).toEqual({
        id: 2n,
        petId: 1n,
        quantity: 1,
        state: 'open',
        createdAt: START,
        createdBy: 'key_a',
      })
    })

    test('the availability of many pets is that of each, without pets that do not exist', async () => {
      await made(HIGHEST, 2)
      await made(1n, 4, { holdSeconds: 60 })
      await made(1n, 3, { holdSeconds: 61 })
      now += 60_000
      const listed = await other.listAvailability([HIGHEST, 404n, 2n, 1n])
      expect(listed).toEqual([
        { petId: 1n, quantity: 10, reserved: 3 },
        { petId: 2n, quantity: 5, reserved: 0 },
        { petId: HIGHEST, quantity: 3, reserved: 2 },
      ])
      expect(await Promise.all(listed.map(({ petId }) => other.findAvailability(petId)))).toEqual(listed)
    })

    test('an order above the available units is rejected with their number; others in the commit succeed', async () => {
      const outcomes = await store.changeStock([
        draft(1n, 6),
        draft(1n, 5),
        draft(404n, 1),
        draft(1n, 4),
        change(2n, 7),
        draft(2n, 7),
      ])
      expect(outcomes).toMatchObject([
        { order: { quantity: 6 } },
        { type: 'insufficient_stock', petId: 1n, wanted: 5, available: 4 },
        { type: 'unknown_pet' },
        { order: { quantity: 4 } },
        { items: [{ petId: 2n, quantity: 7 }] },
        { order: { petId: 2n, quantity: 7 } },
      ])
      expect([await reservedOf(1n), await reservedOf(2n)]).toEqual([10, 7])
      expect(store.orderTotals()).toEqual({ refused: 1, expired: 0 })
      expect(other.orderTotals()).toEqual({ refused: 0, expired: 0 })
    })

    test('completing reduces quantity and reserved, and the history has the reason', async () => {
      const order = await made(1n, 4)
      const cursor = await store.latestEventCursor()
      await store.changeStock([{ ...update(order, 'complete'), at: 9, keyId: 'key_b' }])
      expect(await other.findAvailability(1n)).toEqual({ petId: 1n, quantity: 6, reserved: 0 })
      expect(await historyOf(other, 1n)).toEqual([
        {
          petId: 1n,
          before: 10,
          after: 6,
          adjustmentId: expect.any(BigInt),
          at: 9,
          occurredAt: 9,
          keyId: 'key_b',
          reason: 'sold',
          reference: 'order 1',
        },
      ])
      const complete = { ...order, state: 'complete' as const, closedAt: START, closedBy: 'key_b' }
      expect(await eventsAfter(cursor)).toEqual([
        [10, 6, 'sold', 'order 1'],
        ['completed', complete],
      ])
      expect(await store.changeStock([update(order, 'complete'), update(order, 'cancel')])).toEqual([
        { type: 'done', order: complete },
        { type: 'order_closed', order: complete },
      ])
      expect(await historyOf(store, 1n)).toHaveLength(1)
    })

    test('several completions of one pet in a commit form one history chain', async () => {
      const orders = [await made(1n, 1), await made(1n, 2), await made(1n, 3)]
      const [one, two, three] = orders as [Order, Order, Order]
      await store.changeStock([change(1n, 20)])
      await store.changeStock([
        update(one, 'complete'),
        change(1n, 30),
        update(three, 'complete'),
        update(two, 'complete'),
      ])
      expect((await historyOf(store, 1n)).map(({ before, after }) => [before, after])).toEqual([
        [10, 20],
        [20, 19],
        [19, 30],
        [30, 27],
        [27, 25],
      ])
    })

    test('cancelling releases the units; the ship date can change while the order is open', async () => {
      const cursor = await store.latestEventCursor()
      const order = await made(1n, 10)
      await store.changeStock([
        update(order, { shipDate: 77 }),
        { ...update(order, 'cancel'), keyId: 'key_b' },
        update(order, 'cancel'),
      ])
      const dated = { ...order, shipDate: 77 }
      expect(await eventsAfter(cursor)).toEqual([
        ['created', order],
        ['changed', dated],
        ['cancelled', { ...dated, state: 'cancelled', closedAt: START, closedBy: 'key_b' }],
      ])
      expect(await store.findOrder(order.id)).toEqual({
        ...dated,
        state: 'cancelled',
        closedAt: START,
        closedBy: 'key_b',
      })
      expect(await reservedOf(1n)).toBe(0)
      expect(await historyOf(store, 1n)).toEqual([])
    })

    test('the quantity can be set below the reserved units, and adjusted down to zero', async () => {
      const order = await made(1n, 8)
      await store.changeStock([change(1n, 3), { type: 'adjust', ...BY, changes: [{ petId: 1n, delta: -3 }] }])
      expect(await other.findAvailability(1n)).toEqual({ petId: 1n, quantity: 0, reserved: 8 })
      expect(await store.changeStock([draft(1n, 1), update(order, 'complete')])).toEqual([
        { type: 'insufficient_stock', petId: 1n, wanted: 1, available: -8 },
        { type: 'insufficient_stock', petId: 1n, wanted: 8, available: 0 },
      ])
    })

    test('a hold expires to the millisecond for every reader, before it is recorded and after', async () => {
      const hold = await made(1n, 10, { holdSeconds: 1 })
      now += 999
      expect(await other.changeStock([draft(1n, 1)])).toMatchObject([
        { type: 'insufficient_stock', available: 0 },
      ])
      expect([await reservedOf(1n), await other.petsWithExpiredHolds(9)]).toEqual([10, []])
      now += 1
      const expired = { ...hold, state: 'expired' as const, closedAt: START + 1_000 }
      expect(await other.findOrder(hold.id)).toEqual(expired)
      expect(await other.findAvailability(1n)).toEqual({ petId: 1n, quantity: 10, reserved: 0 })
      expect([await ids({}, 9), await ids({ state: 'open' }, 9)]).toEqual([[], []])
      expect(await store.listOrders({ state: 'expired' }, 9)).toEqual([expired])
      expect(await store.countOpenOrders()).toEqual({ orders: 0, units: 0 })
      expect(await other.petsWithExpiredHolds(9)).toEqual([1n])
      const cursor = await store.latestEventCursor()
      expect(await other.changeStock([draft(1n, 10)])).toMatchObject([{ order: { quantity: 10 } }])
      expect(await eventsAfter(cursor)).toMatchObject([
        ['expired', expired],
        ['created', { quantity: 10 }],
      ])
      expect(await store.findOrder(hold.id)).toEqual(expired)
      expect(await store.petsWithExpiredHolds(9)).toEqual([])
      expect(other.orderTotals()).toEqual({ refused: 1, expired: 1 })
    })

    test('a sweep expires only the holds of the named pets', async () => {
      for (const petId of [1n, 1n, 2n, HIGHEST]) await made(petId, 1, { holdSeconds: 5 })
      await made(1n, 1, { holdSeconds: 6 })
      await made(1n, 1)
      now += 5_000
      expect(new Set(await store.petsWithExpiredHolds(9))).toEqual(new Set([1n, 2n, HIGHEST]))
      expect(await store.petsWithExpiredHolds(1)).toHaveLength(1)
      expect(await store.changeStock([{ type: 'release_holds', ...BY, petIds: [1n, 2n, 404n] }])).toEqual([
        { type: 'done', expired: 3 },
      ])
      expect(await store.petsWithExpiredHolds(9)).toEqual([HIGHEST])
      expect([await reservedOf(1n), await reservedOf(2n), await reservedOf(HIGHEST)]).toEqual([2, 0, 0])
    })

    test('if more holds have expired than fit in one commit, the next order still finds all units', async () => {
      await store.changeStock([change(1n, 2_500)])
      const many = Array.from({ length: 500 }, () => draft(1n, 1, { holdSeconds: 1 }))
      for (let round = 0; round < 5; round++) await store.changeStock(many)
      expect(await reservedOf(1n)).toBe(2_500)
      now += 1_000
      const cursor = await store.latestEventCursor()
      expect(await other.changeStock([draft(1n, 2_500)])).toMatchObject([{ order: { quantity: 2_500 } }])
      expect(await reservedOf(1n)).toBe(2_500)
      expect(other.orderTotals().expired).toBe(2_500)
      const found = await store.eventsAfter(cursor, 9_999)
      if (typeof found === 'string') throw new Error(found)
      const orders = found.events.map((event) => (event.kind === 'order' ? event.order.id : 0n))
      expect(new Set(orders).size).toBe(2_501)
    })

    test('lists by id, after an id, by state and by pet; open and complete ones by default', async () => {
      const all: Order[] = []
      for (const petId of [1n, 2n, 1n, 2n, 1n, 1n]) all.push(await made(petId, 1))
      const [, two, three, four, five] = all as [Order, Order, Order, Order, Order]
      const updates = [update(two, 'complete'), update(three, 'cancel'), update(five, 'complete')]
      await store.changeStock([...updates, update(four, 'cancel')])
      expect(await ids({}, 9)).toEqual([1n, 2n, 5n, 6n])
      expect(await ids({}, 2)).toEqual([1n, 2n])
      expect(await ids({ after: 2n }, 2)).toEqual([5n, 6n])
      expect(await ids({ after: 6n }, 2)).toEqual([])
      expect(await ids({ state: 'open' }, 9)).toEqual([1n, 6n])
      expect(await ids({ state: 'complete', after: 2n }, 9)).toEqual([5n])
      expect(await ids({ state: 'cancelled' }, 9)).toEqual([3n, 4n])
      expect(await ids({ state: 'expired' }, 9)).toEqual([])
      expect(await ids({ petId: 1n }, 9)).toEqual([1n, 5n, 6n])
      expect(await ids({ petId: 1n, after: 1n }, 1)).toEqual([5n])
      expect(await ids({ petId: 2n, state: 'cancelled' }, 9)).toEqual([4n])
      expect(await ids({ petId: 404n }, 9)).toEqual([])
      expect(await store.countOpenOrders()).toEqual({ orders: 2, units: 2 })
    })

    test('expired holds are listed as expired, in order, whether recorded or not', async () => {
      for (const petId of [1n, 2n, 1n]) await made(petId, 1, { holdSeconds: 1 })
      now += 1_000
      await store.changeStock([{ type: 'release_holds', ...BY, petIds: [2n] }])
      expect(await ids({ state: 'expired' }, 9)).toEqual([1n, 2n, 3n])
      expect(await ids({ state: 'expired', after: 1n }, 1)).toEqual([2n])
      expect(await ids({ state: 'expired', petId: 1n, after: 1n }, 9)).toEqual([3n])
    })

    test('an expired hold was closed when it expired, no matter when that is recorded', async () => {
      const hold = await made(1n, 1, { holdSeconds: 1 })
      now += 9_000
      await store.changeStock([{ type: 'release_holds', ...BY, petIds: [1n] }])
      expect(await other.findOrder(hold.id)).toMatchObject({ state: 'expired', closedAt: START + 1_000 })
    })

    test('customer, note and ship date can change and be cleared; texts are kept exactly', async () => {
      const customer = `Zoë "Z" O'Brien\\, 555 0134, {1} 🐶`
      const note = 'first\r\nsecond, "quoted" \\ {NULL}'
      const order = await made(1n, 1, { customer, note, shipDate: 5 })
      expect(order).toMatchObject({ customer, note, shipDate: 5 })
      expect(await other.findOrder(order.id)).toEqual(order)
      const [changed] = await store.changeStock([update(order, { customer: 'NULL', note: null })])
      expect(changed).toMatchObject({ order: { customer: 'NULL', shipDate: 5 } })
      const { customer: _, note: __, shipDate: ___, ...bare } = order
      const cursor = await store.latestEventCursor()
      await store.changeStock([update(order, { customer: null, shipDate: null })])
      expect(await other.findOrder(order.id)).toEqual(bare)
      expect(await eventsAfter(cursor)).toEqual([['changed', bare]])
      await store.changeStock([update(order, { customer: null })])
      expect(await eventsAfter(cursor)).toHaveLength(1)
      expect(await ids(of('z'), 9)).toEqual([])
    })

    test('orders are found by the start of any word of the customer, in any sequence, by id', async () => {
      const customers = ['Zoë Brown', 'anna smith', 'Smith, Anna', 'ANNABELLE', undefined, 'Joanna', '!?']
      for (const customer of customers) await made(1n, 1, customer === undefined ? {} : { customer })
      const second = await made(2n, 1, { customer: 'Anna Smith' })
      expect(await ids(of('ann'), 9)).toEqual([2n, 3n, 4n, 8n])
      expect(await ids(of('smith a'), 9)).toEqual([2n, 3n, 8n])
      expect(await ids(of('ZOE'), 9)).toEqual([1n])
      expect(await ids(of('rown'), 9)).toEqual([])
      expect(await ids({ ...of('anna'), petId: 2n }, 9)).toEqual([8n])
      expect(await ids({ ...of('ann'), after: 2n }, 2)).toEqual([3n, 4n])
      await store.changeStock([update(second, 'complete')])
      expect(await ids(of('ann'), 9)).toEqual([2n, 3n, 4n, 8n])
      expect(await ids({ ...of('ann'), state: 'complete' }, 9)).toEqual([8n])
      expect(await ids({ ...of('ann'), state: 'open', petId: 1n }, 2)).toEqual([2n, 3n])
    })

    test('orders are found by any part of a telephone number, with or without blanks', async () => {
      await made(1n, 1, { customer: 'Ada, 555 01-34' })
      await made(1n, 1, { customer: 'Bob, 5550134' })
      for (const number of ['5550134', '555 0134', '0134', '(555) 01-34']) {
        expect([number, await ids(of(number), 9)]).toEqual([number, [1n, 2n]])
      }
      expect(await ids(of('bob 555 0134'), 9)).toEqual([2n])
      expect(await ids(of('556'), 9)).toEqual([])
    })

    test('expired holds are found by customer, whether recorded or not', async () => {
      for (const petId of [1n, 2n, 1n]) await made(petId, 1, { holdSeconds: 1, customer: 'Anna' })
      now += 1_000
      await store.changeStock([{ type: 'release_holds', ...BY, petIds: [2n] }])
      expect(await ids(of('anna'), 9)).toEqual([])
      expect(await ids({ ...of('anna'), state: 'expired' }, 9)).toEqual([1n, 2n, 3n])
      expect(await ids({ ...of('anna'), state: 'expired', petId: 1n }, 9)).toEqual([1n, 3n])
    })

    test('a batch of orders is created as a whole or not at all, and counts orders of the same pet together', async () => {
      const batch = (...drafts: [petId: bigint, quantity: number][]) => ({
        type: 'create_orders' as const,
        ...BY,
        orders: drafts.map(([petId, quantity]) => ({ petId, quantity })),
      })
      await made(2n, 5, { holdSeconds: 1 })
      now += 1_000
      const cursor = await store.latestEventCursor()
      const refused = batch([1n, 6], [1n, 5], [404n, 1], [1n, 4], [2n, 6])
      const outcomes = await store.changeStock([refused, batch([1n, 6], [2n, 5], [1n, 4])])
      expect(outcomes).toMatchObject([
        {
          type: 'refused',
          failures: [
            { index: 1, petId: 1n, code: 'insufficient_stock', available: 4 },
            { index: 2, petId: 404n, code: 'not_found' },
            { index: 4, petId: 2n, code: 'insufficient_stock', available: 5 },
          ],
        },
        {
          type: 'done',
          orders: [
            { id: 2n, quantity: 6 },
            { id: 3n, petId: 2n },
            { id: 4n, quantity: 4 },
          ],
        },
      ])
      expect([await reservedOf(1n), await reservedOf(2n)]).toEqual([10, 5])
      expect((await eventsAfter(cursor)).map((event) => (Array.isArray(event) ? event[0] : event))).toEqual([
        ...['expired', 'created', 'created', 'created'],
      ])
      expect(store.orderTotals()).toEqual({ refused: 2, expired: 1 })
    })

    test('of batches that want the last unit at once, exactly one is created', async () => {
      const batch = (first: bigint, second: bigint) => ({
        type: 'create_orders' as const,
        ...BY,
        orders: [
          { petId: first, quantity: 1 },
          { petId: second, quantity: 1 },
        ],
      })
      await store.changeStock([change(1n, 1)])
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          index % 2 === 0 ? store.changeStock([batch(1n, 2n)]) : other.changeStock([batch(2n, 1n)]),
        ),
      )
      expect(outcomes.flat().filter(({ type }) => type === 'done')).toHaveLength(1)
      expect([await reservedOf(1n), await reservedOf(2n)]).toEqual([1, 1])
    })

    test('ids continue after imported ones that leave room in a double, and never collide', async () => {
      const imported = (id: bigint) => ({ id, petId: 1n, quantity: 1, complete: true })
      await addOrders(store, [
        imported(HIGHEST),
        imported(-4n),
        imported(2n ** 53n - 1n),
        imported(2n ** 52n + 2n),
      ])
      expect((await made(1n, 1)).id).toBe(1n)
      await addOrders(store, [imported(7n), imported(3n)])
      expect((await made(1n, 1, {}, other)).id).toBe(8n)
      await addOrders(store, [imported(2n ** 52n)])
      const found = [(await made(1n, 1)).id, (await made(1n, 1, {}, other)).id]
      expect(found).toEqual([2n ** 52n + 1n, 2n ** 52n + 3n])
      expect(await ids({ after: HIGHEST }, 9)).toEqual([])
    })

    test('a pet with open orders is not removed; once they are closed it is, and they stay', async () => {
      const order = await made(1n, 1)
      expect(await removePet(other, 1n)).toBe('in_use')
      expect(await store.findAvailability(1n)).toMatchObject({ quantity: 10, reserved: 1 })
      await store.changeStock([update(order, 'complete')])
      expect(await removePet(other, 1n)).toBe('removed')
      expect(await store.findOrder(order.id)).toMatchObject({ state: 'complete' })
      expect(await store.changeStock([update(order, 'complete')])).toMatchObject([
        { order: { state: 'complete' } },
      ])
      expect(await historyOf(store, 1n)).toMatchObject([
        { before: 10, after: 9 },
        { before: 9, after: 0 },
      ])
    })

    test('orders do not make followers of the list read again', async () => {
      const cursor = await store.loadStock(() => {})
      const order = await made(1n, 1)
      await made(2n, 1, { holdSeconds: 1 })
      expect(await store.stockChangesSince(cursor)).toMatchObject({ updated: [], removed: [] })
      await store.changeStock([update(order, 'complete')])
      expect(await store.stockChangesSince(cursor)).toMatchObject({ updated: [{ petId: 1n, quantity: 9 }] })
    })

    test('concurrent orders on two connections never get more than the stock', async () => {
      const sent = Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? store : other).changeStock([draft(1n, 1), draft(2n, 1)]),
      )
      const outcomes = (await Promise.all(sent)).flat()
      expect(outcomes.filter((outcome) => typeof outcome === 'object' && 'order' in outcome)).toHaveLength(15)
      expect([await reservedOf(1n), await reservedOf(2n)]).toEqual([10, 5])
    })
  })
}
