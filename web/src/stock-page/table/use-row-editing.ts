import { useCallback, useMemo, useRef, useState } from 'react'
import { useSession } from '../session/session-context.ts'
import type { StockRow } from '../stock/stock-model.ts'
import { saveAndTell } from './save-and-tell.ts'

interface Editing {
  /** As the user saw it when they began: a save holds only over this state. */
  readonly row: StockRow
  readonly text: string
  readonly isTyped: boolean
}

export interface RowEditing {
  readonly editing: Editing | undefined
  /** `typed` is what the user began to type. */
  readonly begin: (row: StockRow, typed?: string) => void
  /** Saves the quantity, if there is one. */
  readonly end: (quantity: number | undefined, by: 'key' | 'blur') => void
}

/** Which row is being edited. `focusTable` gives the focus back, unless it has gone elsewhere. */
export function useRowEditing(focusTable: () => void): RowEditing {
  const session = useSession()
  const [editing, setEditing] = useState<Editing>()
  const current = useRef<Editing>(undefined)

  const show = useCallback((next: Editing | undefined) => {
    current.current = next
    setEditing(next)
  }, [])
  const actions = useMemo(
    () => ({
      begin: (row: StockRow, typed?: string) =>
        show({ row, text: typed ?? String(row.quantity), isTyped: typed !== undefined }),
      end: (quantity: number | undefined, by: 'key' | 'blur') => {
        const edited = current.current
        show(undefined)
        if (by === 'key') focusTable()
        if (edited !== undefined && quantity !== undefined && quantity !== edited.row.quantity) {
          void saveAndTell(session, edited.row, quantity)
        }
      },
    }),
    [session, show, focusTable],
  )
  return { editing, ...actions }
}
