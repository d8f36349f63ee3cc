import { describe, expect, test } from 'bun:test'
import { importOrder } from '../../src/core/orders/import-order.ts'
import type { Order, OrderRow } from '../../src/core/orders/order.ts'
import { OrdersDraft } from '../../src/core/orders/orders-draft.ts'
import { KnownFacts } from '../../src/core/stock/facts.ts'
import { StockDraft } from '../../src/core/stock/stock-draft.ts'
import { entryWith } from '../store/plain-rows.ts'

const BY = { keyId: 'importer', at: 7 }
const row = (changes: Partial<OrderRow> = {}): OrderRow => ({
  id: 5n,
  petId: 1n,
  quantity: 2,
  complete: false,
  ...changes,
})
const known = (changes: Partial<Order> = {}): Order => ({
  id: 5n,
  petId: 1n,
  quantity: 2,
  state: 'open',
  createdAt: 3,
  ...changes,
})

/** For a pet with ten units, three of them reserved by other orders. */
function imported(wanted: OrderRow, order?: Order, quantity = 10) {
  const reserved = 3 + (order?.state === 'open' ? order.quantity : 0)
  const stock = new StockDraft(new Map([[1n, entryWith(quantity, { reserved })]]), new KnownFacts())
  const orders = new OrdersDraft(stock, {
    now: 99,
    expiredHolds: [],
    newIds: [],
    orders: new Map(order === undefined ? [] : [[order.id, order]]),
  })
  const outcome = importOrder(orders, { type: 'import_order', order: wanted, ...BY })
  const told = stock.records.map((made) =>
    made.kind === 'change' ? [made.before, made.after] : made.kind === 'order' ? made.change : made,
  )
  return { outcome, told, order: orders.find(5n), reserved: stock.changes.get(1n)?.entry?.reserved }
}

describe('an order in a file', () => {
  test.each<[string, OrderRow, Order | undefined, unknown[], Partial<Order>, number | undefined]>([
    ['a new open order reserves units', row(), undefined, ['created'], { state: 'open', createdAt: 99 }, 5],
    ['as many as available', row({ quantity: 7 }), undefined, ['created'], { quantity: 7 }, 10],
    [
      'a new complete order takes nothing',
      row({ complete: true }),
      undefined,
      ['completed'],
      { state: 'complete' },
      undefined,
    ],
    [
      'also for a removed pet',
      row({ complete: true, petId: 9n }),
      undefined,
      ['completed'],
      { petId: 9n },
      undefined,
    ],
    [
      'a completed order is sold',
      row({ complete: true }),
      known(),
      [[10, 8], 'completed'],
      { state: 'complete' },
      3,
    ],
    ['another ship date', row({ shipDate: 8 }), known(), ['changed'], { shipDate: 8 }, 5],
    [
      'another ship date of a complete order',
      row({ complete: true, shipDate: 8 }),
      known({ state: 'complete' }),
      ['changed'],
      { shipDate: 8, state: 'complete' },
      undefined,
    ],
    ['a larger quantity', row({ quantity: 7 }), known(), ['changed'], { quantity: 7, createdAt: 3 }, 10],
    ['a smaller quantity', row({ quantity: 1 }), known(), ['changed'], { quantity: 1 }, 4],
    ['the same again', row(), known(), [], {}, undefined],
  ])('%s', (_, wanted, order, told, result, reserved) => {
    const outcome = imported(wanted, order)
    expect(outcome.outcome.type).toBe('done')
    expect<unknown[]>(outcome.told).toEqual(told)
    expect(outcome.order).toMatchObject(result)
    if (reserved !== undefined) expect(outcome.reserved).toBe(reserved)
  })

  test('without a ship date, the order loses the one it had', () => {
    expect(imported(row(), known({ shipDate: 4 })).order).toEqual(known())
  })

  test('a hold stays a hold', () => {
    expect(imported(row({ shipDate: 8 }), known({ expiresAt: 500 })).order).toMatchObject({ expiresAt: 500 })
  })

  test.each<[string, OrderRow, Order | undefined, string]>([
    ['one more than available', row({ quantity: 8 }), undefined, 'pet 1 has 7 available, 8 are needed'],
    [
      'an increase above the available units',
      row({ quantity: 10 }),
      known(),
      'has 5 available, 8 are needed',
    ],
    ['an unknown pet', row({ petId: 9n }), undefined, 'there is no pet 9'],
    ['none at all', row({ quantity: 0 }), undefined, 'at least 1, got 0'],
    ['another pet', row({ petId: 2n }), known(), 'order 5 is for pet 1 and cannot change to pet 2'],
    ['reopening a complete order', row(), known({ state: 'complete' }), 'cannot be reopened'],
    [
      'another quantity of a complete order',
      row({ complete: true, quantity: 3 }),
      known({ state: 'complete' }),
      'has quantity 2; a complete order must have the same quantity',
    ],
    [
      'completing with another quantity',
      row({ complete: true, quantity: 3 }),
      known(),
      'has quantity 2; a complete order must have the same quantity',
    ],
    ['a cancelled order', row(), known({ state: 'cancelled' }), 'order 5 is already cancelled'],
    ['an expired order', row({ complete: true }), known({ state: 'expired' }), 'order 5 is already expired'],
  ])('%s is rejected, and nothing changes', (_, wanted, order, reason) => {
    const outcome = imported(wanted, order)
    expect(outcome.outcome).toEqual({ type: 'invalid_order', reason: expect.stringContaining(reason) })
    expect(outcome.told).toEqual([])
    expect(outcome.order).toEqual(order as Order)
    expect(outcome.reserved).toBeUndefined()
  })

  test('completing an order with too little stock is rejected', () => {
    const outcome = imported(row({ complete: true }), known(), 1)
    expect(outcome.outcome).toEqual({
      type: 'invalid_order',
      reason: 'order 5 takes 2 units of pet 1, but 1 are in stock',
    })
    expect(outcome.told).toEqual([])
  })
})
