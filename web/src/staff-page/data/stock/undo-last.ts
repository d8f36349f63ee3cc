import type { BulkChanges } from './bulk-changes.ts'
import type { StockEditor } from './stock-editor.ts'
import type { StockModel } from './stock-model.ts'
import type { UndoHistory, UndoStep } from './undo-history.ts'

interface Undoing {
  readonly undo: UndoHistory
  readonly editor: StockEditor
  readonly bulk: BulkChanges
  readonly stock: StockModel
}

/**
 * Undoes the last change if nobody has changed it since; otherwise the row shows a conflict, as with any other save.
 * Returns the step that it undid, if any. No change may be in flight.
 */
export async function undoLast({ undo, editor, bulk, stock }: Undoing): Promise<UndoStep | undefined> {
  const step = undo.get().at(-1)
  const [first, ...others] = step?.changes ?? []
  if (step === undefined || first === undefined) return undefined
  if (others.length > 0) {
    await bulk.undo(step)
    return step
  }
  if (stock.find(first.petId) === undefined) {
    undo.take(step)
    return undefined
  }
  const outcome = await editor.save(first.petId, first.before, first.after, step)
  return outcome.kind === 'saved' ? step : undefined
}
