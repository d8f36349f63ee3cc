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
  readonly save: (quantity: number) => void
  readonly leave: () => void
}

/** Which row is being edited. `onEnd` gives the focus back. */
export function useRowEditing(onEnd: () => void): RowEditing {
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
      save: (quantity: number) => {
        const edited = current.current
        show(undefined)
        onEnd()
        if (edited !== undefined && quantity !== edited.row.quantity) {
          void saveAndTell(session, edited.row, quantity)
        }
      },
      leave: () => {
        show(undefined)
        onEnd()
      },
    }),
    [session, show, onEnd],
  )
  return { editing, ...actions }
}
