import { expect, test } from 'bun:test'
import type { Order } from '@petstore/client'
import type { StockRow } from '../../src/staff-page/data/stock/stock-model.ts'
import {
  orderOf,
  type ReorderLine,
  reorderCsv,
  suggestedOrder,
} from '../../src/staff-page/low-stock/reorder-list.ts'
import {
  biggestMovers,
  countLow,
  dueOrders,
  runningOut,
} from '../../src/staff-page/overview/overview-figures.ts'

const row = (quantity: number, fields: Partial<StockRow> = {}): StockRow => ({
  petId: 1n,
  name: 'Goldie',
  categoryId: 1n,
  lowStockAt: undefined,
  status: 'available',
  quantity,
  reserved: 0,
  searchText: '',
  ...fields,
})

test('a pet with nothing left to sell is sold out, also without a threshold and whatever its status', () => {
  const rows = [
    row(5),
    row(5, { lowStockAt: 9 }),
    row(0),
    row(0, { status: 'sold' }),
    row(3, { reserved: 3, lowStockAt: 1 }),
  ]
  expect(countLow(rows, { byId: new Map(), isKnown: true })).toEqual({ low: 2, soldOut: 3 })
})

test('orders are overdue before today, due today, and holds expire within a day, the earliest first', () => {
  const now = new Date(2026, 10, 19, 15).getTime()
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).toISOString()
  const order = (id: bigint, times: Pick<Order, 'shipDate' | 'expiresAt'>): Order => ({
    id,
    lines: [{ petId: 1n, quantity: 1, returned: 0 }],
    state: 'open',
    complete: false,
    createdAt: at(1, 0),
    ...times,
  })
  const due = dueOrders(
    [
      order(1n, { shipDate: at(18, 23) }),
      order(2n, { shipDate: at(19, 0) }),
      order(3n, { shipDate: at(17, 12) }),
      order(4n, { shipDate: at(20, 0) }),
      order(5n, { expiresAt: at(20, 14) }),
      order(6n, { expiresAt: at(19, 16) }),
      order(7n, { expiresAt: at(20, 16) }),
      order(8n, {}),
    ],
    now,
  )
  const ids = (orders: readonly Order[]) => orders.map(({ id }) => id)
  expect([ids(due.overdue), ids(due.dueToday), ids(due.expiring)]).toEqual([[3n, 1n], [2n], [6n, 5n]])
})

test('pets run out at their pace, the earliest first, by what is free', () => {
  const rows = new Map([
    [1n, row(30)],
    [2n, row(51, { petId: 2n, reserved: 51 })],
    [3n, row(93, { petId: 3n })],
  ])
  const pace = new Map([
    [1n, 10],
    [2n, 7],
    [3n, 1],
    [4n, 5],
  ])
  const within = (days: number) =>
    runningOut((petId) => rows.get(petId), pace, days).map(({ row: { petId }, daysLeft }) => [
      petId,
      daysLeft,
    ])
  expect(within(2)).toEqual([[2n, 0]])
  expect(within(93)).toEqual([
    [2n, 0],
    [1n, 3],
    [3n, 93],
  ])
})

test('the pets with the most units since a moment come first, and returns alone are no sale', () => {
  const trade = (petId: bigint, units: number, at: number) => ({ petId, units, at })
  const trades = [trade(1n, 5, 20), trade(2n, 9, 20), trade(1n, 6, 30), trade(3n, -1, 30), trade(4n, 99, 5)]
  expect(biggestMovers(trades, 10, 2)).toEqual([
    [1n, 11],
    [2n, 9],
  ])
  expect(biggestMovers(trades, 10, 9)).toHaveLength(2)
})

test.each([
  // 7 in a week are 28 in 4 weeks, plus 4, minus the 3 that are free.
  [3, 4, 1, 29],
  // Nothing is sold, but one less would still be low.
  [10, 12, 0, 3],
  [10, undefined, 0.1, 0],
  [0, undefined, 0.5, 14],
])(
  'of %d free with a warning at %p and %d sold a day, %d are suggested',
  (free, lowStockAt, perDay, order) => {
    expect(suggestedOrder(free, lowStockAt, perDay)).toBe(order)
  },
)

test.each([
  ['40', 40],
  [' 0 ', 0],
  ['', undefined],
  ['-1', undefined],
  ['1000000', 1_000_000],
  ['1000001', undefined],
] as const)('%j orders %p', (text, units) => {
  expect(orderOf(text)).toBe(units as number)
})

test('the file for a supplier has the pets to order, and a spreadsheet runs and shortens nothing in it', () => {
  const line = (order: number | undefined): ReorderLine => ({
    row: { petId: 5n, name: '=HYPERLINK("x"),1', barcode: '2000000000053', lowStockAt: 4 },
    category: 'Dogs',
    free: 3,
    soldPerDay: 1,
    order,
  })
  expect(reorderCsv([line(40), line(0), line(undefined)]).split('\r\n')).toEqual([
    'Pet id,Name,Barcode,Category,Free,Warn me at,Sold in 4 weeks,Order',
    `5,"'=HYPERLINK(""x""),1",'2000000000053,Dogs,3,4,28,40`,
    '',
  ])
})
