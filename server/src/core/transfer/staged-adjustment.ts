import type { Adjust, AdjustmentChange, ChangeOrigin } from '../stock/command.ts'
import { decide } from '../stock/decide.ts'
import type { EntryState, LockedEntry } from '../stock/inventory.ts'
import { isQuantityRecord, type LogRecord, type QuantityRecord } from '../stock/stock-draft.ts'
import type { ErrorDetail } from '../values/errors.ts'
import type { RefusedLine } from './exchange-rows.ts'
import type { ApplyOptions, StagedRow, StagedRows, Tally } from './staged-import.ts'

/** Whom the history names for what an adjustment out of a file changed. */
export const ADJUST_KEY_ID = 'petstore-adjust'

/** One pet whose quantity another one takes the place of. */
export interface QuantityStep {
  readonly line: number
  readonly petId: bigint
  readonly before: number
  readonly after: number
}

/** What an adjustment comes to, each line in one of the three. */
export interface AdjustmentReport {
  readonly changed: Tally<QuantityStep>
  readonly unchanged: number
  readonly refused: Tally<RefusedLine>
}

export interface AdjustOptions extends ApplyOptions, Pick<ChangeOrigin, 'reason' | 'reference'> {
  /** How many lines of each kind are told. */
  readonly examples: number
  /** Make the changes of all other lines, instead of none. */
  readonly skipRefused: boolean
}

/** The changes of one adjustment, as many as there are, each line a pet. */
export interface StagedAdjustment extends StagedRows<AdjustmentChange> {
  /** What `apply` would do now. Changes nothing. */
  preview(examples: number): Promise<AdjustmentReport>
  /**
   * Decides on every line and makes all changes in one commit; none where a line is refused, unless told otherwise.
   * Each that changes a quantity leaves its row in the log.
   */
  apply(options: AdjustOptions): Promise<AdjustmentReport>
}

/** A staged change, and the entry that it is for as it is found. */
export interface FoundRow extends StagedRow<AdjustmentChange> {
  readonly entry: EntryState | undefined
}

export interface DecidedRows {
  readonly made: readonly (QuantityStep & Pick<QuantityRecord, 'status'>)[]
  readonly refused: readonly (RefusedLine & { readonly petId: bigint })[]
}

/** Who asks, when and what for makes no difference to what is allowed. */
const ANYBODY: ChangeOrigin = { keyId: ADJUST_KEY_ID, at: 0 }

/** Neither makes a difference to what an adjustment may do. */
const PLAIN = { reserved: 0, lowStockAt: null }

/** Decides on each line as the commit of an adjustment does. Each pet may be there once. */
export function decideRows(rows: readonly FoundRow[]): DecidedRows {
  const found = new Map<bigint, LockedEntry>()
  for (const { value, entry } of rows) if (entry !== undefined) found.set(value.petId, { ...entry, ...PLAIN })
  const { results, records } = decide([adjustmentOf(rows)], found)
  const [outcome] = results
  if (outcome?.type !== 'refused') return { made: stepsOf(rows, records), refused: [] }
  const failures = new Map(outcome.failures.map((failure) => [failure.index, failure]))
  const refused = rows.flatMap(({ line, value: { petId } }, index) => {
    const failure = failures.get(index)
    return failure === undefined ? [] : [{ line, petId, reason: reasonFor(failure, petId) }]
  })
  const others = rows.filter((_, index) => !failures.has(index))
  return { made: stepsOf(others, decide([adjustmentOf(others)], found).records), refused }
}

function stepsOf(rows: readonly FoundRow[], records: readonly LogRecord[]): DecidedRows['made'] {
  const lines = new Map(rows.map(({ line, value }) => [value.petId, line]))
  return records.filter(isQuantityRecord).map(({ petId, before, after, status }) => {
    const line = lines.get(petId)
    if (line === undefined) throw new Error(`pet ${petId} is changed and stands on no line`)
    return { line, petId, before, after, status }
  })
}

function adjustmentOf(rows: readonly FoundRow[]): Adjust {
  return { type: 'adjust', ...ANYBODY, changes: rows.map(({ value }) => value) }
}

/** Callers of the service are told to ask it which entries there are; who writes a file looks elsewhere. */
function reasonFor({ code, message }: ErrorDetail, petId: bigint): string {
  return code === 'not_found' ? `there is no pet ${petId}` : message
}
