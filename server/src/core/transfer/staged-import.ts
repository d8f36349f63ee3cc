import { type RawRow, type RefusedLine, type RowReader, rowOrReason } from './exchange-rows.ts'

/** Whom the history names for a quantity that an import set. */
export const IMPORT_KEY_ID = 'petstore-import'

/** A value, and the line of the file it came from. */
export interface StagedRow<Value> {
  readonly line: number
  readonly value: Value
}

/** A row left out because an earlier line has the same id. */
export interface DuplicateRow {
  readonly line: number
  readonly firstLine: number
  readonly id: bigint
}

/** So many of something, of which the first few are told. */
export interface Tally<Example> {
  readonly count: number
  readonly first: readonly Example[]
}

export interface ImportCounts {
  readonly added: number
  readonly changed: number
  readonly unchanged: number
  /** What the store as it is could not take, and was left out. */
  readonly refused?: Tally<RefusedLine>
}

export interface ImportPreview<Value> {
  readonly added: Tally<StagedRow<Value>>
  readonly changed: Tally<StagedRow<Value> & { readonly before: Value }>
  readonly unchanged: number
  /** What the store as it is could not take. */
  readonly refused?: Tally<RefusedLine>
}

/** Nothing was changed, since the store as it is cannot take some of the rows. */
export class RowsRefused extends Error {
  override readonly name = 'RowsRefused'
  readonly refused: Tally<RefusedLine>

  constructor(refused: Tally<RefusedLine>) {
    const [first] = refused.first
    super(
      `${refused.count} lines cannot be taken${first ? `, such as line ${first.line}: ${first.reason}` : ''}`,
    )
    this.refused = refused
  }
}

export interface ApplyOptions {
  /** Both go into the history. */
  readonly at: number
  readonly keyId: string
  /** Gives the import up while it can still be: nothing is changed then. */
  readonly signal?: AbortSignal
  /** Called with 0 rows when writing begins, then after each step. If it throws, nothing is changed. */
  readonly onProgress?: (done: number, total: number) => void
  /** Leaves out what the store cannot take. Else one such row is enough for RowsRefused. */
  readonly skipBad?: boolean
  /** How many of these are told. */
  readonly examples?: number
}

/**
 * Rows on their way into the store, seen by nobody until `apply`. In this order: `add` as often as needed, `seal`,
 * then `preview` or `apply`; `discard` in the end, whatever happened.
 */
export interface StagedRows<Value> {
  /** Lines must be given in ascending order. */
  add(rows: readonly StagedRow<Value>[]): Promise<void>
  /** Ends the adding. Where an id stands twice, the first line counts; tells the others, the first few by line. */
  seal(examples: number): Promise<Tally<DuplicateRow>>
  discard(): Promise<void>
}

export interface StagedImport<Value> extends StagedRows<Value> {
  /** What `apply` would do now. Changes nothing. */
  preview(examples: number): Promise<ImportPreview<Value>>
  /**
   * Brings the store to what the rows say, in one commit; what no row names stays as it is. Writes only what
   * really differs. A quantity that changes leaves a history row; a pet that is new, or comes back, an entry of the log.
   * A category that differs leaves its row in the log, and its pets the crossings of their thresholds.
   * An order that is open reserves, and is refused where it cannot.
   */
  apply(options: ApplyOptions): Promise<ImportCounts>
}

interface StagingOptions {
  /** How many refused lines are kept to be told. */
  readonly examples: number
  readonly signal: AbortSignal
  /** Rows read so far, good and bad. */
  readonly onProgress: (rows: number) => void
}

/** Checks every row and stages the good ones. Keeps no more in memory than one batch and the examples. */
export async function stageRows<Value>(
  batches: AsyncIterable<readonly RawRow[]>,
  kind: RowReader<Value>,
  staged: StagedRows<Value>,
  { examples, signal, onProgress }: StagingOptions,
): Promise<{ readonly rows: number; readonly refused: Tally<RefusedLine> }> {
  let rows = 0
  let bad = 0
  const first: RefusedLine[] = []
  for await (const batch of batches) {
    signal.throwIfAborted()
    const good: StagedRow<Value>[] = []
    for (const row of batch) {
      const { line } = row
      const result = 'reason' in row ? row : rowOrReason(line, () => ({ line, value: kind.read(row.fields) }))
      if ('value' in result) good.push(result)
      else if (++bad <= examples) first.push(result)
    }
    await staged.add(good)
    rows += batch.length
    onProgress(rows)
  }
  signal.throwIfAborted()
  const duplicates = await staged.seal(examples)
  for (const { line, firstLine, id } of duplicates.first) {
    first.push({ line, reason: `${kind.noun} ${id} stands on line ${firstLine} already` })
  }
  first.sort((a, b) => a.line - b.line)
  return { rows, refused: { count: bad + duplicates.count, first: first.slice(0, examples) } }
}
