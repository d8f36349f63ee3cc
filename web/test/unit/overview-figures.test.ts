import { expect, test } from 'bun:test'
import type { MovementReport, MovementRow, Order } from '@petstore/client'
import { lastDays, paceOf } from '../../src/staff-page/data/movements.ts'
import {
  orderOf,
  type ReorderLine,
  reorderCsv,
  suggestedOrder,
} from '../../src/staff-page/low-stock/reorder-list.ts'
import { dueOrders, runningOut } from '../../src/staff-page/overview/overview-figures.ts'

test('orders are overdue before today, due today, and holds expired or expire within a day, the earliest first', () => {
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
    {
      isComplete: true,
      expired: [
        order(11n, { expiresAt: at(18, 14) }),
        order(12n, { expiresAt: at(19, 14) }),
        order(13n, { expiresAt: at(18, 16) }),
      ],
      open: [
        order(1n, { shipDate: at(18, 23) }),
        order(2n, { shipDate: at(19, 0) }),
        order(3n, { shipDate: at(17, 12) }),
        order(4n, { shipDate: at(20, 0) }),
        order(5n, { expiresAt: at(20, 14) }),
        order(6n, { expiresAt: at(19, 16) }),
        order(7n, { expiresAt: at(20, 16) }),
        order(8n, {}),
      ],
    },
    now,
  )
  const ids = (orders: readonly Order[]) => orders.map(({ id }) => id)
  expect([ids(due.overdue), ids(due.dueToday), ids(due.expiring)]).toEqual([[3n, 1n], [2n], [6n, 5n]])
  expect(ids(due.expired)).toEqual([13n, 12n])
})

test('pets run out at their pace, the earliest first, by what is available', () => {
  const stock = [
    { petId: 1n, available: 30 },
    { petId: 2n, available: -2 },
    { petId: 3n, available: 93 },
  ]
  const pace = new Map([
    [1n, 10],
    [2n, 7],
    [3n, 1],
  ])
  const within = (days: number) =>
    runningOut(stock, pace, days).map(({ petId, daysLeft }) => [petId, daysLeft])
  expect(within(2)).toEqual([[2n, 0]])
  expect(within(93)).toEqual([
    [2n, 0],
    [1n, 3],
    [3n, 93],
  ])
})

const figures = (sold: number, returned: number, received: number): MovementRow => ({
  sold,
  returned,
  received,
  damaged: 0,
  lost: 0,
  countedUp: 0,
  countedDown: 0,
  corrected: 0,
  change: 0,
})

test('the pace is what customers kept in 4 weeks', () => {
  const rows = [
    { petId: 1n, ...figures(70, 14, 0) },
    { petId: 2n, ...figures(2, 2, 0) },
    { petId: 3n, ...figures(0, 0, 9) },
  ]
  expect([...paceOf({ rows })]).toEqual([[1n, 2]])
})

test('the last days end with today in the time zone of the service, and include days without movements', () => {
  const report: MovementReport = {
    since: '2026-10-24T22:00:00.000Z',
    until: '2026-10-27T23:00:00.000Z',
    timeZone: 'Europe/Berlin',
    by: 'day',
    total: figures(9, 1, 5),
    rows: [
      { day: '2026-10-25', ...figures(4, 1, 0) },
      { day: '2026-10-27', ...figures(5, 0, 5) },
    ],
  }
  expect(lastDays(report, 3)).toEqual([
    { day: '2026-10-25', sold: 3, received: 0 },
    { day: '2026-10-26', sold: 0, received: 0 },
    { day: '2026-10-27', sold: 5, received: 5 },
  ])
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
