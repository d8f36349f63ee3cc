import { useRef } from 'react'
import { failureWords } from '../data/failure-words.ts'
import { askForBarcode } from '../data/stock/barcode-lookup.ts'
import { showToast } from '../data/toasts.ts'
import { findScanned } from '../scanner/scan-layer.tsx'
import { useScan } from '../scanner/scanner.ts'
import { useSession } from '../session/session-context.ts'
import type { Grid } from './use-grid.ts'
import type { ShownRows } from './use-shown-rows.ts'
import type { TableActions } from './use-table.ts'
import { bestMatch } from './visible-rows.ts'

interface Finding {
  readonly shown: ShownRows
  readonly table: TableActions
  readonly grid: Grid
  /** Takes the focus out of the table, so that no key reaches a row meanwhile. */
  readonly leaveTable: () => void
}

/**
 * Goes to the pet that is looked for, in the search or by a scanner. Gives what Enter in the search does: it goes to the
 * first row that is found.
 */
export function useFinding({ shown, table, grid, leaveTable }: Finding): () => void {
  const session = useSession()
  const asked = useRef('')

  const goTo = (code: string, petId: bigint) => {
    table.changeFilter({ query: code, status: 'all', lowOnly: false })
    grid.input({ kind: 'found', petId })
  }
  const lookUp = async (code: string) => {
    asked.current = code
    try {
      const petId = await askForBarcode(session.saving, code)
      // Somebody has looked for something else by now.
      if (asked.current !== code) return
      if (petId === undefined) tellUnknown(`No pet has the barcode ${code}.`)
      else goTo(code, petId)
    } catch (error) {
      if (!session.saving.signal.aborted) tellUnknown(`${code} was not looked up. ${failureWords(error)}`)
    }
  }
  useScan((code) => {
    asked.current = code
    const known = session.stock.barcodes.find(code)
    if (known !== undefined && session.stock.find(known) !== undefined) return goTo(code, known)
    leaveTable()
    void findScanned(session, code, (petId) => {
      if (asked.current === code) goTo(code, petId)
    })
  })

  return () => {
    shown.settle()
    const { rows, wanted } = shown.latest()
    const query = wanted.filter.query.trim()
    const row = bestMatch(rows, wanted)
    asked.current = query
    if (row !== undefined) grid.input({ kind: 'found', petId: row.petId })
    else if (/^\S+$/.test(query) && wanted.filter.status === 'all' && !wanted.filter.lowOnly)
      void lookUp(query)
  }
}

function tellUnknown(text: string): void {
  showToast({ name: 'scan', tone: 'negative', text })
}
