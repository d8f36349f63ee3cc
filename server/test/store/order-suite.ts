import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type NewOrder, ORDER_STATES, type Order } from '../../src/core/orders/order.ts'
import { customerSearch } from '../../src/core/orders/order-list.ts'
import type { Command } from '../../src/core/stock/command.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { exportedRows } from '../support/exported-rows.ts'
import {
  addOrders,
  createOrder,
  createOrderWith,
  linesOf,
  orderCommand,
  orderIn,
  patchOrder,
  releaseHolds,
  type Units,
} from '../support/orders.ts'
import { removePet } from '../support/remove-pet.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { change, pet } from './plain-rows.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const START = 1_790_000_000_000
const HIGHEST = 9223372036854775807n
const BY = { keyId: 'key_a', at: 1 }
const PERSON = { customer: 'Anna Smith, 555 0134', note: 'gift for Ben' }
const of = (customer: string) => ({ customer: customerSearch(customer) })
const complete = (order: Order, fields = {}) => orderCommand('complete_order', order, fields)
const cancel = (order: Order) => orderCommand('cancel_order', order)
const rearrange = (order: Order, ...units: Units[]) =>
  orderCommand('change_order', order, { lines: linesOf(units) })
const insufficient = (index: number, petId: bigint, available: number) => ({
  index,
  petId,
  code: 'insufficient_stock',
  available,
})

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

    const create = (...units: Units[]) => run(createOrder(...units))
    const createWith = (fields: Partial<NewOrder>, ...units: Units[]) =>
      run(createOrderWith(fields, ...units))
    const run = async (command: Command, by = store) => orderIn((await by.changeStock([command]))[0])
    const ids = async (...request: Parameters<Store['listOrders']>) =>
      (await store.listOrders(...request)).map(({ id }) => id)
    const reservedOf = (...petIds: bigint[]) =>
      Promise.all(petIds.map(async (petId) => (await other.findAvailability(petId))?.reserved))
    /** How often the commands were decided, or their holds looked at. */
    const attempts = async (commands: readonly Command[]) => {
      let count = 0
      const results = await store.changeStock(commands, { onLocked: () => count++ })
      expect(results.map(({ type }) => type)).toEqual(commands.map(() => 'done'))
      return count
    }
    const quantitiesOf = async () => (await stockOf(other)).map(({ quantity }) => quantity)
    async function eventsAfter(cursor: string): Promise<unknown[]> {
      const found = await other.eventsAfter(cursor, 9_999)
      if (typeof found === 'string') throw new Error(found)
      return found.events.map((event) => {
        if (event.kind === 'order') return [event.change, event.orderId, event.state]
        return event.kind === 'change' ? [event.petId, event.before, event.after, event.reason] : event.kind
      })
    }
    const saleOf = async ({ adjustmentId = 0n }: Order) => {
      const sale = await other.findAdjustment(adjustmentId)
      if (sale === undefined) throw new Error('the order has no adjustment')
      return sale
    }

    test('a new order has its lines by pet, is visible to everybody, and reserves its units', async () => {
      const details = { ...PERSON, shipDate: START + 5, reference: 'cart 8', metadata: '{"shop":"7"}' }
      const order = await createWith({ ...details, holdSeconds: 60 }, [HIGHEST, 2], [1n, 4])
      expect(order).toEqual({
        ...details,
        id: 1n,
        lines: [
          { petId: 1n, quantity: 4, returned: 0 },
          { petId: HIGHEST, quantity: 2, returned: 0 },
        ],
        state: 'open',
        createdAt: START,
        expiresAt: START + 60_000,
        createdBy: 'key_a',
      })
      expect(await other.findOrder(1n)).toEqual(order)
      expect(await other.findOrder(2n)).toBeUndefined()
      expect(await other.findAvailability(HIGHEST)).toEqual({ petId: HIGHEST, quantity: 3, reserved: 2 })
      expect(await other.findAvailability(404n)).toBeUndefined()
      expect([await quantitiesOf(), await reservedOf(1n, 2n)]).toEqual([
        [10, 5, 3],
        [4, 0],
      ])
      expect(await store.countOpenOrders()).toEqual({ orders: 1, units: 6 })
      expect(await create([2n, 1])).toMatchObject({ id: 2n, lines: [{ petId: 2n, quantity: 1 }] })
    })

    test('the availability of many pets is that of each, without pets that do not exist', async () => {
      await createWith({ holdSeconds: 60 }, [HIGHEST, 2], [1n, 4])
      await createWith({ holdSeconds: 61 }, [1n, 3], [HIGHEST, 1])
      now += 60_000
      const listed = await other.listAvailability([HIGHEST, 404n, 2n, 1n])
      expect(listed).toEqual([
        { petId: 1n, quantity: 10, reserved: 3 },
        { petId: 2n, quantity: 5, reserved: 0 },
        { petId: HIGHEST, quantity: 3, reserved: 1 },
      ])
      expect(await Promise.all(listed.map(({ petId }) => other.findAvailability(petId)))).toEqual(listed)
      expect(await store.countOpenOrders()).toEqual({ orders: 1, units: 4 })
    })

    test('all lines are reserved or none, and a refusal names each line that fails; others in the commit succeed', async () => {
      const outcomes = await store.changeStock([
        createOrder([1n, 6]),
        createOrder([2n, 6], [404n, 1], [HIGHEST, 1], [1n, 5]),
        createOrder([1n, 4], [2n, 5]),
        change(2n, 7),
        createOrder([2n, 2]),
      ])
      expect(outcomes).toMatchObject([
        { order: { id: 1n } },
        {
          type: 'refused',
          failures: [
            insufficient(0, 2n, 5),
            { index: 1, petId: 404n, code: 'not_found' },
            insufficient(3, 1n, 4),
          ],
        },
        { order: { id: 2n } },
        { items: [{ petId: 2n, quantity: 7 }] },
        { order: { id: 3n } },
      ])
      expect(await reservedOf(1n, 2n, HIGHEST)).toEqual([10, 7, 0])
      expect(store.orderTotals()).toEqual({ refused: 1, expired: 0 })
      expect(other.orderTotals()).toEqual({ refused: 0, expired: 0 })
    })

    test('completing takes all lines in one adjustment, with the events of its pets before that of the order', async () => {
      const order = await createWith(PERSON, [2n, 1], [1n, 4])
      const cursor = await store.latestEventCursor()
      const sold = await run({ ...complete(order), at: 9, keyId: 'key_b' })
      const { adjustmentId } = sold
      expect(sold).toEqual({
        ...order,
        state: 'complete',
        closedAt: START,
        closedBy: 'key_b',
        adjustmentId: expect.any(BigInt),
      })
      expect(await other.findOrder(order.id)).toEqual(sold)
      expect([await quantitiesOf(), await reservedOf(1n, 2n)]).toEqual([
        [6, 4, 3],
        [0, 0],
      ])
      expect(await saleOf(sold)).toMatchObject({
        id: adjustmentId,
        reason: 'sold',
        reference: 'order 1',
        keyId: 'key_b',
        orderId: 1n,
        recordedAt: 9,
        lines: [
          { petId: 1n, before: 10, after: 6 },
          { petId: 2n, before: 5, after: 4 },
        ],
      })
      expect(await eventsAfter(cursor)).toEqual([
        [1n, 10, 6, 'sold'],
        [2n, 5, 4, 'sold'],
        ['completed', 1n, 'complete'],
      ])
      expect(
        await store.changeStock([complete(order), complete(order, { onlyIfOpen: true }), cancel(order)]),
      ).toEqual([
        { type: 'done', order: sold },
        { type: 'order_closed', order: sold },
        { type: 'order_closed', order: sold },
      ])
      expect(await eventsAfter(cursor)).toHaveLength(3)
    })

    test('an order is completed with all lines or none', async () => {
      const order = await create([1n, 4], [2n, 5])
      await store.changeStock([change(2n, 4)])
      const failures = [insufficient(1, 2n, 4)]
      expect(await other.changeStock([complete(order)])).toMatchObject([{ type: 'refused', failures }])
      expect([await quantitiesOf(), await reservedOf(1n, 2n)]).toEqual([
        [10, 4, 3],
        [4, 5],
      ])
    })

    test('a sale at once takes only units that nobody reserves, unless they have already left', async () => {
      const reserved = await create([2n, 4])
      const cursor = await store.latestEventCursor()
      const sale = { ...createOrderWith({ reference: 'till 7' }, [2n, 2], [1n, 1]), complete: true }
      expect(await store.changeStock([sale])).toMatchObject([
        { type: 'refused', failures: [insufficient(0, 2n, 1)] },
      ])
      const sold = await run({ ...sale, evenIfReserved: true })
      expect(sold).toMatchObject({ state: 'complete', closedAt: START, closedBy: 'key_a' })
      expect(await other.findOrder(sold.id)).toEqual(sold)
      expect(await saleOf(sold)).toMatchObject({ reason: 'sold', reference: 'till 7', orderId: sold.id })
      expect(await eventsAfter(cursor)).toEqual([
        [1n, 10, 9, 'sold'],
        [2n, 5, 3, 'sold'],
        ['completed', sold.id, 'complete'],
      ])
      expect([await quantitiesOf(), await reservedOf(1n, 2n)]).toEqual([
        [9, 3, 3],
        [0, 4],
      ])
      const failures = [insufficient(0, 2n, 3)]
      expect(await store.changeStock([complete(reserved)])).toMatchObject([{ type: 'refused', failures }])
      const more = { ...{ ...createOrder([2n, 4]), complete: true }, evenIfReserved: true }
      expect(await store.changeStock([more])).toMatchObject([{ type: 'refused', failures }])
    })

    test('goods that left before the latest count change no quantity, and are too late after 30 days', async () => {
      const day = 86_400_000
      const at = START
      const order = await create([1n, 2], [2n, 1])
      await store.changeStock([change(1n, 8, { at })])
      const sold = await run(complete(order, { occurredAt: at - 60_000, at }))
      const lines = [
        { petId: 1n, before: 8, after: 8, delta: -2, effect: 'already_counted' },
        { petId: 2n, before: 5, after: 4, delta: -1, effect: 'applied' },
      ]
      expect(await saleOf(sold)).toMatchObject({ occurredAt: at - 60_000, recordedAt: at, lines })
      expect([await quantitiesOf(), await reservedOf(1n, 2n)]).toEqual([
        [8, 4, 3],
        [0, 0],
      ])
      // More than is left, but the count has seen it.
      const sale = { ...createOrder([1n, 9]), complete: true, occurredAt: at - 1, at }
      expect(await saleOf(await run(sale))).toMatchObject({
        lines: [{ after: 8, effect: 'already_counted' }],
      })
      const late = { occurredAt: at - 30 * day - 1, at }
      const open = await create([1n, 1])
      expect(
        await store.changeStock([{ ...createOrder([1n, 1]), complete: true, ...late }, complete(open, late)]),
      ).toMatchObject([{ type: 'too_late' }, { type: 'too_late' }])
      expect(await reservedOf(1n)).toEqual([1])
    })

    test('returned units are those that reversals of the sale have taken back, by line', async () => {
      const order = await run(complete(await create([1n, 4], [2n, 2])))
      const takeBack = async (lines: { petId: bigint; quantity: number }[], by: Store) =>
        by.changeStock([
          { type: 'reverse', ...BY, adjustment: await saleOf(order), reason: 'returned', lines },
        ])
      await takeBack([{ petId: 1n, quantity: 1 }], store)
      await takeBack(
        [
          { petId: 1n, quantity: 2 },
          { petId: 2n, quantity: 2 },
        ],
        other,
      )
      const lines = [
        { petId: 1n, quantity: 4, returned: 3 },
        { petId: 2n, quantity: 2, returned: 2 },
      ]
      const { lines: sentLines, ...rest } = order
      expect(sentLines.map(({ returned }) => returned)).toEqual([0, 0])
      expect(await other.findOrder(order.id)).toEqual({ ...rest, lines })
      expect(await store.listOrders({}, 9)).toEqual([{ ...rest, lines }])
      expect(await takeBack([{ petId: 2n, quantity: 1 }], store)).toMatchObject([
        { type: 'refused', failures: [{ code: 'already_reversed' }] },
      ])
      expect(await quantitiesOf()).toEqual([9, 5, 3])
    })

    test('several completions of one pet in a commit form one history chain', async () => {
      const [one, two, three] = [await create([1n, 1]), await create([1n, 2]), await create([1n, 3])]
      await store.changeStock([change(1n, 20)])
      await store.changeStock([complete(one), change(1n, 30), complete(three), complete(two)])
      expect((await historyOf(store, 1n)).map(({ before, after }) => [before, after])).toEqual([
        [10, 20],
        [20, 19],
        [19, 30],
        [30, 27],
        [27, 25],
      ])
    })

    test('cancelling releases all lines, once', async () => {
      const order = await create([1n, 10], [2n, 1])
      const cursor = await store.latestEventCursor()
      const cancelled = await run({ ...cancel(order), keyId: 'key_b' })
      expect(cancelled).toEqual({ ...order, state: 'cancelled', closedAt: START, closedBy: 'key_b' })
      expect(await run(cancel(order), other)).toEqual(cancelled)
      expect(await eventsAfter(cursor)).toEqual([['cancelled', 1n, 'cancelled']])
      expect([await quantitiesOf(), await reservedOf(1n, 2n)]).toEqual([
        [10, 5, 3],
        [0, 0],
      ])
    })

    test('the quantity can be set below the reserved units, and adjusted down to zero', async () => {
      const order = await create([1n, 8])
      await store.changeStock([change(1n, 3), { type: 'adjust', ...BY, changes: [{ petId: 1n, delta: -3 }] }])
      expect(await other.findAvailability(1n)).toEqual({ petId: 1n, quantity: 0, reserved: 8 })
      expect(await store.changeStock([createOrder([1n, 1]), complete(order)])).toMatchObject([
        { failures: [insufficient(0, 1n, -8)] },
        { failures: [insufficient(0, 1n, 0)] },
      ])
    })

    test('lines of an open order are replaced as a whole, and only additional units must be available', async () => {
      const order = await create([1n, 6], [2n, 5])
      await create([HIGHEST, 2])
      const cursor = await store.latestEventCursor()
      expect(await store.changeStock([rearrange(order, [HIGHEST, 2], [2n, 1], [1n, 11])])).toMatchObject([
        { type: 'refused', failures: [insufficient(0, HIGHEST, 1), insufficient(2, 1n, 4)] },
      ])
      expect(await reservedOf(1n, 2n, HIGHEST)).toEqual([6, 5, 2])
      const changed = await run(rearrange(order, [HIGHEST, 1], [1n, 10]), other)
      expect(changed.lines).toEqual([
        { petId: 1n, quantity: 10, returned: 0 },
        { petId: HIGHEST, quantity: 1, returned: 0 },
      ])
      expect(await store.findOrder(order.id)).toEqual(changed)
      expect(await reservedOf(1n, 2n, HIGHEST)).toEqual([10, 0, 3])
      expect(await run(rearrange(changed, [1n, 10], [HIGHEST, 1]))).toEqual(changed)
      expect(await eventsAfter(cursor)).toEqual([['changed', 1n, 'open']])
      expect(await ids({ petId: 2n }, 9)).toEqual([])
      await store.changeStock([complete(changed)])
      expect(await store.changeStock([rearrange(changed, [1n, 1])])).toMatchObject([{ type: 'order_closed' }])
    })

    test('a command about an order whose lines were replaced since it was read has the new lines', async () => {
      const replaced = async () => {
        const read = await create([1n, 1])
        await other.changeStock([rearrange(read, [2n, 1], [HIGHEST, 1])])
        return read
      }
      expect(await run(complete(await replaced()))).toMatchObject({
        state: 'complete',
        lines: [{ petId: 2n }, {}],
      })
      expect([await quantitiesOf(), await reservedOf(1n, 2n, HIGHEST)]).toEqual([
        [10, 4, 2],
        [0, 0, 0],
      ])
      expect(await run(cancel(await replaced()))).toMatchObject({ state: 'cancelled' })
      expect(await run(rearrange(await replaced(), [1n, 10], [2n, 4]))).toMatchObject({
        lines: [{}, { quantity: 4 }],
      })
      expect(await reservedOf(1n, 2n, HIGHEST)).toEqual([10, 4, 0])
    })

    test('a hold expires to the millisecond for every reader, before it is recorded and after', async () => {
      const hold = await createWith({ holdSeconds: 1 }, [1n, 10], [2n, 5])
      now += 999
      expect(await other.changeStock([createOrder([1n, 1])])).toMatchObject([
        { failures: [insufficient(0, 1n, 0)] },
      ])
      expect([await reservedOf(1n), await other.expiredHolds(9)]).toEqual([[10], []])
      now += 1
      const expired = { ...hold, state: 'expired' as const, closedAt: START + 1_000 }
      expect(await other.findOrder(hold.id)).toEqual(expired)
      expect(await reservedOf(1n, 2n)).toEqual([0, 0])
      expect([await ids({}, 9), await ids({ state: 'open' }, 9)]).toEqual([[], []])
      expect(await exportedRows(store, 'orders')).toEqual([])
      expect(await store.listOrders({ state: 'expired' }, 9)).toEqual([expired])
      expect(await store.countOpenOrders()).toEqual({ orders: 0, units: 0 })
      expect(await other.expiredHolds(9)).toEqual([{ orderId: hold.id, petIds: [1n, 2n] }])
      const cursor = await store.latestEventCursor()
      // This commit meets only one of the pets of the hold.
      expect(await other.changeStock([createOrder([2n, 5])])).toMatchObject([{ type: 'done' }])
      expect(await eventsAfter(cursor)).toEqual([
        ['expired', 1n, 'expired'],
        ['created', expect.any(BigInt), 'open'],
      ])
      expect(await store.findOrder(hold.id)).toEqual(expired)
      expect([await store.expiredHolds(9), await reservedOf(1n, 2n)]).toEqual([[], [0, 5]])
      expect(other.orderTotals()).toEqual({ refused: 1, expired: 1 })
    })

    test.each<[string, (hold: Order) => Command, object]>([
      ['completed', complete, { type: 'order_closed', order: { state: 'expired' } }],
      ['changed', (hold) => patchOrder(hold, { note: 'late' }), { type: 'order_closed' }],
    ])('an expired hold that is %s stays expired', async (_, command, outcome) => {
      const hold = await createWith({ holdSeconds: 1 }, [1n, 1], [2n, 1])
      now += 1_000
      expect(await store.changeStock([command(hold)])).toMatchObject([outcome])
      expect(await other.findOrder(hold.id)).toMatchObject({ state: 'expired', closedAt: START + 1_000 })
      expect([await quantitiesOf(), await reservedOf(1n, 2n)]).toEqual([
        [10, 5, 3],
        [0, 0],
      ])
    })

    test('an expired hold can be cancelled, and then no late payment completes it', async () => {
      const hold = await createWith({ holdSeconds: 1 }, [1n, 1], [2n, 1])
      now += 5_000
      expect(await run(cancel(hold), other)).toMatchObject({ state: 'cancelled', closedAt: now })
      expect(await store.changeStock([complete(hold, { evenIfExpired: true })])).toMatchObject([
        { type: 'order_closed', order: { state: 'cancelled' } },
      ])
      expect([await quantitiesOf(), await reservedOf(1n, 2n)]).toEqual([
        [10, 5, 3],
        [0, 0],
      ])
    })

    test('a late payment is honoured if all units are still available', async () => {
      const holds = [
        await createWith({ holdSeconds: 1 }, [1n, 6], [2n, 3]),
        await createWith({ holdSeconds: 1 }, [1n, 3]),
      ]
      const [first, second] = holds as [Order, Order]
      now += 5_000
      const late = { evenIfExpired: true }
      const sold = await run(complete(first, late), other)
      expect(sold).toMatchObject({ state: 'complete', closedAt: now, adjustmentId: expect.any(BigInt) })
      expect(await store.findOrder(first.id)).toEqual(sold)
      expect(await quantitiesOf()).toEqual([4, 2, 3])
      await create([1n, 2])
      expect(await store.changeStock([complete(second, { ...late, onlyIfOpen: true })])).toMatchObject([
        { type: 'refused', failures: [insufficient(0, 1n, 2)] },
      ])
      const cancelled = await run(cancel(await create([1n, 1])))
      expect(await store.changeStock([complete(cancelled, late)])).toMatchObject([{ type: 'order_closed' }])
      expect([await quantitiesOf(), await reservedOf(1n, 2n)]).toEqual([
        [4, 2, 3],
        [2, 0],
      ])
    })

    test('an import releases expired holds of its pets, and replaces lines of other pets', async () => {
      const hold = await createWith({ holdSeconds: 1 }, [1n, 10], [2n, 5])
      now += 1_000
      await addOrders(store, [{ id: 50n, petId: 2n, quantity: 5, complete: false }])
      expect(await reservedOf(1n, 2n)).toEqual([0, 5])
      expect(await other.expiredHolds(9)).toEqual([])
      expect(await other.findOrder(hold.id)).toMatchObject({ state: 'expired', closedAt: now })
      await addOrders(store, [{ id: 50n, petId: 1n, quantity: 3, complete: false }])
      expect(await reservedOf(1n, 2n)).toEqual([3, 0])
    })

    test('a hold is restarted from now, or made firm, and then does not expire at its first time', async () => {
      const restarted = await createWith({ holdSeconds: 10 }, [1n, 1], [2n, 1])
      const firm = await createWith({ holdSeconds: 10 }, [2n, 1])
      now += 9_000
      const holdFor = (order: Order, holdSeconds: number | null) =>
        run(orderCommand('change_order', order, { holdSeconds }))
      expect(await holdFor(restarted, 10)).toEqual({ ...restarted, expiresAt: now + 10_000 })
      const { expiresAt: _, ...withoutEnd } = firm
      expect(await holdFor(firm, null)).toEqual(withoutEnd)
      const [stale] = [{ type: 'release_holds', ...BY, orderIds: [1n, 2n], petIds: [1n, 2n] } as const]
      now += 9_999
      expect([await other.expiredHolds(9), await reservedOf(1n, 2n)]).toEqual([[], [1, 2]])
      await store.changeStock([stale])
      now += 1
      expect(await other.expiredHolds(9)).toMatchObject([{ orderId: restarted.id }])
      await store.changeStock([stale])
      expect(await reservedOf(1n, 2n)).toEqual([0, 1])
      const late = await holdFor(await create([1n, 1]), 1)
      expect(late.expiresAt).toBe(now + 1_000)
      expect(
        await store.changeStock([orderCommand('change_order', restarted, { holdSeconds: 9 })]),
      ).toMatchObject([{ type: 'order_closed' }])
    })

    test('a sweep releases only the named holds', async () => {
      for (const [index, petId] of [1n, 1n, 2n, HIGHEST].entries())
        await createWith({ holdSeconds: index + 1 }, [petId, 1])
      await createWith({ holdSeconds: 60 }, [1n, 1])
      await create([1n, 1])
      now += 9_000
      // The oldest come first.
      expect((await store.expiredHolds(3)).map(({ orderId }) => orderId)).toEqual([1n, 2n, 3n])
      await store.changeStock([await releaseHolds(store, 3)])
      expect(await store.expiredHolds(9)).toEqual([{ orderId: 4n, petIds: [HIGHEST] }])
      expect(await reservedOf(1n, 2n, HIGHEST)).toEqual([2, 0, 0])
      expect(store.orderTotals()).toEqual({ refused: 0, expired: 3 })
    })

    test('an order is decided after one release, however many holds of its pets have expired', async () => {
      await store.changeStock([change(1n, 100), change(2n, 100)])
      const pets = Array.from({ length: 100 }, (_, index) => (index % 2 === 0 ? 1n : 2n))
      await store.changeStock(pets.map((petId) => createOrderWith({ holdSeconds: 1 }, [petId, 1])))
      now += 1_000
      expect(await attempts([createOrder([1n, 100], [2n, 100])])).toBeLessThanOrEqual(2)
    })

    test('an order does not wait for the releases of other pets that are in its commit', async () => {
      for (const petId of [1n, 1n, 2n]) await createWith({ holdSeconds: 1 }, [petId, 1])
      now += 1_000
      expect(await attempts([await releaseHolds(store), createOrder([HIGHEST, 3])])).toBe(1)
      expect(await reservedOf(1n, 2n, HIGHEST)).toEqual([0, 0, 3])
    })

    test('if more holds have expired than fit in one commit, the next order still finds all units', async () => {
      await store.changeStock([change(1n, 250)])
      const many = Array.from({ length: 250 }, () => createOrderWith({ holdSeconds: 1 }, [1n, 1], [2n, 0]))
      await store.changeStock(many)
      now += 1_000
      const cursor = await store.latestEventCursor()
      expect(await other.changeStock([createOrder([1n, 250])])).toMatchObject([{ type: 'done' }])
      expect(other.orderTotals().expired).toBe(250)
      expect(new Set((await eventsAfter(cursor)).map(String)).size).toBe(251)
    })

    test('lists by id, after an id, by state and by pet; open and complete ones by default', async () => {
      const all: Order[] = []
      for (const petId of [1n, 2n, 1n, 2n, 1n, 1n]) all.push(await create([petId, 1], [HIGHEST, 0]))
      const [, two, three, four, five] = all as [Order, Order, Order, Order, Order]
      await store.changeStock([complete(two), cancel(three), complete(five), cancel(four)])
      expect(await ids({}, 9)).toEqual([1n, 2n, 5n, 6n])
      expect(await ids({}, 2)).toEqual([1n, 2n])
      expect(await ids({ after: 2n }, 2)).toEqual([5n, 6n])
      expect(await ids({ after: 6n }, 2)).toEqual([])
      expect(await ids({ state: 'open' }, 9)).toEqual([1n, 6n])
      expect(await ids({ state: 'complete', after: 2n }, 9)).toEqual([5n])
      expect(await ids({ state: 'cancelled' }, 9)).toEqual([3n, 4n])
      expect(await ids({ state: 'expired' }, 9)).toEqual([])
      expect(await ids({ petId: 1n }, 9)).toEqual([1n, 5n, 6n])
      expect(await ids({ petId: HIGHEST }, 9)).toEqual([1n, 2n, 5n, 6n])
      expect(await ids({ petId: 1n, after: 1n }, 1)).toEqual([5n])
      expect(await ids({ petId: 2n, state: 'cancelled' }, 9)).toEqual([4n])
      expect(await ids({ petId: 404n }, 9)).toEqual([])
      expect(await store.countOpenOrders()).toEqual({ orders: 2, units: 2 })
    })

    test('lists by exact reference and by the time of creation, with each other filter', async () => {
      const references = ['cart 1', 'cart 1', 'Cart 1', 'cart 12', undefined]
      for (const reference of references) {
        await createWith(
          { customer: 'Anna', ...(reference === undefined ? {} : { reference }) },
          [1n, 1],
          [2n, 1],
        )
        now += 10
      }
      const reference = 'cart 1'
      expect(await ids({ reference }, 9)).toEqual([1n, 2n])
      expect(await ids({ reference, after: 1n }, 9)).toEqual([2n])
      expect(await ids({ since: START + 10, until: START + 30 }, 9)).toEqual([2n, 3n])
      expect(await ids({ reference, since: START + 1 }, 9)).toEqual([2n])
      expect(await ids({ reference, ...of('anna'), petId: 2n, state: 'open' }, 1)).toEqual([1n])
      expect(await ids({ reference, petId: HIGHEST }, 9)).toEqual([])
      expect(await ids({ ...of('anna'), until: START + 10 }, 9)).toEqual([1n])
      expect(await ids({ petId: 1n, since: START + 40 }, 9)).toEqual([5n])
    })

    test('expired holds are listed as expired, in order, with each filter, whether recorded or not', async () => {
      for (const petId of [1n, 2n, 1n]) {
        await createWith({ holdSeconds: 1, customer: 'Anna', reference: 'cart' }, [petId, 1])
      }
      now += 1_000
      await store.changeStock([{ type: 'release_holds', ...BY, orderIds: [2n], petIds: [2n] }])
      const state = 'expired' as const
      expect(await ids({ state }, 9)).toEqual([1n, 2n, 3n])
      expect(await ids({ state, after: 1n }, 1)).toEqual([2n])
      expect(await ids({ state, petId: 1n, after: 1n }, 9)).toEqual([3n])
      expect(await ids({ state, ...of('anna') }, 9)).toEqual([1n, 2n, 3n])
      expect(await ids({ state, ...of('anna'), petId: 1n, reference: 'cart', until: now }, 9)).toEqual([
        1n,
        3n,
      ])
      expect(await ids({ state, since: START + 1 }, 9)).toEqual([])
      expect(await ids({ ...of('anna') }, 9)).toEqual([])
    })

    test('an expired hold was closed when it expired, no matter when that is recorded', async () => {
      const hold = await createWith({ holdSeconds: 1 }, [1n, 1])
      now += 9_000
      await store.changeStock([await releaseHolds(store)])
      expect(await other.findOrder(hold.id)).toMatchObject({ state: 'expired', closedAt: START + 1_000 })
    })

    test('details can change and be cleared while the order is open; texts are kept exactly', async () => {
      const texts = {
        customer: `Zoë "Z" O'Brien\\, 555 0134, {1} 🐶`,
        note: 'first\r\nsecond, "quoted" \\ {NULL}',
        reference: '{NULL}, "x"',
        metadata: '{"a":"b, \\"c\\""}',
      }
      const order = await createWith({ ...texts, shipDate: 5 }, [1n, 1], [2n, 1])
      expect(order).toMatchObject(texts)
      expect(await other.findOrder(order.id)).toEqual(order)
      const changed = await run(
        patchOrder(order, { customer: 'NULL', reference: 'R', note: null, metadata: null }),
      )
      expect(changed).toMatchObject({ customer: 'NULL', reference: 'R', shipDate: 5 })
      const { customer: _, note: __, shipDate: ___, reference: ____, metadata: _____, ...bare } = order
      const cursor = await store.latestEventCursor()
      const cleared = patchOrder(order, { customer: null, shipDate: null, reference: null })
      await store.changeStock([cleared])
      expect(await other.findOrder(order.id)).toEqual(bare)
      expect([await ids(of('z'), 9), await ids({ reference: 'R' }, 9)]).toEqual([[], []])
      await store.changeStock([cleared])
      expect(await eventsAfter(cursor)).toEqual([['changed', 1n, 'open']])
      await store.changeStock([cancel(order)])
      expect(await store.changeStock([patchOrder(order, { shipDate: 9 })])).toMatchObject([
        { type: 'order_closed' },
      ])
    })

    test('a person is erased in every state, and stands in no row but that of the order', async () => {
      const create4 = () => createWith({ ...PERSON, holdSeconds: 60 }, [1n, 1], [2n, 1])
      const orders = [await create4(), await create4(), await create4(), await create4()]
      const [, sold, cancelled, expired] = orders as [Order, Order, Order, Order]
      await store.changeStock([complete(sold), cancel(cancelled), rearrange(expired, [2n, 1])])
      now += 59_000
      await store.changeStock([orderCommand('change_order', orders[0] as Order, { holdSeconds: 60 })])
      now += 1_000
      await store.changeStock([await releaseHolds(store)])
      expect((await Promise.all(ORDER_STATES.map((state) => ids({ state }, 9)))).flat()).toEqual([
        1n,
        2n,
        3n,
        4n,
      ])
      const closedBefore = START + 1
      expect((await store.personalOrders(closedBefore, 9)).map(({ orderId }) => orderId)).toEqual([2n, 3n])
      for (const order of orders) {
        const { customer: _, ...withNote } = (await store.findOrder(order.id)) as Order
        expect(await run(patchOrder(order, { customer: null }))).toEqual(withNote)
        const isFound = (await store.personalOrders(now + 1, 9)).some(({ orderId }) => orderId === order.id)
        expect(isFound).toBe(withNote.closedAt !== undefined)
        const { note: __, ...anonymous } = withNote
        expect(await run(patchOrder(order, { note: null }), other)).toEqual(anonymous)
        expect(await store.findOrder(order.id)).toEqual(anonymous)
      }
      expect(await store.personalOrders(now, 9)).toEqual([])
      const connection = await underTest.connect()
      const rows = await connection.rows<object>(
        `SELECT detail AS text FROM log UNION ALL SELECT reference FROM log UNION ALL SELECT customer_words FROM orders
          UNION ALL SELECT customer FROM orders UNION ALL SELECT note FROM orders`,
      )
      await connection.close()
      expect(Bun.inspect(rows)).not.toMatch(/anna|smith|555|gift|ben/i)
    })

    test('orders are found by the start of any word of the customer, in any sequence, by id', async () => {
      const customers = ['Zoë Brown', 'anna smith', 'Smith, Anna', 'ANNABELLE', undefined, 'Joanna', '!?']
      for (const customer of customers) await createWith(customer === undefined ? {} : { customer }, [1n, 1])
      const second = await createWith({ customer: 'Anna Smith' }, [2n, 1])
      expect(await ids(of('ann'), 9)).toEqual([2n, 3n, 4n, 8n])
      expect(await ids(of('smith a'), 9)).toEqual([2n, 3n, 8n])
      expect(await ids(of('ZOE'), 9)).toEqual([1n])
      expect(await ids(of('rown'), 9)).toEqual([])
      expect(await ids({ ...of('anna'), petId: 2n }, 9)).toEqual([8n])
      expect(await ids({ ...of('ann'), after: 2n }, 2)).toEqual([3n, 4n])
      await store.changeStock([complete(second)])
      expect(await ids(of('ann'), 9)).toEqual([2n, 3n, 4n, 8n])
      expect(await ids({ ...of('ann'), state: 'complete' }, 9)).toEqual([8n])
      expect(await ids({ ...of('ann'), state: 'open', petId: 1n }, 2)).toEqual([2n, 3n])
    })

    test('orders are found by any part of a telephone number, with or without blanks', async () => {
      await createWith({ customer: 'Ada, 555 01-34' }, [1n, 1])
      await createWith({ customer: 'Bob, 5550134' }, [1n, 1])
      for (const number of ['5550134', '555 0134', '0134', '(555) 01-34']) {
        expect([number, await ids(of(number), 9)]).toEqual([number, [1n, 2n]])
      }
      expect(await ids(of('bob 555 0134'), 9)).toEqual([2n])
      expect(await ids(of('556'), 9)).toEqual([])
    })

    test('of baskets that want the last unit at once, exactly one is created', async () => {
      await store.changeStock([change(1n, 1)])
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          index % 2 === 0
            ? store.changeStock([createOrder([1n, 1], [2n, 1])])
            : other.changeStock([createOrder([2n, 1], [1n, 1])]),
        ),
      )
      expect(outcomes.flat().filter(({ type }) => type === 'done')).toHaveLength(1)
      expect(await reservedOf(1n, 2n)).toEqual([1, 1])
    })

    test('ids continue after imported ones that leave room in a double, and never collide', async () => {
      const imported = (id: bigint) => ({ id, petId: 1n, quantity: 1, complete: true })
      await addOrders(store, [
        imported(HIGHEST),
        imported(-4n),
        imported(2n ** 53n - 1n),
        imported(2n ** 52n + 2n),
      ])
      expect((await create([1n, 1])).id).toBe(1n)
      await addOrders(store, [imported(7n), imported(3n)])
      expect((await run(createOrder([1n, 1]), other)).id).toBe(8n)
      await addOrders(store, [imported(2n ** 52n)])
      const found = [(await create([1n, 1])).id, (await run(createOrder([1n, 1]), other)).id]
      expect(found).toEqual([2n ** 52n + 1n, 2n ** 52n + 3n])
      expect(await ids({ after: HIGHEST }, 9)).toEqual([])
    })

    test('a pet with open orders is not removed; once they are closed it is, and they stay', async () => {
      const order = await create([1n, 1], [2n, 1])
      expect(await removePet(other, 1n)).toBe('in_use')
      expect(await store.findAvailability(1n)).toMatchObject({ quantity: 10, reserved: 1 })
      await store.changeStock([complete(order)])
      expect(await removePet(other, 1n)).toBe('removed')
      expect(await run(complete(order))).toMatchObject({
        state: 'complete',
        lines: [{ petId: 1n }, { petId: 2n }],
      })
      expect(await run(patchOrder(order, { note: null }))).toMatchObject({ state: 'complete' })
    })

    test('orders do not make followers of the list read again', async () => {
      const cursor = await store.loadStock(() => {})
      const order = await create([1n, 1])
      await createWith({ holdSeconds: 1 }, [2n, 1])
      expect(await store.stockChangesSince(cursor)).toMatchObject({ updated: [], removed: [] })
      await store.changeStock([complete(order)])
      expect(await store.stockChangesSince(cursor)).toMatchObject({ updated: [{ petId: 1n, quantity: 9 }] })
    })

    test('concurrent orders on two connections never get more than the stock', async () => {
      const sent = Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? store : other).changeStock([createOrder([1n, 1]), createOrder([2n, 1])]),
      )
      const outcomes = (await Promise.all(sent)).flat()
      expect(outcomes.filter(({ type }) => type === 'done')).toHaveLength(15)
      expect(await reservedOf(1n, 2n)).toEqual([10, 5])
    })
  })
}
