import { describe, expect, test } from 'bun:test'
import { isErasure, isExpired, type Order, orderAt, stateRules } from '../../src/core/orders/order.ts'
import { type LockedOrders, PetsNeeded } from '../../src/core/orders/orders-draft.ts'
import type { Command, Result, SubmittedCommand } from '../../src/core/stock/command.ts'
import { type Decision, decide } from '../../src/core/stock/decide.ts'
import { change, entryWith } from '../store/plain-rows.ts'
import {
  createOrder,
  createOrderWith,
  linesOf,
  orderCommand,
  orderWith,
  patchOrder,
} from '../support/orders.ts'

const NOW = 1_000_000
const BY = { keyId: 'key_a', at: 7 }
const PETS = [1n, 2n]

const reservedIn = (orders: readonly Order[], petId: bigint) =>
  orders
    .filter(({ state }) => stateRules(state).reserves)
    .flatMap(({ lines }) => lines.filter((line) => line.petId === petId))
    .reduce((sum, { quantity }) => sum + quantity, 0)

/** All orders of two pets, with the clock at NOW. */
const locked = (orders: readonly Order[]): LockedOrders => ({
  now: NOW,
  petIds: new Set([...PETS, 404n]),
  orders: new Map(orders.map((one) => [one.id, one])),
  newIds: [101n, 102n, 103n, 104n],
})

/** Ten units of each pet are on the shelf. */
const decided = (commands: readonly SubmittedCommand[], ...orders: readonly Order[]) => {
  const entries = PETS.map(
    (petId) => [petId, entryWith(10, { reserved: reservedIn(orders, petId) })] as const,
  )
  return decide(commands, new Map(entries), { orders: locked(orders) })
}

/** A basket of two units of the first pet and three of the other. */
const basket = (fields: Partial<Order> = {}) => orderWith(fields, [1n, 2], [2n, 3])
const ENDED = { state: 'expired', expiresAt: NOW, closedAt: NOW } as const
const COMPLETE = { state: 'complete' } as const
const CANCELLED = { state: 'cancelled' } as const

const complete = orderCommand('complete_order', basket())
const cancel = orderCommand('cancel_order', basket())
const ship = patchOrder(basket(), { shipDate: 9 })
const hold = (holdSeconds: number | null) => orderCommand('change_order', basket(), { holdSeconds })
const erase = patchOrder(basket(), { customer: null, note: null })
const rearrange = (...units: [bigint, number][]) =>
  orderCommand('change_order', basket(), { lines: linesOf(units) })
const sale = (...units: [bigint, number][]) => ({ ...createOrder(...units), complete: true })

/** A short form: the state of the order, why it is closed, or the line and the available units of each failure. */
function shortForm(result: Result | undefined): unknown {
  if (result?.type === 'order_closed') return `closed: ${result.order.state}`
  if (result?.type === 'refused') {
    return result.failures.map(({ index, available, code }) => [index, available ?? code])
  }
  return result !== undefined && 'order' in result ? result.order.state : result?.type
}

const entriesIn = ({ entries }: Decision) =>
  PETS.map((petId) => {
    const { quantity = 10, reserved } = entries.get(petId)?.entry ?? {}
    return reserved === undefined ? '-' : `${reserved}/${quantity}`
  })

type Case = [title: string, Command, Order[], outcome: unknown, first?: string, second?: string]

