import { useEffect, useRef } from 'react'
import { useSession } from '../session/session-context.ts'
import { useReadable } from '../stock/observable.ts'
import type { EditState } from '../stock/stock-editor.ts'
import { showToast } from '../toasts.tsx'

/** Says in full why a change was not saved: the row has no room for it. */
export function FailureToasts() {
  const { editor, stock } = useSession()
  const edits = useReadable(editor)
  const told = useRef(new WeakSet<EditState>())
  useEffect(() => {
    for (const [petId, state] of edits) {
      if (state.kind !== 'failed' || told.current.has(state)) continue
      told.current.add(state)
      const name = stock.find(petId)?.name ?? `Pet ${petId}`
      showToast({ name: 'failure', tone: 'negative', text: `${name} was not saved. ${state.reason}` })
    }
  }, [edits, stock])
  return null
}
