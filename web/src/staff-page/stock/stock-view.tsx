import { useEffect, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import type { StockSnapshot } from '../data/stock/stock-model.ts'
import { isFiltering } from '../data/stock/table-state.ts'
import { undoLastChange } from '../quantity/save-change.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { isTyping, useMediaQuery } from '../ui/hooks.ts'
import { Empty } from '../ui/list-frame.tsx'
import { href } from '../ui/navigation.ts'
import { BulkBar } from './bulk-bar.tsx'
import { ChangeAnnouncer } from './change-announcer.tsx'
import type { Editing } from './grid-machine.ts'
import { PrintedStock } from './printed-stock.tsx'
import { NARROW, StockGrid } from './stock-grid.tsx'
import { useAddress } from './table-address.ts'
import { KeyHelp, SortChoice, Toolbar } from './toolbar.tsx'
import { useFinding } from './use-finding.ts'
import { useGrid, useTable } from './use-grid.ts'
import { type ShownRows, useShownRows } from './use-shown-rows.ts'

const SKELETON_ROWS = 12

/** The stock of the store: find a pet, change its quantity. */
export function StockView() {
  const session = useSession()
  const stock = useStock()
  const openOrders = useReadable(session.openOrders)
  const mayChange = useMayChange('stock')
  const isNarrow = useMediaQuery(NARROW)
  const view = useRef<HTMLElement>(null)
  const editing = useState<Editing>()
  const shown = useShownRows(editing[0]?.row.petId)
  const { rows, search: serverSearch } = shown
  const table = useTable(rows)
  const grid = useGrid(shown, table, editing)
  const leaveTable = () => view.current?.focus({ preventScroll: true })
  const find = useFinding({ shown, table, grid, leaveTable })
  useAddress()
  const [isHelping, setHelping] = useState(false)
  const failure = serverSearch?.phase === 'failed' ? serverSearch.failure : stock.failure
  const isFailed = stock.phase === 'failed' || (serverSearch?.phase === 'failed' && rows.length === 0)
  const isSearching = serverSearch?.isPending === true || serverSearch?.phase === 'loading'
  const isLoading = !isFailed && (stock.phase === 'loading' || (isSearching && rows.length === 0))
  const words = countWords(shown, stock)

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.altKey || document.querySelector('dialog:modal') !== null) return
      const isCommand = event.ctrlKey || event.metaKey
      if (isCommand && event.key === 'z' && !event.shiftKey) void undoLastChange(session)
      else if (!isCommand && event.key === '?') setHelping(true)
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [session])

  return (
    <section ref={view} className="stock-view" aria-label="Stock" tabIndex={-1}>
      <h1 className="visually-hidden">Stock</h1>
      <Toolbar table={table} shown={shown} onHelp={() => setHelping(true)} onFind={() => void find()} />
      <div className="stock-view__line">
        <p className="muted number" role="status">
          {isLoading ? 'Loading' : words}
        </p>
        {openOrders === 'too many' && (
          <p className="muted">Many orders are open: “Free” may be out of date. A pet’s page is exact.</p>
        )}
        {isNarrow && <SortChoice table={table} />}
      </div>
      <div className="card stock-view__table">
        {isLoading && <Skeleton />}
        {isFailed && (
          <div role="alert">
            <Empty title="The stock could not be loaded">
              <p>{failure}</p>
              <Button
                tone="primary"
                onClick={() => (stock.phase === 'failed' ? void session.feed.reload() : shown.retry())}
              >
                Try again
              </Button>
            </Empty>
          </div>
        )}
        {!isLoading && !isFailed && rows.length > 0 && (
          <StockGrid
            rows={rows}
            table={table}
            grid={grid}
            hasMore={serverSearch?.next !== undefined}
            onNearEnd={shown.loadMore}
          />
        )}
        {!isLoading && !isFailed && rows.length === 0 && (
          <NoRows isFiltered={isFiltering(shown.wanted.filter)} onClear={table.clearFilter} />
        )}
      </div>
      {mayChange && <BulkBar table={table} rows={rows} />}
      <ChangeAnnouncer />
      <PrintedStock rows={rows} title={words} />
      {isHelping && <KeyHelp onClose={() => setHelping(false)} />}
    </section>
  )
}

function NoRows({ isFiltered, onClear }: { readonly isFiltered: boolean; readonly onClear: () => void }) {
  const mayAdd = useMayChange('pets')
  if (!isFiltered) {
    return (
      <Empty title="No pets yet">
        <p>
          {mayAdd ? 'Import a file, or add them one by one.' : 'They appear here once somebody adds them.'}
        </p>
        {mayAdd && (
          <div className="cluster">
            <a className="button" href={href({ view: 'import' })}>
              Import a file
            </a>
            <a className="button" href={href({ view: 'pets' })}>
              Add a pet
            </a>
          </div>
        )}
      </Empty>
    )
  }
  return (
    <Empty title="Nothing found">
      <p>No pet fits the search and the filters.</p>
      <Button onClick={onClear}>Show all</Button>
    </Empty>
  )
}

function Skeleton() {
  return (
    <div className="list__loading" role="status" aria-label="Loading the stock">
      {Array.from({ length: SKELETON_ROWS }, (_, index) => (
        <span key={index} className="skeleton" />
      ))}
    </div>
  )
}

function countWords({ rows, search, wanted }: ShownRows, stock: StockSnapshot): string {
  const shown = rows.length.toLocaleString('en')
  const pets = rows.length === 1 ? 'pet' : 'pets'
  if (search === undefined) {
    const all = stock.rows.length
    if (rows.length === all) return `${shown} ${pets}`
    return `${shown} of ${all.toLocaleString('en')} ${all === 1 ? 'pet' : 'pets'}`
  }
  if (search.isPending) return 'Searching…'
  if (!stock.hasNames && !isFiltering(wanted.filter)) return `Loading: ${shown} pets so far`
  if (search.next !== undefined) return `Showing the first ${shown} pets`
  return isFiltering(wanted.filter) ? `${shown} ${pets} found` : `${shown} ${pets}`
}
