import type { EditState } from '../data/stock/stock-editor.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { undoLast } from '../data/stock/undo-last.ts'
import { hideToast, showToast } from '../data/toasts.ts'
import type { Session } from '../session/session.ts'
import { ask } from '../ui/confirm.tsx'
import { isSurprising, type TypedChange } from './typed-change.ts'

/** Saves what was typed over the state that was seen, and offers to take it back. */
export function saveAndTell(session: Session, seen: StockRow, quantity: number): Promise<boolean> {
  return changeAndTell(session, seen, { kind: 'set', quantity })
}

/** Makes a change that was typed. Whoever is asked about it first may say no: then it resolves with `false`. */
export async function changeAndTell(session: Session, seen: StockRow, change: TypedChange): Promise<boolean> {
  const { editor } = session
  const { petId } = seen
  const after = change.kind === 'set' ? change.quantity : seen.quantity + change.delta
  if (isSurprising(seen.quantity, after) && !(await isMeant(seen, after))) return false
  if (change.kind === 'step') await editor.step(petId, change.delta)
  else if (change.kind === 'add') offerUndo(session, seen, await editor.adjust(petId, change.delta))
  else offerUndo(session, seen, await editor.save(petId, change.quantity, seen))
  return true
}

function isMeant(seen: StockRow, after: number): Promise<boolean> {
  const title = `Set ${nameOf(seen)} to ${inWords(after)}?`
  const text = [`There are ${inWords(seen.quantity)} now, and ${inWords(after)} is far more than that.`]
  return ask({ title, text, yes: `Set ${inWords(after)}`, no: 'Look at it again' })
}

function offerUndo(session: Session, seen: StockRow, outcome: EditState | undefined): void {
  const step = outcome?.kind === 'saved' ? outcome.step : undefined
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
