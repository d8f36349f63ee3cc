import type { Session } from '../session/session.ts'
import type { StockRow } from '../stock/stock-model.ts'
import { undoLast } from '../stock/undo-last.ts'
import { hideToast, showToast } from '../toasts.tsx'

/** Saves what was typed over the state that was seen, and offers to take it back. */
export async function saveAndTell(session: Session, seen: StockRow, quantity: number): Promise<void> {
  const outcome = await session.editor.save(seen.petId, quantity, seen)
  if (outcome.kind !== 'saved') return
  showToast({
    name: 'change',
    text: `${nameOf(seen)}: ${inWords(seen.quantity)} → ${inWords(quantity)}`,
    action: { label: 'Undo', run: () => void undoAndTell(session) },
  })
}

/** Takes back the last change and says which one it was. */
export async function undoAndTell(session: Session): Promise<void> {
  hideToast('change')
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