/** A command and the existing orders; the outcome, and the reserved units and the quantity of each changed pet. */
const CASES: readonly Case[] = [
  ['all available units', createOrder([1n, 10], [2n, 10]), [], 'open', '10/10', '10/10'],
  ['one more than available', createOrder([2n, 1], [1n, 11]), [], [[1, 10]]],
  ['the last unreserved units', createOrder([1n, 8], [2n, 7]), [basket()], 'open', '10/10', '10/10'],
  [
    'more than unreserved of each',
    createOrder([2n, 8], [1n, 9]),
    [basket()],
    [
      [0, 7],
      [1, 8],
    ],
  ],
  ['with less stock than reserved', createOrder([1n, 1]), [orderWith({}, [1n, 12])], [[0, -2]]],
  ['of an unknown pet', createOrder([1n, 1], [404n, 1]), [], [[1, 'not_found']]],
  ['sold at once', sale([1n, 8]), [basket()], 'complete', '2/2'],
  ['sold at once, reserved units', sale([2n, 1], [1n, 9]), [basket()], [[1, 8]]],
  [
    'sold at once, even if reserved',
    { ...sale([1n, 9]), evenIfReserved: true },
    [basket()],
    'complete',
    '2/1',
  ],
  ['sold at once, more than there is', { ...sale([1n, 11]), evenIfReserved: true }, [], [[0, 10]]],
  ['sold at once, an unknown pet', sale([404n, 1]), [], [[0, 'not_found']]],
  ['completed', complete, [basket()], 'complete', '0/8', '0/7'],
  ['completed again', complete, [basket(COMPLETE)], 'complete'],
  [
    'completed again, only if open',
    { ...complete, onlyIfOpen: true },
    [basket(COMPLETE)],
    'closed: complete',
  ],
  ['completed, only if open', { ...complete, onlyIfOpen: true }, [basket()], 'complete', '0/8', '0/7'],
  ['completed, a cancelled order', complete, [basket(CANCELLED)], 'closed: cancelled'],
  ['completed, an expired hold', complete, [basket(ENDED)], 'closed: expired'],
  [
    'completed late',
    { ...complete, evenIfExpired: true, onlyIfOpen: true },
    [basket(ENDED)],
    'complete',
    '0/8',
    '0/7',
  ],
  [
    'completed late, with units that others reserve',
    { ...complete, evenIfExpired: true },
    [basket(ENDED), orderWith({ id: 2n }, [2n, 8])],
    [[1, 2]],
  ],
  [
    'completed late, a cancelled order',
    { ...complete, evenIfExpired: true },
    [basket(CANCELLED)],
    'closed: cancelled',
  ],
  [
    'completed late, an open order',
    { ...complete, evenIfExpired: true },
    [basket()],
    'complete',
    '0/8',
    '0/7',
  ],
  ['completed with too little stock', complete, [orderWith({}, [1n, 1], [2n, 11])], [[1, 10]]],
  ['cancelled', cancel, [basket()], 'cancelled', '0/10', '0/10'],
  ['cancelled again', cancel, [basket(CANCELLED)], 'cancelled'],
  ['cancelled, a complete order', cancel, [basket(COMPLETE)], 'closed: complete'],
  ['cancelled, an expired hold', cancel, [basket(ENDED)], 'cancelled'],
  ['shipped later', ship, [basket()], 'open'],
  ['shipped later, a complete order', ship, [basket(COMPLETE)], 'closed: complete'],
  ['shipped later, a cancelled order', ship, [basket(CANCELLED)], 'closed: cancelled'],
  ['held again', hold(9), [basket({ expiresAt: NOW + 1 })], 'open'],
  ['held again, an expired hold', hold(9), [basket(ENDED)], 'closed: expired'],
  ['made firm', hold(null), [basket({ expiresAt: NOW + 1 })], 'open'],
  ['rearranged', rearrange([2n, 10]), [basket()], 'open', '0/10', '10/10'],
  [
    'rearranged, more than available',
    rearrange([2n, 10], [1n, 1]),
    [basket(), orderWith({ id: 2n }, [2n, 1])],
    [[0, 6]],
  ],
  ['rearranged, a complete order', rearrange([2n, 1]), [basket(COMPLETE)], 'closed: complete'],
  [
    'rearranged to less, with too little stock',
    rearrange([1n, 11]),
    [orderWith({}, [1n, 12])],
    'open',
    '11/10',
  ],
  ['erased, a complete order', erase, [basket({ ...COMPLETE, customer: 'Anna' })], 'complete'],
  ['erased, an expired hold', erase, [basket({ ...ENDED, note: 'x' })], 'expired'],
  ['an unknown order', orderCommand('complete_order', { id: 404n, lines: [] }), [basket()], 'unknown_order'],
  [
    'a sweep, of expired holds only',
    { type: 'release_holds', ...BY, orderIds: [1n, 2n, 404n], petIds: PETS },
    [basket({ expiresAt: NOW }), orderWith({ id: 2n, expiresAt: NOW + 1 }, [1n, 1])],
    'done',
    '1/10',
    '0/10',
  ],
]

