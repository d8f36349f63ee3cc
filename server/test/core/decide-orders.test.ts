import { describe, expect, test } from 'bun:test'
import { isExpired, type NewOrder, type Order, orderAt } from '../../src/core/orders/order.ts'
import { type LockedOrders, MAX_EXPIRED_HOLDS } from '../../src/core/orders/orders-draft.ts'
import type { Command, CommandOf, Result, SubmittedCommand } from '../../src/core/stock/command.ts'
import { type Decision, decide } from '../../src/core/stock/decide.ts'
import { change, entryWith } from '../store/plain-rows.ts'
import { type OrderUpdate, orderCommand } from '../support/order-command.ts'

const NOW = 1_000_000
const BY = { keyId: 'key_a', at: 7 }
const order = (id: bigint, changes: Partial<Order> = {}): Order => ({
  id,
  petId: 1n,
  quantity: 2,
  state: 'open',
  createdAt: 5,
  ...changes,
})
const create = (draft: Partial<NewOrder> = {}): Command => ({
  type: 'create_order' as const,
  ...BY,
  order: { petId: 1n, quantity: 1, ...draft },
})
const update = (orderId: bigint, what: OrderUpdate, petId: bigint | undefined = 1n): Command =>
  orderCommand({ ...BY, orderId, petId }, what)

const heldBy = (orders: readonly Order[]) =>
  orders.reduce((sum, one) => sum + (one.state === 'open' ? one.quantity : 0), 0)

/** Orders of one pet, with the clock at NOW. */
function found(orders: readonly Order[]): LockedOrders {
  return {
    now: NOW,
    orders: new Map(orders.map((one) => [one.id, one])),
    expiredHolds: orders.filter((one) => isExpired(one, NOW)),
    newIds: [101n, 102n, 103n, 104n],
  }
}
/** Ten units are on the shelf. */
const stock = (reserved = 0) => new Map([[1n, entryWith(10, { reserved })]])
const decided = (requests: readonly SubmittedCommand[], orders: readonly Order[] = []) =>
  decide(requests, stock(heldBy(orders)), { orders: found(orders) })

const HELD = { expiresAt: NOW + 1 }
const ENDED = { expiresAt: NOW }
const UNSEEN = { type: 'complete_order', ...BY, orderId: 1n, petId: undefined } as const

const COMPLETE = { state: 'complete' } as const
const CANCELLED = { state: 'cancelled' } as const
const EXPIRED = { state: 'expired' } as const
const complete: CommandOf<'complete_order'> = { type: 'complete_order', ...BY, orderId: 1n, petId: 1n }
const cancel = update(1n, 'cancel')
const ship = update(1n, { shipDate: 9 })

const reservedIn = ({ entries }: Decision) => entries.get(1n)?.entry?.reserved

/** A short form: the state of the order, the available units, or why it is closed. */
function told(outcome: Result | undefined): unknown {
  if (outcome?.type === 'insufficient_stock') return `${outcome.available} available`
  if (outcome?.type === 'order_closed') return `closed: ${outcome.order.state}`
  return outcome !== undefined && 'order' in outcome ? outcome.order.state : outcome
}

type Case = [title: string, Command, Order[], outcome: unknown, reserved?: number, left?: number]

