import { expect, test } from 'bun:test'
import type { CategoryList } from '../../../src/staff-page/data/catalog/category-list.ts'
import { isLow } from '../../../src/staff-page/data/stock/free-units.ts'
import { searchable } from '../../../src/staff-page/data/stock/search-text.ts'
import type { StockRow } from '../../../src/staff-page/data/stock/stock-model.ts'
import { NO_FILTER, type Sort, type TableFilter } from '../../../src/staff-page/data/stock/table-state.ts'
import { bestMatch, VisibleRows } from '../../../src/staff-page/stock/visible-rows.ts'

function row(
  petId: bigint,
  name: string | undefined,
  quantity: number,
  status: StockRow['status'],
): StockRow {
  const categoryId = name === undefined ? undefined : petId % 2n
  const searchText = searchable(name)
  const reserved = status === 'sold' ? 6 : 0
  return { petId, name, categoryId, lowStockAt: undefined, status, quantity, reserved, searchText }
}

const ROWS = [
  row(-3n, 'zebra finch', 4, 'sold'),
  row(1n, 'Beagle', 9, 'available'),
  row(2n, undefined, 1, 'pending'),
  row(9007199254740993n, 'Ärmel', 9, 'available'),
  row(9223372036854775807n, 'beagle', 0, 'pending'),
]

/** The ids the other way round than the names. */
const CATEGORIES: CategoryList = {
  isKnown: true,
  byId: new Map([
    [-1n, { id: -1n, name: 'Zoo', lowStockAt: 4 }],
    [1n, { id: 1n, name: 'aviary', lowStockAt: 0 }],
  ]),
}

interface Setup {
  readonly filter?: Partial<TableFilter>
  readonly sort?: Partial<Sort>
  readonly kept?: readonly bigint[]
}

function wanted({ filter, sort, kept = [] }: Setup = {}) {
  return {
    filter: { ...NO_FILTER, ...filter },
    sort: { column: 'petId' as const, isDescending: false, ...sort },
    categories: CATEGORIES,
    scanned: undefined as bigint | undefined,
    kept: new Set(kept),
  }
}

const places = (shown: readonly StockRow[]) => shown.map((one) => ROWS.indexOf(one))
const shown = (setup: Setup) => places(new VisibleRows().of({ rows: ROWS, structure: 1 }, wanted(setup)))

test.each([
  ['petId', false, [0, 1, 2, 3, 4]],
  ['petId', true, [4, 3, 2, 1, 0]],
  // Without case and marks; of two equal names the smaller id comes first.
  ['name', false, [2, 3, 1, 4, 0]],
  ['name', true, [0, 4, 1, 3, 2]],
  ['quantity', false, [4, 2, 0, 1, 3]],
  ['free', false, [0, 4, 2, 1, 3]],
] as const)('sorts by %s, descending: %p', (column, isDescending, expected) => {
  expect(shown({ sort: { column, isDescending } })).toEqual([...expected])
})

test.each([
  [{ query: 'BEAGLE' }, [1, 4]],
  [{ query: 'fin zeb' }, [0]],
  [{ query: 'eagle' }, []],
  [{ query: 'armel' }, [3]],
  [{ query: '9223372036854775807' }, [4]],
  [{ query: '?' }, []],
  [{ query: 'finch-3' }, []],
  [{ query: '  ' }, [0, 1, 2, 3, 4]],
  [{ status: 'pending' }, [2, 4]],
  [{ lowOnly: true }, [0, 4]],
  [{ lowOnly: true, status: 'pending', query: 'bea' }, [4]],
] as const)('the filter %j leaves %j', (filter, expected) => {
  expect(shown({ filter })).toEqual([...expected])
})

test('the filter by category leaves its pets', () => {
  expect(shown({ filter: { categoryId: 1n } })).toEqual([1, 3, 4])
  expect(shown({ filter: { categoryId: 9n } })).toEqual([])
})

test('low is what is available, by the threshold of its own before that of its category', () => {
  const low = (more: Partial<StockRow>) =>
    isLow({ ...row(-3n, 'finch', 9, 'available'), ...more }, CATEGORIES)
  expect([low({}), low({ reserved: 4 }), low({ reserved: 5 })]).toEqual([false, false, true])
  expect([low({ lowStockAt: 9 }), low({ lowStockAt: 0, quantity: 1 })]).toEqual([true, false])
  expect(low({ categoryId: 77n, quantity: 0 })).toBe(false)
})

test('a row that somebody is at work on stays, whatever the filter says', () => {
  expect(shown({ filter: { query: 'beagle' }, kept: [2n] })).toEqual([1, 2, 4])
})

test('a change of quantity does not move a row, until the order or the filter is chosen anew', () => {
  const visible = new VisibleRows()
  const byQuantity = wanted({ sort: { column: 'quantity' } })
  expect(places(visible.of({ rows: ROWS, structure: 1 }, byQuantity))).toEqual([4, 2, 0, 1, 3])

  const changed = ROWS.map((one) => (one.petId === 2n ? { ...one, quantity: 100 } : one))
  const ids = (setup: typeof byQuantity, structure: number) =>
    visible.of({ rows: changed, structure }, setup).map(({ petId }) => petId)
  expect(ids(byQuantity, 1)[1]).toBe(2n)
  expect(ids({ ...byQuantity, sort: { ...byQuantity.sort } }, 1).at(-1)).toBe(2n)
})

test('what did not change is the very same array, so that nothing is drawn anew', () => {
  const visible = new VisibleRows()
  const setup = wanted({ filter: { status: 'pending' } })
  const first = visible.of({ rows: ROWS, structure: 1 }, setup)
  expect(visible.of({ rows: ROWS, structure: 1 }, { ...setup, kept: new Set<bigint>() })).toBe(first)
})

test('what is scanned is found by its barcode, and Enter goes to an exact id or barcode before the first match', () => {
  const scanned = { ...wanted({ filter: { query: '4006381333931' } }), scanned: 2n }
  expect(places(new VisibleRows().of({ rows: ROWS, structure: 1 }, scanned))).toEqual([2])
  expect(bestMatch(ROWS, scanned)?.petId).toBe(2n)
  expect(bestMatch(ROWS, wanted({ filter: { query: '2' } }))?.petId).toBe(2n)
  expect(bestMatch(ROWS, wanted({ filter: { query: ' -3' } }))?.petId).toBe(-3n)
  expect(bestMatch(ROWS, wanted({ filter: { query: '3' } }))?.petId).toBe(-3n)
  expect(bestMatch([], wanted({ filter: { query: 'no such' } }))).toBeUndefined()
})
