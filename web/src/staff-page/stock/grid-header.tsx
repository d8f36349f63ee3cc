// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names its active row
// biome-ignore-all lint/a11y/useSemanticElements: a <table> cannot leave out the rows that are not in sight
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { COLUMN_NAMES, type Sort, type SortColumn } from '../data/stock/table-state.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import type { TableActions } from './use-table.ts'

/** Those before the state of a row; the quantity stands behind it. */
const COLUMNS: readonly SortColumn[] = ['name', 'petId', 'category', 'status']

interface Props {
  readonly rows: readonly StockRow[]
  readonly table: TableActions
}

/** Sorts by a column, and selects all that is shown. */
export function GridHeader({ rows, table }: Props) {
  const { sort, selected } = useReadable(useSession().table)
  const mayChange = useMayChange('stock')
  const isAll =
    rows.length > 0 && selected.size >= rows.length && rows.every(({ petId }) => selected.has(petId))
  const isSome = selected.size > 0 && !isAll
  return (
    <div role="rowgroup" className="stock-grid__header">
      <div role="row" aria-rowindex={1} className="stock-header">
        <div role="columnheader" className="stock-row__select">
          {mayChange && (
            <label className="stock-row__check">
              <input
                type="checkbox"
                className="checkbox"
                aria-label="Select all rows shown"
                checked={isAll}
                ref={(box) => {
                  if (box !== null) box.indeterminate = isSome
                }}
                onChange={() => (isAll ? table.clearSelection() : table.selectAll(rows))}
              />
            </label>
          )}
        </div>
        {COLUMNS.map((column) => (
          <SortHeader key={column} column={column} sort={sort} onSort={table.sortBy} />
        ))}
        <div role="columnheader" className="stock-row__state">
          <span className="visually-hidden">State</span>
        </div>
        <SortHeader column="quantity" sort={sort} onSort={table.sortBy} />
      </div>
    </div>
  )
}

interface SortHeaderProps {
  readonly column: SortColumn
  readonly sort: Sort
  readonly onSort: (column: SortColumn) => void
}

function SortHeader({ column, sort, onSort }: SortHeaderProps) {
  const isSorted = sort.column === column
  const direction = sort.isDescending ? 'descending' : 'ascending'
  return (
    <div
      role="columnheader"
      aria-sort={isSorted ? direction : undefined}
      className={`stock-row__${column === 'petId' ? 'id' : column}`}
    >
      <button type="button" className="stock-header__sort" onClick={() => onSort(column)}>
        {COLUMN_NAMES[column]}
        {isSorted && <Icon name={direction} size={12} />}
      </button>
    </div>
  )
}
