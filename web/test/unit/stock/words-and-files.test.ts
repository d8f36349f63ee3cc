import { expect, test } from 'bun:test'
import { csvOf } from '../../../src/staff-page/data/catalog-export.ts'
import { readPetFile } from '../../../src/staff-page/import/pet-file.ts'
import { readQuantity } from '../../../src/staff-page/quantity/typed-change.ts'
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

test('an export has every column, guards formulas, and is imported unchanged', () => {
  const pet = {
    id: 1n,
    categoryId: 2n,
    status: 'sold',
    quantity: 3,
    barcode: '-12',
    lowStockAt: 4,
    metadata: null,
  } as const
  const pets = [
    { ...pet, name: 'a "b", c', category: '@home' },
    { ...pet, id: 2n, name: "'=1+1", category: 'Dogs', barcode: '13' },
  ]
  const text = csvOf(pets)
  expect(text).toBe(
    [
      'petId,name,categoryId,status,quantity,barcode,lowStockAt,metadata,category',
      '1,"a ""b"", c",2,sold,3,\'-12,4,,\'@home',
      "2,''=1+1,2,sold,3,13,4,,Dogs",
      '',
    ].join('\n'),
  )
  const file = readPetFile('pets.csv', new TextEncoder().encode(text))
  expect(file.lines.map((line) => line.pet)).toEqual(pets)
  expect(file.hasGuards).toBe(true)
})
