import { flushSync, useCallback, useEffect, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { petName, type StockSnapshot } from '../data/stock/stock-model.ts'
import { isFiltering, NO_FILTER } from '../data/stock/table-state.ts'
import { undoLastChange } from '../quantity/save-change.ts'
import { findScanned } from '../scanner/scan-layer.tsx'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { isTyping, usePrinting } from '../ui/hooks.ts'
import { Empty } from '../ui/list-frame.tsx'
import { href } from '../ui/navigation.ts'
import { PageNav } from '../ui/page-nav.tsx'
import { useScan } from '../ui/scanner.ts'
import { BulkBar } from './bulk-bar.tsx'
import { StockTable, useTableSize } from './stock-table.tsx'
import { useAddress } from './table-address.ts'
import { KeyHelp, SortChoice, Toolbar } from './toolbar.tsx'
import { PAGE_SIZE, usePages } from './use-pages.ts'
import { type ShownRows, useShownRows } from './use-shown-rows.ts'
import { type TableActions, useTable } from './use-table.ts'

/** More than a hundred sheets of paper are a mistake. */
const MAX_PRINTED = 5_000
const SKELETON_ROWS = 12

/** The stock of the store: find a pet, change its quantity. */
export function StockView() {
  const session = useSession()
  const stock = useStock()
  const mayChange = useMayChange('stock')
  const isPrinting = usePrinting()
  const size = useTableSize(isPrinting)
  const view = useRef<HTMLElement>(null)
  const [typed, setTyped] = useState<bigint>()
  const shown = useShownRows(typed)
  const { rows, search: serverSearch } = shown
  const table = useTable(rows)
  const { page, setPage, hasMore, goTo } = usePages(shown)
  const leaveTable = useCallback(() => view.current?.focus({ preventScroll: true }), [])
  const find = useFinding(shown, { table, goTo, leaveTable })
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
      <Toolbar table={table} onHelp={() => setHelping(true)} onFind={() => void find()} />
      <div className="stock-view__line">
        <p className="muted number" role="status">
          {isLoading ? 'Loading' : words}
        </p>
        {isPrinting && <p>{new Date().toLocaleString('en-GB')}</p>}
        {size !== 'wide' && <SortChoice table={table} />}
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
          <StockTable
            rows={
              isPrinting ? rows.slice(0, MAX_PRINTED) : rows.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE)
            }
            size={size}
            isPrinting={isPrinting}
            table={table}
            goTo={goTo}
            onTyping={setTyped}
          />
        )}
        {!isLoading && !isFailed && rows.length === 0 && (
          <NoRows isFiltered={isFiltering(shown.wanted.filter)} onClear={table.clearFilter} />
        )}
      </div>
      <PageNav
        label="Pages of the stock"
        page={page}
        pageSize={PAGE_SIZE}
        total={rows.length}
        hasMore={hasMore}
        onTurn={(next) => {
          const first = rows[next * PAGE_SIZE]
          if (first === undefined) setPage(next)
          else goTo(first.petId)
        }}
      />
      {mayChange && <BulkBar table={table} rows={rows} />}
      <EditStatus />
      {isHelping && <KeyHelp onClose={() => setHelping(false)} />}
    </section>
  )
}

interface Finding {
  readonly table: TableActions
  readonly goTo: (petId: bigint) => void
  /** Takes the focus out of the table, so that no key reaches a row meanwhile. */
  readonly leaveTable: () => void
}

/** Goes to the pet that was scanned. Returns the function that goes to the first row that the search finds. */
function useFinding(shown: ShownRows, { table, goTo, leaveTable }: Finding): () => Promise<void> {
  const session = useSession()
  const latest = useRef(shown)
  latest.current = shown
  const lastScan = useRef('')
  useScan((code) => {
    lastScan.current = code
    if (session.stock.barcodes.find(code) === undefined) leaveTable()
    void findScanned(session, code, (petId) => {
      // Otherwise another code was scanned meanwhile.
      if (lastScan.current === code) void show(code, petId)
    })
  })
  const show = async (code: string, petId: bigint) => {
    flushSync(() => table.changeFilter({ ...NO_FILTER, query: code }))
    await latest.current.findBest()
    goTo(petId)
  }
  return async () => {
    const { filter } = session.table.get()
    const row = await shown.findBest()
    // The user has typed on, or scanned, meanwhile.
    if (row !== undefined && session.table.get().filter === filter) goTo(row.petId)
  }
}

/** Announces to screen readers what the rows show: the user's own steps, and that they are saved. */
function EditStatus() {
  const { editor, stock } = useSession()
  const edits = useReadable(editor)
  const sentences = [...edits].flatMap(([petId, state]) => {
    const row = stock.find(petId)
    if (row === undefined) return []
    if (state.kind === 'stepping') return [`${petName(row)}: ${state.target}`]
    return state.kind === 'saved' ? [`${petName(row)}: saved, ${row.quantity}`] : []
  })
  return (
    <div className="visually-hidden" role="status">
      {sentences.join('. ')}
    </div>
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
