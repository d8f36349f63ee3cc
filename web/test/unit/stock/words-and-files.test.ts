import { expect, test } from 'bun:test'
import { StockModel } from '../../../src/staff-page/data/stock/stock-model.ts'
import { readQuantity } from '../../../src/staff-page/quantity/typed-change.ts'
import { csvOf } from '../../../src/staff-page/stock/csv-export.ts'
import { href, routeOf } from '../../../src/staff-page/ui/navigation.ts'

test.each([
  ['0', 0],
  [' 12 ', 12],
  ['1 200', 1200],
  ["1'000'000", 1_000_000],
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1,5', undefined],
  ['1e3', undefined],
  ['', undefined],
  ['12 3', undefined],
])('%j is the quantity %p', (text, expected) => {
  expect(readQuantity(text)).toBe(expected as number)
})

test.each([
  ['#/stock', { view: 'stock' }],
  ['#/overview', { view: 'overview' }],
  ['#/pets/9223372036854775807', { view: 'pet', petId: 9223372036854775807n }],
  ['#/pets/-5', { view: 'pet', petId: -5n }],
  ['#/pets/9223372036854775808', { view: 'stock' }],
  ['#/pets/abc', { view: 'stock' }],
  ['', { view: 'stock' }],
] as const)('%j leads to %p', (hash, route) => {
  expect(routeOf(hash)).toEqual(route)
  if (hash !== '' && route.view !== 'stock') expect(href(route)).toBe(hash)
})

test('a name with commas, quotes and line ends is one field', () => {
  const state = { status: 'sold', quantity: 3, reserved: 0, lowStockAt: undefined } as const
  const row = { petId: 1n, categoryId: 2n, searchText: '', ...state }
  const stock = new StockModel()
  stock.barcodes.take([{ petId: 1n, barcode: '4006381333931' }])
  expect(csvOf([{ ...row, name: 'a "b", c\nd' }], stock)).toBe(
    'petId,name,categoryId,status,quantity,lowStockAt,barcode\r\n1,"a ""b"", c\nd",2,sold,3,,4006381333931\r\n',
  )
})
