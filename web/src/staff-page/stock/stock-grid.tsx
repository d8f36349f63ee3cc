// biome-ignore-all lint/a11y/useSemanticElements: a <table> cannot leave out the rows that are not in sight
import {
  type CSSProperties,
  type KeyboardEvent,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
} from 'react'
import { useReadable } from '../data/observable.ts'
import { isLow } from '../data/stock/is-low.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { useMediaQuery } from '../ui/hooks.ts'
import { GridHeader } from './grid-header.tsx'
import { actionOf } from './grid-keys.ts'
import { useRowWindow } from './row-window.ts'
import { type RowActions, rowId, StockTableRow } from './stock-row.tsx'
import type { Grid, GridScreen } from './use-grid.ts'
import type { TableActions } from './use-table.ts'

interface Props {
  readonly rows: readonly StockRow[]
  readonly table: TableActions
  readonly grid: Grid
}

const ROW_PX = { wide: 44, coarse: 52, narrow: 84 }
const HEADER_PX = { wide: 40, coarse: 40, narrow: 0 }
const DIGIT_REM = 0.5625
/** So low that the tools scroll away with the rows. */
const SHORT = '(max-height: 34rem)'
export const NARROW = '(max-width: 47.99rem)'

/** The table: an ARIA grid that draws only the rows in sight. It has the focus, and names its active row. */
export function StockGrid({ rows, table, grid: { editing, input, screen } }: Props) {
  const session = useSession()
  const { recentlyChanged, rows: all } = useStock()
  const { selected, active } = useReadable(session.table)
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

  useImperativeHandle(
    screen,
    (): GridScreen => ({ top, fitting, reveal, focus: () => grid.current?.focus({ preventScroll: true }) }),
    [top, fitting, reveal],
  )
  const rowActions = useMemo<RowActions>(
    () => ({
      editor: session.editor,
      input,
      toggle: (petId, isRange) => {
        table.toggle(petId, isRange)
        input({ kind: 'pointed', petId })
      },
    }),
    [session, table, input],
  )

  // Coming back to the table finds the row where it was left, and the focus unless it is somewhere else, as in the
  // search; after that the keys see to it.
  useEffect(() => {
    if (activeIndex === -1) return
    reveal(activeIndex)
    if (document.activeElement?.contains(grid.current)) grid.current?.focus({ preventScroll: true })
  }, [])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== grid.current || actionOf(event) === undefined) return
    event.preventDefault()
    input({ kind: 'key', pressed: event })
  }
  const onFocus = (event: { readonly target: EventTarget }) => {
    if (event.target === grid.current) input({ kind: 'entered' })
  }

  const drawn = range(view.first, view.end)
  const editedIndex = indexOf(editing?.row.petId)
  // What is being edited stays, however far away one scrolls.
  if (editedIndex !== -1 && !drawn.includes(editedIndex)) drawn.push(editedIndex)
  const isActiveDrawn = drawn.includes(activeIndex)

  return (
    <div
      ref={grid}
      className={mayChange ? 'stock-grid' : 'stock-grid stock-grid--read-only'}
      role="grid"
      tabIndex={0}
      aria-label="Stock"
      aria-rowcount={rows.length + 1}
      aria-colcount={7}
      aria-multiselectable={mayChange}
      aria-activedescendant={isActiveDrawn && active !== undefined ? rowId(active) : undefined}
      style={{ '--row-height': `${rowHeight}px`, '--id-width': idWidth(all) } as CSSProperties}
      onKeyDown={onKeyDown}
      onFocus={onFocus}
    >
      <GridHeader rows={rows} table={table} />
      <div role="rowgroup" className="stock-grid__rows" style={{ height: view.height }}>
        {drawn.map((index) => {
          const row = rows[index]
          if (row === undefined) return null
          const { petId } = row
          const state = edits.get(petId)
          const shown = state?.kind === 'saving' ? { ...row, quantity: state.target } : row
          return (
            <StockTableRow
              // A row that scrolls out of sight lends its elements to the one that scrolls in.
              key={editing?.row.petId === petId ? 'edited' : index % view.most}
              row={row}
              index={index}
              top={view.topOf(index)}
              isActive={petId === active}
              isSelected={selected.has(petId)}
              mayChange={mayChange}
              isLow={isLow(shown, categories)}
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

/** As wide as the longest id of rows that are sorted by it, and as its column's name. */
function idWidth(all: readonly StockRow[]): string {
  const digits = [all[0], all.at(-1)].map((row) => String(row?.petId ?? '').length)
  return `${Math.max(3, DIGIT_REM * Math.max(...digits))}rem`
}

function range(first: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - first) }, (_, offset) => first + offset)
}
