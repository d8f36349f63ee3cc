import type { EditState } from '../data/stock/stock-editor.ts'
import { petName, type StockRow } from '../data/stock/stock-model.ts'
import { hideToast, showProblem, showToast } from '../data/toasts.ts'
import type { Session } from '../session/session.ts'
import { wholeNumber } from '../ui/charts/quantity-axis.ts'
import { ask } from '../ui/confirm.tsx'
import { petsWords } from '../ui/words.ts'
import { isImplausible, quantityAfter, type TypedChange } from './typed-change.ts'

/** Saves a typed change over the state that the user saw, and offers to undo it. `false` if the user took it back. */
export async function saveTypedChange(
  session: Session,
  seen: StockRow,
  change: TypedChange,
): Promise<boolean> {
  const { editor } = session
  const { petId, quantity } = seen
  const after = quantityAfter(quantity, change)
  if (isImplausible(quantity, after) && !(await isMeant(petName(seen), quantity, after))) return false
  if (change.kind === 'add') offerUndo(session, seen, await editor.adjust(petId, change.delta))
  else offerUndo(session, seen, await editor.save(petId, change.quantity, quantity))
  return true
}

function isMeant(name: string, before: number, after: number): Promise<boolean> {
  return ask({
    title: `Set ${name} to ${wholeNumber(after)}?`,
    text: [`There are ${wholeNumber(before)} now, and ${wholeNumber(after)} is far more than that.`],
    yes: `Set ${wholeNumber(after)}`,
    no: 'Look at it again',
  })
}

function offerUndo(session: Session, seen: StockRow, outcome: EditState | undefined): void {
  const step = outcome?.kind === 'saved' ? outcome.step : undefined
  const change = step?.changes[0]
  if (change === undefined || session.undo.get().at(-1) !== step) return
  showToast({
    name: 'change',
    text: `${petName(seen)}: ${wholeNumber(change.before)} → ${wholeNumber(change.after)}`,
    action: { label: 'Undo', run: () => void undoLastChange(session) },
  })
  // The toast names this change, so it goes once another change is the last.
  const unsubscribe = session.undo.subscribe(() => {
    unsubscribe()
    hideToast('change')
  })
}

/** Undoes the last change and names it. */
export async function undoLastChange(session: Session): Promise<void> {
  if (session.editor.isSaving() || session.bulk.isRunning()) {
    showToast({ name: 'undo', text: 'A change is still being saved. Undo it once it is.' })
    return
  }
  const result = await session.undo.undoLast(session.saving)
  if (result === undefined) return
  const { step, outcome } = result
  if (outcome.type === 'failed') return showProblem('undo', `Not undone. ${outcome.why}`)
  if (outcome.type === 'already_reversed') return showToast({ name: 'undo', text: 'It was undone before.' })
  const [item] = outcome.reversal.items
  const text =
    step.changes.length === 1 && item !== undefined
      ? `${session.stock.nameOf(item.petId)} is back at ${wholeNumber(item.quantity)}.`
      : `Stock updated for ${petsWords(step.changes.length)}.`
  showToast({ name: 'change', text: `Undone. ${text}` })
}
