import { expect, test } from 'bun:test'
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
