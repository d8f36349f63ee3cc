import { type CSSProperties, useMemo } from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import { isLow } from '../data/stock/free-units.ts'
import { shownQuantity } from '../data/stock/stock-editor.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { COLUMN_NAMES, type SortColumn } from '../data/stock/table-state.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { useMediaQuery } from '../ui/hooks.ts'
import { type RowActions, StockTableRow, type TableSize } from './stock-row.tsx'
import type { TableActions } from './use-table.ts'

export function useTableSize(isPrinting: boolean): TableSize {
  const isNarrow = useMediaQuery('(max-width: 47.99rem)')
  const isWide = useMediaQuery('(min-width: 80rem)')
  if (isWide || isPrinting) return 'wide'
  return isNarrow ? 'narrow' : 'medium'
}

interface Props {
  /** The rows of this page. */
  readonly rows: readonly StockRow[]
  readonly size: TableSize
  /** Thousands of fields would take a browser many seconds. */
  readonly isPrinting: boolean
  readonly table: TableActions
  readonly goTo: RowActions['goTo']
  readonly onTyping: RowActions['onTyping']
}

/** The stock as a table. Quantities are edited in their fields. */
export function StockTable({ rows, size, isPrinting, table, goTo, onTyping }: Props) {
  const session = useSession()
  const { recentlyChanged } = useStock()
  const { selected } = useReadable(session.table)
  const edits = useReadable(session.editor)
  const categories = useReadable(session.categories)
  const mayChange = useMayChange('stock') && !isPrinting
  const actions = useMemo<RowActions>(() => ({ table, goTo, onTyping }), [table, goTo, onTyping])
  return (
    <table className={`table stock-table stock-table--${size}`} aria-label="Stock">
      {size !== 'narrow' && <TableHead rows={rows} size={size} table={table} />}
      <tbody>
        {rows.map((row) => {
          const state = edits.get(row.petId)
          const quantity = shownQuantity(row, state)
          return (
            <StockTableRow
              key={String(row.petId)}
              row={row}
              size={size}
              quantity={quantity}
              isSelected={selected.has(row.petId)}
              mayChange={mayChange}
              isLow={isLow({ ...row, quantity }, categories)}
              isMarked={recentlyChanged.has(row.petId)}
              state={state}
              actions={actions}
            />
          )
        })}
      </tbody>
    </table>
  )
}

function TableHead({ rows, size, table }: Pick<Props, 'rows' | 'size' | 'table'>) {
  const { selected } = useReadable(useSession().table)
  const mayChange = useMayChange('stock')
  const count = rows.filter(({ petId }) => selected.has(petId)).length
  const isAll = count === rows.length
  return (
    <thead>
      <tr>
        <th scope="col" className="stock-table__select">
          {mayChange && (
            <label className="stock-table__check">
              <input
                type="checkbox"
                className="checkbox"
                aria-label="Select all rows of this page"
                checked={isAll}
                ref={(box) => {
                  if (box !== null) box.indeterminate = count > 0 && !isAll
                }}
                onChange={() => (isAll ? table.clearSelection() : table.selectAll(rows))}
              />
            </label>
          )}
        </th>
        <SortHeader column="name" onSort={table.sortBy} />
        {size === 'wide' && (
          <>
            <SortHeader column="petId" onSort={table.sortBy} style={{ width: widthOfIds(rows) }} />
            <th scope="col" className="stock-table__category">
              Category
            </th>
            <th scope="col" className="stock-table__status">
              Status
            </th>
          </>
        )}
        <th scope="col" className="stock-table__state">
          {size === 'wide' ? <span className="visually-hidden">State</span> : 'Status'}
        </th>
        <SortHeader column="free" onSort={table.sortBy} />
        <SortHeader column="quantity" onSort={table.sortBy} />
      </tr>
    </thead>
  )
}

interface SortHeaderProps {
  readonly column: SortColumn
  readonly style?: CSSProperties
  readonly onSort: (column: SortColumn) => void
}

function SortHeader({ column, style = {}, onSort }: SortHeaderProps) {
  const { sort } = useReadable(useSession().table)
  const isSorted = sort.column === column
  const direction = sort.isDescending ? 'descending' : 'ascending'
  return (
    <th
      scope="col"
      aria-sort={isSorted ? direction : undefined}
      className={`stock-table__${column}`}
      style={style}
    >
      <button type="button" className="stock-table__sort" onClick={() => onSort(column)}>
        {COLUMN_NAMES[column]}
        {isSorted && <Icon name={direction} size={12} />}
      </button>
    </th>
  )
}

/** As wide as the longest id, with the space around it. */
function widthOfIds(rows: readonly StockRow[]): string {
  return `${2 + 0.5625 * Math.max(4, ...rows.map(({ petId }) => String(petId).length))}rem`
}
