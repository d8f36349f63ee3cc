// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names its active row
// biome-ignore-all lint/a11y/useSemanticElements: a <table> cannot leave out the rows that are not visible
import {
  type CSSProperties,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
} from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import { isLow } from '../data/stock/is-low.ts'
import { shownQuantity } from '../data/stock/stock-editor.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { COLUMN_NAMES, type SortColumn } from '../data/stock/table-state.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { useMediaQuery } from '../ui/hooks.ts'
import { actionOf } from './grid-machine.ts'
import { useRowWindow } from './row-window.ts'
import { type RowActions, rowId, StockTableRow } from './stock-row.tsx'
import type { Grid, GridScreen, TableActions } from './use-grid.ts'

interface Props {
  readonly rows: readonly StockRow[]
  readonly table: TableActions
  readonly grid: Grid
  readonly hasMore: boolean
  readonly onNearEnd: () => void
}

const ROW_PX = { wide: 44, coarse: 52, narrow: 84 }
const HEADER_PX = { wide: 40, coarse: 40, narrow: 0 }
const DIGIT_REM = 0.5625
/** Screens on which the toolbar scrolls away with the rows. */
const SHORT = '(max-height: 34rem)'
export const NARROW = '(max-width: 47.99rem)'
const NEAR_END_ROWS = 100

/** An ARIA grid that renders only the visible rows. It has the focus, and names its active row. */
export function StockGrid({ rows, table, grid: { editing, input, screen }, hasMore, onNearEnd }: Props) {
  const session = useSession()
  const { recentlyChanged } = useStock()
  const { selected, active, filter } = useReadable(session.table)
  const edits = useReadable(session.editor)
  const categories = useReadable(session.categories)
  const mayChange = useMayChange('stock')
  const isNarrow = useMediaQuery(NARROW)
  const isCoarse = useMediaQuery('(pointer: coarse)')
  const size = isNarrow ? 'narrow' : isCoarse ? 'coarse' : 'wide'
  const rowHeight = ROW_PX[size]
  const isShort = useMediaQuery(SHORT)
  const grid = useRef<HTMLDivElement>(null)
  const headerHeight = HEADER_PX[size]
  const view = useRowWindow(grid, { count: rows.length, rowHeight, headerHeight, scrollsPage: isShort })
  const { reveal, top, fitting } = view
  const indexOf = (petId: bigint | undefined) =>
    petId === undefined ? -1 : rows.findIndex((row) => row.petId === petId)
  const activeIndex = useMemo(() => indexOf(active), [rows, active])
  const idWidth = useMemo(() => widthOfIds(rows), [rows])

  useImperativeHandle(
    screen,
    (): GridScreen => ({ top, fitting, reveal, focus: () => grid.current?.focus({ preventScroll: true }) }),
    [top, fitting, reveal],
  )
  const rowActions = useMemo<RowActions>(
    () => ({
      editor: session.editor,
      input,
      focusGrid: () => grid.current?.focus({ preventScroll: true }),
      toggle: (petId, isRange) => {
        table.toggle(petId, isRange)
        input({ kind: 'pointed', petId })
      },
    }),
    [session, table, input],
  )

  // A user who returns to the table finds the active row, and the focus unless it is in another control.
  useEffect(() => {
    if (activeIndex === -1) return
    reveal(activeIndex)
    if (document.activeElement?.contains(grid.current)) grid.current?.focus({ preventScroll: true })
  }, [])

  // Another filter starts at the top.
  const lastFilter = useRef(filter)
  useLayoutEffect(() => {
    if (lastFilter.current !== filter) reveal(0)
    lastFilter.current = filter
  }, [filter, reveal])

  const isNearEnd = hasMore && view.end > rows.length - NEAR_END_ROWS
  useEffect(() => {
    if (isNearEnd) onNearEnd()
  }, [isNearEnd, rows.length])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== grid.current || actionOf(event) === undefined) return
    event.preventDefault()
    input({ kind: 'key', pressed: event })
  }
  const onFocus = (event: FocusEvent) => {
    if (event.target === grid.current) input({ kind: 'entered' })
  }

  const rendered = Array.from(
    { length: Math.max(0, view.end - view.first) },
    (_, offset) => view.first + offset,
  )
  const editedIndex = indexOf(editing?.row.petId)
  // The edited row stays, however far the user scrolls.
  if (editedIndex !== -1 && !rendered.includes(editedIndex)) rendered.push(editedIndex)
  const isActiveRendered = rendered.includes(activeIndex)

  return (
    <div
      ref={grid}
      className={mayChange ? 'stock-grid' : 'stock-grid stock-grid--read-only'}
      role="grid"
      tabIndex={0}
      aria-label="Stock"
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      aria-colcount={8}
      aria-multiselectable={mayChange}
      aria-activedescendant={isActiveRendered && active !== undefined ? rowId(active) : undefined}
      style={{ '--row-height': `${rowHeight}px`, '--id-width': idWidth } as CSSProperties}
      onKeyDown={onKeyDown}
      onFocus={onFocus}
    >
      <GridHeader rows={rows} table={table} />
      <div role="rowgroup" className="stock-grid__rows" style={{ height: rows.length * rowHeight }}>
        {rendered.map((index) => {
          const row = rows[index]
          if (row === undefined) return null
          const { petId } = row
          const state = edits.get(petId)
          const quantity = shownQuantity(row, state)
          return (
            <StockTableRow
              // A row that scrolls out of sight hands its elements to one that scrolls in.
              key={editing?.row.petId === petId ? 'edited' : index % view.most}
              row={row}
              quantity={quantity}
              index={index}
              top={index * rowHeight}
              isActive={petId === active}
              isSelected={selected.has(petId)}
              mayChange={mayChange}
              isLow={isLow({ ...row, quantity }, categories)}
              changedAt={recentlyChanged.get(petId)}
              state={state}
              typed={editing?.row.petId === petId ? editing : undefined}
              actions={rowActions}
            />
          )
        })}
      </div>
    </div>
  )
}

