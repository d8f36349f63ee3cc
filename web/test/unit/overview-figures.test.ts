import { expect, test } from 'bun:test'
import type { StockRow } from '../../src/staff-page/data/stock/stock-model.ts'
import { countLow } from '../../src/staff-page/overview/overview-figures.ts'

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
