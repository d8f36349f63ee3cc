import { type RawRow, type RefusedLine, type RowKind, rowOrReason } from './exchange-rows.ts'
import type { StagedImport, StagedRow, Tally } from './staged-import.ts'

export interface StagingOptions {
  /** How many refused lines are kept to be told. */
  readonly examples: number
  readonly signal: AbortSignal
  /** Rows read so far, good and bad. */
  readonly onProgress: (rows: number) => void
}

export interface StagingOutcome {
  readonly rows: number
  readonly refused: Tally<RefusedLine>
}

/** Checks every row and stages the good ones. Keeps no more in memory than one batch and the examples. */
export async function stageRows<Value>(
  batches: AsyncIterable<readonly RawRow[]>,
  kind: RowKind<Value>,
  staged: StagedImport<Value>,
  { examples, signal, onProgress }: StagingOptions,
): Promise<StagingOutcome> {
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