/** The requests and the existing orders; the outcome, the reserved units, and the remaining quantity of ten. */
const CASES: readonly Case[] = [
  ['all available units', create({ quantity: 10 }), [], 'open', 10],
  ['one more than available', create({ quantity: 11 }), [], '10 available'],
  ['the last unreserved unit', create({ quantity: 8 }), [order(1n)], 'open', 10],
  ['one more than unreserved', create({ quantity: 9 }), [order(1n)], '8 available'],
  ['one with less stock than reserved', create(), [order(1n, { quantity: 12 })], '-2 available'],
  ['of an unknown pet', create({ petId: 9n }), [], { type: 'unknown_pet' }],
  ['an active hold keeps its units', create({ quantity: 9 }), [order(1n, HELD)], '8 available'],
  ['an expired hold does not', create({ quantity: 10 }), [order(1n, ENDED)], 'open', 10],
  ['completed', complete, [order(1n)], 'complete', 0, 8],
  ['completed again', complete, [order(1n, COMPLETE)], 'complete'],
  [
    'completed again, only if open',
    { ...complete, onlyIfOpen: true },
    [order(1n, COMPLETE)],
    'closed: complete',
  ],
  ['completed, only if open', { ...complete, onlyIfOpen: true }, [order(1n)], 'complete', 0, 8],
  ['completed, a cancelled one', complete, [order(1n, CANCELLED)], 'closed: cancelled'],
  ['completed, an expired one', complete, [order(1n, EXPIRED)], 'closed: expired'],
  ['completed, a hold', complete, [order(1n, HELD)], 'complete', 0, 8],
  ['completed, an expired hold', complete, [order(1n, ENDED)], 'closed: expired', 0],
  ['completed with too little stock', complete, [order(1n, { quantity: 11 })], '10 available'],
  ['cancelled', cancel, [order(1n)], 'cancelled', 0],
  ['cancelled again', cancel, [order(1n, CANCELLED)], 'cancelled'],
  ['cancelled, a complete one', cancel, [order(1n, COMPLETE)], 'closed: complete'],
  ['cancelled, an expired one', cancel, [order(1n, EXPIRED)], 'expired'],
  ['cancelled, an expired hold', cancel, [order(1n, ENDED)], 'expired', 0],
  ['shipped later', ship, [order(1n)], 'open', 2],
  ['shipped later, a complete one', ship, [order(1n, COMPLETE)], 'closed: complete'],
  ['shipped later, a cancelled one', ship, [order(1n, CANCELLED)], 'closed: cancelled'],
  ['shipped later, an expired hold', ship, [order(1n, ENDED)], 'closed: expired', 0],
  ['an unknown order', update(404n, 'complete'), [order(1n)], { type: 'unknown_order' }],
  ['an order that did not exist at its lookup', UNSEEN, [order(1n)], { type: 'unknown_order' }],
  [
    'a sweep',
    { type: 'release_holds', ...BY, petIds: [1n] },
    [order(1n, ENDED), order(2n, HELD)],
    { type: 'done', expired: 1 },
    2,
  ],
]

