import { useEffect, useRef } from 'react'
import { useReadable } from '../data/observable.ts'
import type { EditState } from '../data/stock/stock-editor.ts'
import { hideToast, showToast } from '../data/toasts.ts'
import { useSession } from '../session/session-context.ts'
import { goTo } from '../ui/navigation.ts'

/** Says in full why a change was not saved, on every view: the row has no room for it, or is not in sight. */
export function FailureToasts() {
  const { editor, stock } = useSession()
  const edits = useReadable(editor)
  const told = useRef(new WeakSet<EditState>())
  const shown = useRef<readonly [petId: bigint, state: EditState]>(undefined)
  useEffect(() => {
    if (shown.current !== undefined && edits.get(shown.current[0]) !== shown.current[1]) {
      shown.current = undefined
      hideToast('failure')
    }
    for (const [petId, state] of edits) {
      if ((state.kind !== 'failed' && state.kind !== 'conflict') || told.current.has(state)) continue
      told.current.add(state)
      shown.current = [petId, state]
      const name = stock.find(petId)?.name ?? `Pet ${petId}`
      const what =
        state.kind === 'failed'
          ? `was not saved. ${state.reason}`
          : `was not saved. Somebody else set it to ${state.theirs.quantity.toLocaleString('en')}: choose which one holds.`
      const action = { label: 'Show', run: () => goTo({ view: 'pet', petId }) }
      showToast({ name: 'failure', tone: 'negative', text: `${name} ${what}`, action })
    }
  }, [edits, stock])
  return null
}
