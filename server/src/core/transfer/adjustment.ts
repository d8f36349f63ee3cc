import { RemoveOptional } from 'typebox'
import { ADJUSTMENT_CHANGE, deltaOrQuantityProblem } from '../stock/adjustment-fields.ts'
import type { Adjust, AdjustmentChange } from '../stock/command.ts'
import { decide } from '../stock/decide.ts'
import type { EntryState, LockedEntry } from '../stock/inventory.ts'
import { isQuantityRecord, type LogRecord } from '../stock/stock-draft.ts'
import { codecOf } from '../values/field.ts'
import { ADJUST_KEY_ID, type StagedRow } from './import.ts'
import { BadRow, type RowKind, rowKind } from './rows.ts'

export const COUNT_ROW = {
  petId: ADJUSTMENT_CHANGE.petId,
  quantity: RemoveOptional(ADJUSTMENT_CHANGE.quantity),
}
export const COUNT_ROW_KIND = rowKind<AdjustmentChange>('pet', 'pets', COUNT_ROW, { blank: 'absent' })

const deltaCodec = codecOf('delta', ADJUSTMENT_CHANGE.delta)
const baseRowKind = rowKind<AdjustmentChange>('pet', 'pets', ADJUSTMENT_CHANGE, {
  // A delta in a file may have a plus sign.
  columnOverrides: { delta: { fromText: (text) => deltaCodec.fromText(text.replace(/^\+(?=[1-9])/, '')) } },
  blank: 'absent',
})
export const ADJUSTMENT_ROW_KIND: RowKind<AdjustmentChange> = {
  ...baseRowKind,
  read: (texts) => {
    const change = baseRowKind.read(texts)
    const problem = deltaOrQuantityProblem(change.delta, change.quantity)
    if (problem !== undefined) throw new BadRow(problem)
    return change
  },
}

/** A row of an adjustment with the stock of its pet. */
export interface AdjustmentRow extends StagedRow<AdjustmentChange> {
  readonly entry: EntryState | undefined
}

/** Decides the rows by the rules of an adjustment. Each pet may occur once. */
export function decideRows(rows: readonly AdjustmentRow[]) {
  const locked = new Map<bigint, LockedEntry>()
  for (const { value, entry } of rows) {
    // Reserved units and thresholds do not affect whether an adjustment is possible.
    if (entry !== undefined) locked.set(value.petId, { ...entry, reserved: 0, lowStockAt: null })
  }
  const { results, records } = decide([adjustmentOf(rows)], locked)
  const [outcome] = results
  if (outcome?.type !== 'refused') return { changed: changesOf(rows, records), refused: [] }
  const failures = new Map(outcome.failures.map((failure) => [failure.index, failure]))
  const refused = rows.flatMap(({ line, value: { petId } }, index) => {
    const failure = failures.get(index)
    if (failure === undefined) return []
    // The message of `not_found` is for API callers: it names an HTTP operation.
    const reason = failure.code === 'not_found' ? `there is no pet ${petId}` : failure.message
    return [{ line, petId, reason }]
  })
  // An adjustment with a failure changes nothing, so the other rows are decided again without the refused rows.
  const acceptedRows = rows.filter((_, index) => !failures.has(index))
  const { records: acceptedRecords } = decide([adjustmentOf(acceptedRows)], locked)
  return { changed: changesOf(acceptedRows, acceptedRecords), refused }
}

function changesOf(rows: readonly AdjustmentRow[], records: readonly LogRecord[]) {
  const lines = new Map(rows.map(({ line, value }) => [value.petId, line]))
  return records.filter(isQuantityRecord).map(({ petId, before, after }) => {
    const line = lines.get(petId)
    if (line === undefined)
      throw new Error(`the quantity of pet ${petId} changed, but no row is about this pet`)
    return { line, petId, before, after }
  })
}

/** The key and the time do not affect the decision. */
function adjustmentOf(rows: readonly AdjustmentRow[]): Adjust {
  return { type: 'adjust', keyId: ADJUST_KEY_ID, at: 0, changes: rows.map(({ value }) => value) }
}
