import { flushSync, useRef } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'
import { askForBarcode } from '../data/stock/stock-search.ts'
import { NO_FILTER } from '../data/stock/table-state.ts'
import { showProblem } from '../data/toasts.ts'
import { findScanned } from '../scanner/scan-layer.tsx'
import { useSession } from '../session/session-context.ts'
import { useScan } from '../ui/scanner.ts'
import type { Grid, TableActions } from './use-grid.ts'
import type { ShownRows } from './use-shown-rows.ts'

interface Finding {
  readonly shown: ShownRows
  readonly table: TableActions
  readonly grid: Grid
  /** Takes the focus out of the table, so that no key reaches a row meanwhile. */
  readonly leaveTable: () => void
}

/** Goes to the pet that was scanned. Returns the function that goes to the first row that the search finds. */
export function useFinding({ shown, table, grid, leaveTable }: Finding): () => Promise<void> {
  const session = useSession()
  const asked = useRef('')

  const latest = useRef(shown)
  latest.current = shown

  const goTo = async (code: string, petId: bigint) => {
    flushSync(() => table.changeFilter({ ...NO_FILTER, query: code }))
    await latest.current.findBest()
    grid.input({ kind: 'found', petId })
  }
  const lookUp = async (code: string) => {
    asked.current = code
    try {
      const petId = await askForBarcode(session.saving, code)
      // The user has searched for something else meanwhile.
      if (asked.current !== code) return
      if (petId === undefined) showProblem('scan', `No pet has the barcode ${code}.`)
      else await goTo(code, petId)
    } catch (error) {
      if (!session.saving.signal.aborted)
        showProblem('scan', `${code} was not looked up. ${failureWords(error)}`)
    }
  }
  useScan((code) => {
    asked.current = code
    const known = session.stock.barcodes.find(code)
    if (known !== undefined && session.stock.find(known) !== undefined) return void goTo(code, known)
    leaveTable()
    void findScanned(session, code, (petId) => {
      if (asked.current === code) void goTo(code, petId)
    })
  })

  return async () => {
    const { filter } = session.table.get()
    const query = filter.query.trim()
    asked.current = query
    const row = await shown.findBest()
    // The user has typed on, or scanned, meanwhile.
    if (asked.current !== query || session.table.get().filter !== filter) return
    if (row !== undefined) grid.input({ kind: 'found', petId: row.petId })
    else if (/^\S+$/.test(query) && filter.status === 'all' && !filter.lowOnly) void lookUp(query)
  }
}