describe('the decision on an order', () => {
  test.each(CASES.map((one) => ({ title: one[0], one })))('$title', ({ one }) => {
    const [, request, orders, outcome, reserved, left = 10] = one
    const decision = decided([request], orders)
    expect(told(decision.results[0])).toEqual(outcome)
    expect(reservedIn(decision)).toBe(reserved as number)
    expect(decision.records.filter((record) => record.kind === 'change').at(-1)?.after ?? 10).toBe(left)
  })

  test("a new order has the next id, the store's time, and the requested fields", () => {
    const [outcome] = decided([create({ quantity: 3, shipDate: 99, holdSeconds: 60 })]).results
    expect(outcome).toEqual({
      type: 'done',
      order: {
        id: 101n,
        petId: 1n,
        quantity: 3,
        state: 'open',
        createdAt: NOW,
        expiresAt: NOW + 60_000,
        shipDate: 99,
        createdBy: BY.keyId,
      },
    })
  })

  test('log records follow the order of decisions, a quantity before its order', () => {
    const requests = [
      update(1n, 'complete'),
      change(1n, 20, BY),
      create({ quantity: 3 }),
      update(2n, 'cancel'),
      update(2n, { shipDate: 9 }),
    ]
    const { records } = decided(requests, [order(1n), order(2n), order(3n, ENDED)])
    expect(
      records.map((row) =>
        row.kind === 'order'
          ? [row.change, row.order.id]
          : row.kind === 'change'
            ? [row.before, row.after]
            : row,
      ),
    ).toEqual([
      ['expired', 3n],
      [10, 8],
      ['completed', 1n],
      [8, 20],
      ['created', 101n],
      ['cancelled', 2n],
    ])
    expect(records[1]?.by).toEqual({ ...BY, reason: 'sold', reference: 'order 1' })
    expect(records[0]?.by).toEqual({ keyId: 'petstore', at: NOW })
  })

  test('units that an order releases are available to the next one in the commit', () => {
    const requests = [create({ quantity: 10 }), update(1n, 'cancel'), create({ quantity: 10 }), create()]
    const { results: outcomes, orders } = decided(requests, [order(1n)])
    expect(outcomes).toMatchObject([
      { type: 'insufficient_stock' },
      { order: {} },
      { order: { id: 101n } },
      { type: 'insufficient_stock' },
    ])
    expect(orders).toMatchObject({ refused: 2, expired: 0, added: [{ id: 101n }], changed: [{ id: 1n }] })
  })

  test('two requests about one order in a commit build on each other', () => {
    const { results: outcomes, records } = decided(
      [update(1n, 'complete'), update(1n, 'cancel'), update(1n, 'complete')],
      [order(1n)],
    )
    expect(outcomes).toMatchObject([
      { order: { state: 'complete' } },
      { type: 'order_closed' },
      { order: {} },
    ])
    expect(records).toHaveLength(2)
  })

  test('setting the same ship date changes nothing', () => {
    const { results: outcomes, records } = decided(
      [update(1n, { shipDate: 9 })],
      [order(1n, { shipDate: 9 })],
    )
    expect(outcomes).toMatchObject([{ order: { shipDate: 9 } }])
    expect(records).toEqual([])
  })

  test("if a commit's maximum of holds has expired, it decides only their expiry", () => {
    const over = Array.from({ length: MAX_EXPIRED_HOLDS }, (_, index) =>
      order(BigInt(index - 5_000), { ...ENDED, quantity: 1 }),
    )
    const decision = decided([create()], over)
    expect(decision).toMatchObject({
      results: [],
      isPostponed: true,
      orders: { expired: MAX_EXPIRED_HOLDS, added: [] },
    })
    expect(reservedIn(decision)).toBe(0)
    expect(decided([create()], over.slice(1))).toMatchObject({ isPostponed: false, results: [{ order: {} }] })
  })

  test('a request about orders without the locked orders is a bug, and so are orders that do not add up', () => {
    expect(() => decide([create()], stock())).toThrow('did not read the orders')
    expect(() => decide([create()], stock(), { orders: { ...found([]), newIds: [] } })).toThrow('ids')
    expect(() => decide([update(1n, 'cancel')], stock(1), { orders: found([order(1n)]) })).toThrow(RangeError)
    expect(() => decided([update(1n, 'cancel', 2n)], [order(1n)])).toThrow('locked')
  })

  test('with an idempotency key, the outcome is stored: created, insufficient stock, closed, not found', () => {
    const keyed = (key: string, request: Command): SubmittedCommand => ({
      ...request,
      idempotency: { key, fingerprint: 'f', answer: ({ type }) => type },
    })
    const requests = [
      keyed('a', create({ quantity: 5 })),
      keyed('a', create({ quantity: 5 })),
      keyed('b', create({ quantity: 9 })),
      keyed('c', update(1n, 'complete')),
      keyed('d', update(404n, 'complete', undefined)),
    ]
    const { results: outcomes, answers, orders } = decided(requests, [order(1n, { state: 'cancelled' })])
    expect(outcomes).toEqual([
      { type: 'answered', answer: 'done', isReplay: false },
      { type: 'answered', answer: 'done', isReplay: true },
      { type: 'answered', answer: 'insufficient_stock', isReplay: false },
      { type: 'answered', answer: 'order_closed', isReplay: false },
      { type: 'answered', answer: 'unknown_order', isReplay: false },
    ])
    expect(answers).toHaveLength(4)
    expect(orders?.added).toHaveLength(1)
  })
})

describe('a hold at a given time', () => {
  test.each([
    [NOW - 1, 'open'],
    [NOW, 'expired'],
    [NOW + 1, 'expired'],
  ])('at %d it is %s', (now, state) => {
    expect(orderAt(order(1n, { expiresAt: NOW }), now).state).toBe(state as 'open')
  })

  test('a closed hold stays as it is, and so does an order without a hold', () => {
    expect(orderAt(order(1n, { expiresAt: NOW, state: 'complete' }), NOW).state).toBe('complete')
    expect(orderAt(order(1n), Number.MAX_SAFE_INTEGER).state).toBe('open')
  })
})