describe('the decision on an order', () => {
  test.each(CASES.map((one) => ({ title: one[0], one })))('$title', ({ one }) => {
    const [, command, orders, outcome, first = '-', second = '-'] = one
    const decision = decided([command], ...orders)
    expect(shortForm(decision.results[0])).toEqual(outcome)
    expect(entriesIn(decision)).toEqual([first, second])
  })

  test("a new order has the next id, the store's time, and the requested fields", () => {
    const fields = { shipDate: 99, customer: 'Anna', reference: 'cart', metadata: '{}' }
    const { results, orders } = decided([createOrderWith({ ...fields, holdSeconds: 60 }, [2n, 3], [1n, 1])])
    const order = { id: 101n, ...fields, createdAt: NOW, expiresAt: NOW + 60_000, createdBy: BY.keyId }
    expect(results).toEqual([{ type: 'done', order: orderWith(order, [1n, 1], [2n, 3]) }])
    expect(orders).toMatchObject({ added: [order], changed: [] })
  })

  test('log records follow the order of decisions, quantities before their order', () => {
    const commands = [
      complete,
      change(1n, 20, BY),
      createOrder([1n, 3]),
      { ...cancel, orderId: 2n },
      { ...ship, orderId: 2n },
      sale([2n, 1]),
    ]
    const { records } = decided(commands, basket({ reference: 'cart 7' }), basket({ id: 2n }))
    expect(
      records.map((row) => {
        if (row.kind === 'order') return [row.change, row.order.id, row.order.state]
        return row.kind === 'change' ? [row.petId, row.before, row.after] : row
      }),
    ).toEqual([
      [1n, 10, 8],
      [2n, 10, 7],
      ['completed', 1n, 'complete'],
      [1n, 8, 20],
      ['created', 101n, 'open'],
      ['cancelled', 2n, 'cancelled'],
      [2n, 7, 6],
      ['completed', 102n, 'complete'],
    ])
    expect(records[0]?.by).toMatchObject({ reason: 'sold', reference: 'cart 7' })
    expect(records[6]?.by).toMatchObject({ reason: 'sold', reference: 'order 102' })
    expect(records[2]).toMatchObject({
      lines: [
        { petId: 1n, quantity: 2, reserved: 2, available: 6 },
        { petId: 2n, quantity: 3, reserved: 3, available: 4 },
      ],
    })
  })

  test('units that an order releases are available to the next one in the commit', () => {
    const commands = [createOrder([1n, 10]), cancel, createOrder([1n, 10]), createOrder([1n, 1])]
    const { results, orders } = decided(commands, basket())
    expect(results.map(shortForm)).toEqual([[[0, 8]], 'cancelled', 'open', [[0, 0]]])
    expect(orders).toMatchObject({ refused: 2, expired: 0, added: [{ id: 101n }], changed: [{ id: 1n }] })
  })

  test('two commands about one order in a commit build on each other', () => {
    const { results, records } = decided([complete, cancel, complete], basket())
    expect(results.map(shortForm)).toEqual(['complete', 'closed: complete', 'complete'])
    expect(records.map(({ kind }) => kind)).toEqual(['change', 'change', 'order'])
  })

  test.each<[string, Command]>([
    ['the same ship date', ship],
    ['the same lines in another sequence', rearrange([2n, 3], [1n, 2])],
    ['erasing what is not there', erase],
  ])('%s changes nothing', (_, command) => {
    const { results, records, orders } = decided([command], basket({ shipDate: 9 }))
    expect(results.map(shortForm)).toEqual(['open'])
    expect([records, orders?.changed]).toEqual([[], []])
  })

  test('commands about orders without the locked orders are a bug, and so are orders that do not add up', () => {
    const entries = new Map(PETS.map((petId) => [petId, entryWith(10)]))
    expect(() => decide([createOrder([1n, 1])], entries)).toThrow('did not read the orders')
    expect(() => decide([createOrder([1n, 1])], entries, { orders: { ...locked([]), newIds: [] } })).toThrow(
      'ids',
    )
    expect(() => decide([cancel], entries, { orders: locked([basket()]) })).toThrow(RangeError)
  })

  test('an order with pets that are not locked asks for these pets', () => {
    const orders = { ...locked([orderWith({}, [1n, 1], [3n, 1], [4n, 1])]), petIds: new Set(PETS) }
    expect(() => decide([cancel], new Map(), { orders })).toThrow(new PetsNeeded([3n, 4n], [1n]))
  })

  test('with an idempotency key, the outcome is stored: created, insufficient stock, closed, not found', () => {
    const keyed = (key: string, command: Command): SubmittedCommand => ({
      ...command,
      idempotency: { key, fingerprint: 'f', answer: ({ type }) => type },
    })
    const commands = [
      keyed('a', createOrder([1n, 5])),
      keyed('a', createOrder([1n, 5])),
      keyed('b', createOrder([1n, 9])),
      keyed('c', complete),
      keyed('d', orderCommand('complete_order', { id: 404n, lines: [] })),
    ]
    const { results, answers, orders } = decided(commands, basket(CANCELLED))
    expect(
      results.map((result) => [result.type, 'outcome' in result ? result.outcome.type : undefined]),
    ).toEqual([
      ['decided', 'done'],
      ['replayed', undefined],
      ['decided', 'refused'],
      ['decided', 'order_closed'],
      ['decided', 'unknown_order'],
    ])
    expect(answers.map(({ answer }) => answer)).toEqual(['done', 'refused', 'order_closed', 'unknown_order'])
    expect(orders?.added).toHaveLength(1)
  })
})

describe('a hold at a given time', () => {
  test.each([
    [NOW - 1, 'open'],
    [NOW, 'expired'],
    [NOW + 1, 'expired'],
  ])('at %d it is %s', (now, state) => {
    expect(orderAt(basket({ expiresAt: NOW }), now).state).toBe(state as 'open')
  })

  test('a closed hold stays as it is, and so does an order without a hold', () => {
    expect(orderAt(basket({ expiresAt: NOW, state: 'complete' }), NOW).state).toBe('complete')
    expect(isExpired(basket(), Number.MAX_SAFE_INTEGER)).toBe(false)
  })
})

test.each([
  [{ customer: null }, true],
  [{ customer: null, note: null }, true],
  [{ customer: null, note: 'x' }, false],
  [{ customer: null, shipDate: null }, false],
  [{}, false],
] as const)('whether %p is only an erasure: %p', (patch, expected) => {
  expect(isErasure(patch)).toBe(expected)
})
