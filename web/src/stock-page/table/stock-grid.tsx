// biome-ignore-all lint/a11y/useSemanticElements: a <table> cannot leave out the rows that are not in sight
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef } from 'react'
import { useMediaQuery } from '../media-query.ts'
import { goTo } from '../navigation.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { useLowStockThreshold } from '../stock/low-stock.ts'
import { useReadable } from '../stock/observable.ts'
import type { EditState } from '../stock/stock-editor.ts'
import type { StockRow } from '../stock/stock-model.ts'
import { GridHeader } from './grid-header.tsx'
import { actionOf, type GridAction } from './grid-keys.ts'
import { useRowWindow } from './row-window.ts'
import { type RowActions, rowId, StockTableRow } from './stock-row.tsx'
import type { RowEditing } from './use-row-editing.ts'
import type { TableActions } from './use-table.ts'

interface Props {
  readonly rows: readonly StockRow[]
  readonly table: TableActions
  readonly rowEditing: RowEditing
}

/** Must be what stock-page.css says. */
const ROW_PX = { wide: 44, narrow: 84 }
const HEADER_PX = { wide: 40, narrow: 0 }
export const NARROW = '(max-width: 47.99rem)'

/** The table: an ARIA grid that draws only the rows in sight. It has the focus, and names its active row. */
export function StockGrid({ rows, table, rowEditing }: Props) {
  const session = useSession()
  const { recentlyChanged } = useStock()
  const { selected, active } = useReadable(session.table)
  const edits = useReadable(session.editor)
  const threshold = useLowStockThreshold()
  const size = useMediaQuery(NARROW) ? 'narrow' : 'wide'
  const rowHeight = ROW_PX[size]
  const scroller = useRef<HTMLDivElement>(null)
  const view = useRowWindow(scroller, rows.length, rowHeight, HEADER_PX[size])
  const { reveal } = view
  const activeIndex = useMemo(
    () => (active === undefined ? -1 : rows.findIndex(({ petId }) => petId === active)),
    [rows, active],
  )

  const focusGrid = useCallback(() => scroller.current?.focus({ preventScroll: true }), [])
  const { editing, begin, end } = rowEditing
  const rowActions = useMemo<RowActions>(
    () => ({
      editor: session.editor,
      activate: (petId) => {
        table.activate(petId)
        focusGrid()
      },
      toggle: (petId, isRange) => {
        table.toggle(petId, isRange)
        focusGrid()
      },
      edit: (petId) => {
        const row = session.stock.find(petId)
        if (row === undefined) return
        table.activate(petId)
        begin(row)
      },
      endEditing: end,
    }),
    [session, table, begin, end, focusGrid],
  )

  // Coming back to the table finds the row where it was left, and the focus unless it is somewhere else, as in the
  // search; after that the keys see to it.
  useEffect(() => {
    if (activeIndex === -1) return
    reveal(activeIndex)
    if (document.activeElement?.contains(scroller.current)) focusGrid()
  }, [])

  const goToRow = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))]
    if (row === undefined) return
    table.activate(row.petId)
    reveal(rows.indexOf(row))
  }
  const act = (action: GridAction) => {
    const row = rows[activeIndex]
    switch (action.kind) {
      case 'move':
        return goToRow(activeIndex === -1 ? 0 : activeIndex + action.by)
      case 'page':
        return goToRow(activeIndex + action.by * view.fitting)
      case 'first':
        return goToRow(0)
      case 'last':
        return goToRow(rows.length - 1)
      case 'selectAll':
        return table.selectAll(rows)
      case 'escape':
        return row !== undefined && isUnsettled(edits.get(row.petId))
          ? session.editor.dismiss(row.petId)
          : table.clearSelection()
    }
    if (row === undefined) return
    reveal(activeIndex)
    if (action.kind === 'edit') begin(row)
    else if (action.kind === 'type') begin(row, action.digit)
    else if (action.kind === 'step') void session.editor.step(row.petId, action.delta)
    else if (action.kind === 'toggle') table.toggle(row.petId, false)
    else goTo({ view: 'pet', petId: row.petId })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const action = event.target === scroller.current ? actionOf(event) : undefined
    if (action === undefined) return
    event.preventDefault()
    act(action)
  }
  const onFocus = () => {
    if (activeIndex === -1 && rows[view.first] !== undefined) table.activate(rows[0]?.petId)
  }

  const drawn = range(view.first, view.end)
  const editedIndex = editing === undefined ? -1 : rows.findIndex(({ petId }) => petId === editing.row.petId)
  // What is being edited stays, however far away one scrolls.
  if (editedIndex !== -1 && !drawn.includes(editedIndex)) drawn.push(editedIndex)
  const isActiveDrawn = drawn.includes(activeIndex)

  return (
    <div
      ref={scroller}
      className="stock-grid"
      role="grid"
      tabIndex={0}
      aria-label="Stock"
      aria-rowcount={rows.length + 1}
      aria-colcount={7}
      aria-multiselectable="true"
      aria-activedescendant={isActiveDrawn && active !== undefined ? rowId(active) : undefined}
      onKeyDown={onKeyDown}
      onFocus={onFocus}
    >
      <GridHeader rows={rows} table={table} />
      <div role="rowgroup" className="stock-grid__rows" style={{ height: rows.length * rowHeight }}>
        {drawn.map((index) => {
          const row = rows[index]
          if (row === undefined) return null
          const { petId } = row
          return (
            <StockTableRow
              // A row that scrolls out of sight lends its elements to the one that scrolls in.
              key={editing?.row.petId === petId ? 'edited' : index % view.most}
              row={row}
              index={index}
              top={index * rowHeight}
              isActive={petId === active}
              isSelected={selected.has(petId)}
              threshold={threshold}
              changedAt={recentlyChanged.get(petId)}
              state={edits.get(petId)}
              typed={editing?.row.petId === petId ? editing : undefined}
              actions={rowActions}
            />
          )
        })}
      </div>
    </div>
  )
}

/** It waits for the user to choose. */
function isUnsettled(state: EditState | undefined): boolean {
  return state?.kind === 'failed' || state?.kind === 'conflict'
}

function range(first: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - first) }, (_, offset) => first + offset)
}