function GridHeader({ rows, table }: Pick<Props, 'rows' | 'table'>) {
  const { selected } = useReadable(useSession().table)
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
        <SortHeader column="name" className="stock-row__name" onSort={table.sortBy} />
        <SortHeader column="petId" className="stock-row__id" onSort={table.sortBy} />
        <div role="columnheader" className="stock-row__category">
          Category
        </div>
        <div role="columnheader" className="stock-row__status">
          Status
        </div>
        <div role="columnheader" className="stock-row__state">
          <span className="visually-hidden">State</span>
        </div>
        <SortHeader column="free" className="stock-row__free" onSort={table.sortBy} />
        <SortHeader column="quantity" className="stock-row__quantity" onSort={table.sortBy} />
      </div>
    </div>
  )
}

interface SortHeaderProps {
  readonly column: SortColumn
  readonly className: string
  readonly onSort: (column: SortColumn) => void
}

function SortHeader({ column, className, onSort }: SortHeaderProps) {
  const { sort } = useReadable(useSession().table)
  const isSorted = sort.column === column
  const direction = sort.isDescending ? 'descending' : 'ascending'
  return (
    <div role="columnheader" aria-sort={isSorted ? direction : undefined} className={className}>
      <button type="button" className="stock-header__sort" onClick={() => onSort(column)}>
        {COLUMN_NAMES[column]}
        {isSorted && <Icon name={direction} size={12} />}
      </button>
    </div>
  )
}

/** As wide as the longest id and the name of the column. */
function widthOfIds(rows: readonly StockRow[]): string {
  let [least, greatest] = [0n, 0n]
  for (const { petId } of rows) {
    if (petId < least) least = petId
    if (petId > greatest) greatest = petId
  }
  const digits = Math.max(String(least).length, String(greatest).length)
  return `${Math.max(3, DIGIT_REM * digits)}rem`
}
