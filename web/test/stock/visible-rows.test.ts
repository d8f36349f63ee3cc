import { expect, test } from 'bun:test'
import { searchable } from '../../src/stock-page/stock/search-text.ts'
import type { StockRow } from '../../src/stock-page/stock/stock-model.ts'
import { NO_FILTER, type Sort, type TableFilter } from '../../src/stock-page/table/table-state.ts'
import { VisibleRows } from '../../src/stock-page/table/visible-rows.ts'

function row(
  petId: bigint,
  name: string | undefined,
  quantity: number,
  status: StockRow['status'],
): StockRow {
  const categoryId = name === undefined ? undefined : petId % 2n
  return { petId, name, categoryId, status, quantity, searchText: searchable(name, petId) }
}

const ROWS = [
  row(-3n, 'zebra finch', 4, 'sold'),
  row(1n, 'Beagle', 9, 'available'),
  row(2n, undefined, 1, 'pending'),
  row(9007199254740993n, 'Ärmel', 9, 'available'),
  row(9223372036854775807n, 'beagle', 0, 'pending'),
]

interface Setup {
  readonly filter?: Partial<TableFilter>
  readonly sort?: Partial<Sort>
  readonly kept?: readonly bigint[]
}

function wanted({ filter, sort, kept = [] }: Setup = {}) {
  return {
    filter: { ...NO_FILTER, ...filter },
    sort: { column: 'petId' as const, isDescending: false, ...sort },
    threshold: 4,
    kept: new Set(kept),
  }
}

const places = (shown: readonly StockRow[]) => shown.map((one) => ROWS.indexOf(one))
const shown = (setup: Setup) => places(new VisibleRows().of({ rows: ROWS, structure: 1 }, wanted(setup)))

test.each([
  ['petId', false, [0, 1, 2, 3, 4]],
  ['petId', true, [4, 3, 2, 1, 0]],
  // Without case and marks; of two equal names the smaller id first; the one without a name is last either way.
  ['name', false, [3, 1, 4, 0, 2]],
  ['name', true, [0, 4, 1, 3, 2]],
  ['quantity', false, [4, 2, 0, 1, 3]],
  ['status', false, [1, 3, 2, 4, 0]],
] as const)('sorts by %s, descending: %p', (column, isDescending, expected) => {
  expect(shown({ sort: { column, isDescending } })).toEqual([...expected])
})

test.each([
  [{ query: 'BEAGLE' }, [1, 4]],
  [{ query: 'gle bea' }, [1, 4]],
  [{ query: 'armel' }, [3]],
  [{ query: '775807' }, [4]],
  [{ query: 'finch-3' }, []],
  [{ query: '  ' }, [0, 1, 2, 3, 4]],
  [{ status: 'pending' }, [2, 4]],
  [{ lowOnly: true }, [0, 2, 4]],
  [{ lowOnly: true, status: 'pending', query: 'bea' }, [4]],
] as const)('the filter %j leaves %j', (filter, expected) => {
  expect(shown({ filter })).toEqual([...expected])
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
