import { useEffect, useRef, useState } from 'react'
import { categoryName } from '../data/catalog/category-list.ts'
import { useReadable } from '../data/observable.ts'
import { isFiltering } from '../data/stock/table-state.ts'
import { undoAndTell } from '../quantity/save-and-tell.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { isTyping, useMediaQuery } from '../ui/hooks.ts'
import { BulkBar } from './bulk-bar.tsx'
import { ChangeAnnouncer } from './change-announcer.tsx'
import type { Editing } from './grid-machine.ts'
import { KeyHelp } from './key-help.tsx'
import { PrintedStock } from './printed-stock.tsx'
import { SortChoice } from './sort-choice.tsx'
import { NARROW, StockGrid } from './stock-grid.tsx'
import { Toolbar } from './toolbar.tsx'
import { useAddress } from './use-address.ts'
import { useFinding } from './use-finding.ts'
import { useGrid } from './use-grid.ts'
import { useShownRows } from './use-shown-rows.ts'
import { useTable } from './use-table.ts'

const SKELETON_ROWS = 12

/** The stock of the store: find a pet, correct its quantity. */
export function StockView() {
  const session = useSession()
  const stock = useStock()
  const openOrders = useReadable(session.openOrders)
  const categories = useReadable(session.categories)
  const mayChange = useMayChange('stock')
  const isNarrow = useMediaQuery(NARROW)
  const view = useRef<HTMLElement>(null)
  const editing = useState<Editing>()
  const shown = useShownRows(editing[0]?.row.petId)
  const { rows } = shown
  const table = useTable(rows)
  const grid = useGrid(shown, table, editing)
  const leaveTable = () => view.current?.focus({ preventScroll: true })
  const find = useFinding({ shown, table, grid, leaveTable })
  useAddress()
  const [isHelping, setHelping] = useState(false)
  const search = useRef<HTMLInputElement>(null)

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.altKey) return
      const isCommand = event.ctrlKey || event.metaKey
      if (isCommand && event.key === 'z' && !event.shiftKey) void undoAndTell(session)
      else if (!isCommand && event.key === '/') {
        search.current?.focus()
        search.current?.select()
      } else if (!isCommand && event.key === '?') setHelping(true)
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [session])

  const exportShown = async () => {
    const { exportPets } = await import('../data/catalog-export.ts')
    await exportPets(session, rows, `stock-${today()}.csv`)
  }

  return (
    <section ref={view} className="stock-view" aria-label="Stock" tabIndex={-1}>
      <h1 className="visually-hidden">Stock</h1>
      <Toolbar
        table={table}
        search={search}
        canExport={stock.hasNames}
        onExport={() => void exportShown()}
        onHelp={() => setHelping(true)}
        onFind={find}
      />
      <div className="stock-view__line">
        <p className="muted number" role="status">
          {stock.phase === 'ready' ? countWords(rows.length, stock.rows.length) : 'Loading'}
        </p>
        {openOrders === 'too many' && (
          <p className="muted">So many orders are open that only a pet’s page tells what is reserved.</p>
        )}
        {isNarrow && <SortChoice table={table} />}
      </div>
      <div className="card stock-view__table">
        {stock.phase === 'loading' && <Skeleton />}
        {stock.phase === 'failed' && (
          <div className="empty" role="alert">
            <p className="empty__title">The stock could not be loaded</p>
            <p>{stock.failure}</p>
            <button
              type="button"
              className="button button--primary"
              onClick={() => void session.feed.reload()}
            >
              Try again
            </button>
          </div>
        )}
        {stock.phase === 'ready' && rows.length > 0 && <StockGrid rows={rows} table={table} grid={grid} />}
        {stock.phase === 'ready' && rows.length === 0 && (
          <Empty isFiltered={isFiltering(shown.wanted.filter)} onClear={table.clearFilter} />
        )}
      </div>
      {mayChange && <BulkBar table={table} rows={rows} />}
      <ChangeAnnouncer />
      <PrintedStock
        rows={rows}
        title={countWords(rows.length, stock.rows.length)}
        categoryOf={({ categoryId }) => categoryName(categories, categoryId)}
      />
      {isHelping && <KeyHelp onClose={() => setHelping(false)} />}
    </section>
  )
}

function Empty({ isFiltered, onClear }: { readonly isFiltered: boolean; readonly onClear: () => void }) {
  if (!isFiltered) {
    return (
      <div className="empty">
        <p className="empty__title">No pets yet</p>
        <p>
          Bring them in with <code>petstore import pets.csv</code>; they appear here at once.
        </p>
      </div>
    )
  }
  return (
    <div className="empty">
      <p className="empty__title">Nothing found</p>
      <p>No pet fits the search and the filters.</p>
      <button type="button" className="button" onClick={onClear}>
        Show all
      </button>
    </div>
  )
}

function Skeleton() {
  return (
    <div className="stock-skeleton" role="status">
      <span className="visually-hidden">Loading the stock</span>
      {Array.from({ length: SKELETON_ROWS }, (_, index) => (
        <div key={index} className="stock-skeleton__row">
          <span className="skeleton" />
          <span className="skeleton" />
          <span className="skeleton" />
        </div>
      ))}
    </div>
  )
}

function countWords(shown: number, all: number): string {
  const pets = all === 1 ? 'pet' : 'pets'
  const count = all.toLocaleString('en')
  return shown === all ? `${count} ${pets}` : `${shown.toLocaleString('en')} of ${count} ${pets}`
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}
