import type { ChangeOrigin } from '../stock/change-origin.ts'
import { type RawRow, type RefusedLine, type RowKind, rowOrReason } from './rows.ts'

/** The key in the history for changes that `petstore import` makes. */
export const IMPORT_KEY_ID = 'petstore-import'

export interface StagedRow<Value> {
  readonly line: number
  readonly value: Value
}

/** A row that is skipped because a row on an earlier line has the same id. */
export interface DuplicateRow {
  readonly line: number
  readonly firstLine: number
  readonly id: bigint
}

/** The number of lines of some kind, and the first of them as examples. */
export interface Tally<Example> {
  readonly count: number
  readonly first: readonly Example[]
}

export interface ImportCounts {
  readonly added: number
  readonly changed: number
  readonly unchanged: number
}

export interface ImportPreview<Value> extends Pick<ImportCounts, 'unchanged'> {
  /** Rows that contradict the contents of the store. Absent if there are none. */
  readonly refused?: Tally<RefusedLine>
  readonly added: Tally<StagedRow<Value>>
  readonly changed: Tally<StagedRow<Value> & { readonly before: Value }>
}

/** Nothing was changed, because some rows contradict the contents of the store. */
export class RowsRefused extends Error {
  override readonly name = 'RowsRefused'
  readonly refused: Tally<RefusedLine>

  constructor(refused: Tally<RefusedLine>) {
    const [first] = refused.first
    const example = first === undefined ? '' : `, such as line ${first.line}: ${first.reason}`
    super(`${refused.count} ${refused.count === 1 ? 'line' : 'lines'} cannot be imported${example}`)
    this.refused = refused
  }
}

/** The log records the time, the key, the reason and the reference. */
export interface ApplyOptions extends Pick<ChangeOrigin, 'at' | 'keyId' | 'reason' | 'reference'> {
  /** Aborts the import before its commit, so that nothing is changed. */
  readonly signal?: AbortSignal
  /** Called with 0 rows when writing begins, then after each step. If it throws, nothing is changed. */
  readonly onProgress?: (writtenRows: number, totalRows: number) => void
  /** How many refused rows a `RowsRefused` names. */
  readonly maxExamples?: number
}

/** Call `add` for each batch, `finishStaging`, then `preview` or `apply`, and always `discard`. Only `apply` has an effect. */
export interface StagedImport<Value> {
  /** Lines must be in ascending order. */
  add(rows: readonly StagedRow<Value>[]): Promise<void>
  /** Must be called after the last `add`. Of rows with the same id, keeps the first. Returns the rows that it dropped. */
  finishStaging(maxExamples: number): Promise<Tally<DuplicateRow>>
  /** The changes that `apply` would make now. Changes nothing. */
  preview(maxExamples: number): Promise<ImportPreview<Value>>
  /**
   * Writes the rows that differ from the store in one commit, and logs each change. If more than 1,000 orders or pets
   * change, one `relist` row may replace their log rows. Imported open orders reserve stock.
   */
  apply(options: ApplyOptions): Promise<ImportCounts>
  discard(): Promise<void>
}

interface StagingOptions {
  readonly maxExamples: number
  readonly signal: AbortSignal
  /** Called with the number of rows read so far, valid or not. */
  readonly onProgress: (rows: number) => void
}

/** Checks every row and stages the valid rows. Holds only one batch and the examples in memory. */
export async function stageRows<Value>(
  batches: AsyncIterable<readonly RawRow[]>,
  kind: RowKind<Value>,
  staged: StagedImport<Value>,
  { maxExamples, signal, onProgress }: StagingOptions,
): Promise<{ readonly rows: number; readonly refused: Tally<RefusedLine> }> {
  let rows = 0
  let badRows = 0
  const examples: RefusedLine[] = []
  for await (const batch of batches) {
    signal.throwIfAborted()
    const validRows: StagedRow<Value>[] = []
    for (const row of batch) {
      const { line } = row
      const result = 'reason' in row ? row : rowOrReason(line, () => ({ line, value: kind.read(row.fields) }))
      if ('value' in result) {
        validRows.push(result)
      } else {
        badRows++
        if (badRows <= maxExamples) examples.push(result)
      }
    }
    await staged.add(validRows)
    rows += batch.length
    onProgress(rows)
  }
  signal.throwIfAborted()
  const duplicates = await staged.finishStaging(maxExamples)
  const duplicateLines = duplicates.first.map(({ line, firstLine, id }) => ({
    line,
    reason: `${kind.noun} ${id} is already on line ${firstLine}`,
  }))
  const refused = { count: badRows, first: examples }
  const refusedDuplicates = { count: duplicates.count, first: duplicateLines }
  return { rows, refused: mergeRefused(refused, maxExamples, refusedDuplicates) }
}

/** Both tallies together, with at most `maxExamples` examples, sorted by line. */
export function mergeRefused(
  refused: Tally<RefusedLine>,
  maxExamples: number,
  more: Tally<RefusedLine> = { count: 0, first: [] },
): Tally<RefusedLine> {
  const first = [...refused.first, ...more.first].sort((a, b) => a.line - b.line).slice(0, maxExamples)
  return { count: refused.count + more.count, first }
}
