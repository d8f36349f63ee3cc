import type { Session } from '../session/session.ts'
import type { StockRow } from '../stock/stock-model.ts'
import { undoLast } from '../stock/undo-last.ts'
import { hideToast, showToast } from '../toasts.tsx'

/** Saves what was typed over the state that was seen, and offers to take it back. */
export async function saveAndTell(session: Session, seen: StockRow, quantity: number): Promise<void> {
  const outcome = await session.editor.save(seen.petId, quantity, seen)
  const step = outcome.kind === 'saved' ? outcome.step : undefined
  const change = step?.changes[0]
  if (change === undefined || session.undo.get().at(-1) !== step) return
  showToast({
    name: 'change',
    text: `${nameOf(seen)}: ${inWords(change.before)} → ${inWords(change.after)}`,
    action: { label: 'Undo', run: () => void undoAndTell(session) },
  })
  // It offers to undo the change that it names: not once another is the last, or this one is undone.
  const unsubscribe = session.undo.subscribe(() => {
    unsubscribe()
    hideToast('change')
  })
}

/** Takes back the last change and says which one it was. */
export async function undoAndTell(session: Session): Promise<void> {
  if (session.editor.isSaving() || session.bulk.isRunning()) {
    showToast({ name: 'undo', text: 'A change is still being saved. Undo it once it is.' })
    return
  }
  const step = await undoLast(session)
  const [change, ...others] = step?.changes ?? []
  if (change === undefined || others.length > 0) return
  const row = session.stock.find(change.petId)
  showToast({
    name: 'change',
    text: `Undone. ${row === undefined ? change.petId : nameOf(row)} is back at ${inWords(change.before)}.`,
  })
}

function nameOf({ name, petId }: StockRow): string {
  return name ?? `Pet ${petId}`
}

function inWords(quantity: number): string {
  return quantity.toLocaleString('en')
}
