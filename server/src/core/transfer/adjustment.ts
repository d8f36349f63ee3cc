import { RemoveOptional } from 'typebox'
import { ADJUSTMENT_CHANGE } from '../stock/adjustment.ts'
import type { AdjustmentChange, CommandOf } from '../stock/command.ts'
import { decide } from '../stock/decide.ts'
import type { EntryState, LockedEntry } from '../stock/inventory.ts'
import { IMPORT_KEY_ID, type StagedRow } from './import.ts'
import { rowKind } from './rows.ts'

export const STOCK_COUNT_ROW = {
  petId: ADJUSTMENT_CHANGE.petId,
  quantity: RemoveOptional(ADJUSTMENT_CHANGE.quantity),
}
export const STOCK_COUNT_ROW_KIND = rowKind<AdjustmentChange>('pet', 'pets', STOCK_COUNT_ROW, {
  blank: 'absent',
})

/** A row of an adjustment with the stock of its pet. */
export interface AdjustmentRow extends StagedRow<AdjustmentChange> {
  readonly entry: EntryState | undefined
}

/** Decides each row by the rules of an adjustment. Each pet may occur once. */
export function decideRows(rows: readonly AdjustmentRow[]) {
  const locked = new Map<bigint, LockedEntry>()
  for (const { value, entry } of rows) {
    // These adjustments do not set `keepReserved`, so reserved units do not affect them. Thresholds never do.
    if (entry !== undefined)
      locked.set(value.petId as bigint, {
        ...entry,
        reserved: 0,
        lowStockAt: null,
        countedAt: null,
        movedAt: null,
      })
  }
  const { results, records } = decide(rows.map(adjustmentOf), locked)
  const lines = new Map(rows.map(({ line, value }) => [value.petId as bigint, line]))
  const changed = records
    .filter((record) => record.kind === 'change')
    .map(({ petId, before, after }) => {
      const line = lines.get(petId)
      if (line === undefined)
        throw new Error(`the quantity of pet ${petId} changed, but no row is about this pet`)
      return { line, petId, before, after }
    })
  const refused = rows.flatMap(({ line, value: { petId } }, index) => {
    const outcome = results[index]
    const failure = outcome?.type === 'refused' ? outcome.failures[0] : undefined
    if (failure === undefined) return []
    // The message of `not_found` is for API callers: it names an HTTP operation.
    const reason = failure.code === 'not_found' ? `there is no pet ${petId}` : failure.message
    return [{ line, petId: petId as bigint, reason }]
  })
  return { changed, refused }
}

/**
 * An adjustment of one row, so that a refused row does not affect the others. The key and the time are placeholders, because
 * `decideRows` returns only quantities and refusals.
 */
function adjustmentOf({ value }: AdjustmentRow): CommandOf<'adjust'> {
  return { type: 'adjust', keyId: IMPORT_KEY_ID, at: 0, changes: [value] }
}
