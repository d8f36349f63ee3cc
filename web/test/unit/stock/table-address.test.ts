import { expect, test } from 'bun:test'
import { FIRST_TABLE_STATE } from '../../../src/staff-page/data/stock/table-state.ts'
import { queryOf, readQuery } from '../../../src/staff-page/stock/table-address.ts'

test('what is searched for comes back from the address as it was', () => {
  const filter = { query: 'Pérez & 50 % #1?', status: 'sold', categoryId: -7n, lowOnly: true } as const
  const sort = { column: 'quantity', isDescending: true } as const
  expect(readQuery(queryOf(filter, sort))).toEqual({ filter, sort })
})

test('a table as it is at first needs no words, and an address that nobody understands gives that one', () => {
  const { filter, sort } = FIRST_TABLE_STATE
  expect(queryOf(filter, sort)).toBe('')
  for (const text of ['', 'status=lost&sort=-price&low=1', '%E0%A4%A', 'sort=-', 'category=x']) {
    expect(readQuery(text)).toEqual({ filter, sort })
  }
})
