import type { Reason } from '../core/stock/adjustment.ts'
import type { Encoding } from '../core/transfer/files.ts'
import {
  IMPORT_KEY_ID,
  mergeRefused,
  RowsRefused,
  type StagedImport,
  stageRows,
  type Tally,
} from '../core/transfer/import.ts'
import type { RawRow, RefusedLine, RowKind } from '../core/transfer/rows.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { Store } from '../store/store.ts'
import type { SettingFlags } from './arguments.ts'
import type { ByteSource } from './files.ts'
import { applyWithPauseLimit, type PauseFlags } from './import-pause.ts'
import { dryRunReport, importSummary, printRefused } from './import-report.ts'
import { Progress } from './progress.ts'
import { formatCount, formatNumber, UnknownOutcome } from './terminal.ts'

export interface ImportFlags extends SettingFlags, PauseFlags {
  readonly dryRun?: true
  readonly show: number
  readonly encoding: Encoding
}

export interface OpenFile {
  /** The name in messages. */
  readonly name: string
  readonly bytes: Pick<ByteSource, 'fractionRead'>
  readonly rows: AsyncIterable<readonly RawRow[]>
  readonly signal: AbortSignal
}

export interface ImportRun<Value> {
  readonly rowKind: RowKind<Value>
  readonly staged: StagedImport<Value>
  readonly reason: Reason | undefined
  readonly store: Pick<Store, 'clock' | 'writePause'>
  /** The name of the database in messages. */
  readonly database: string
}

type RunFlags = Pick<ImportFlags, 'dryRun' | 'show' | 'yes' | 'maxPause'>

/** Imports a whole file, or shows the changes that it would make. */
export async function runImport<Value>(
  file: OpenFile,
  flags: RunFlags,
  run: ImportRun<Value>,
): Promise<void> {
  const startedAt = performance.now()
  const progress = new Progress('rows')
  try {
    const { rows: rowCount, refused } = await stageRows(file.rows, run.rowKind, run.staged, {
      maxExamples: flags.show,
      signal: file.signal,
      onProgress: (rowsRead) => progress.show('reading', rowsRead, file.bytes.fractionRead()),
    })
    if (isAdjustment(run) && rowCount === 0) throw new Error(`${file.name} names no pet; nothing was changed`)
    progress.show('comparing', rowCount)
    if (flags.dryRun === true || refused.count > 0) {
      await previewImport(file, flags, run, refused, progress)
      return
    }
    const result = await applyImport(file, flags, run, progress)
    const seconds = (performance.now() - startedAt) / 1_000
    const summary = importSummary(result, rowCount, seconds)
    const purpose = run.reason === undefined ? '' : ` (${run.reason})`
    console.log(`${file.name}${purpose}: ${summary} in ${run.database}`)
  } catch (error) {
    throw explainDatabaseFailure(error, 'nothing was changed')
  } finally {
    progress.end()
    await run.staged.discard()
  }
}

/** An import of a stock count is an adjustment. Only adjustments have a reason, which goes into the history. */
function isAdjustment({ reason }: { readonly reason: Reason | undefined }): boolean {
  return reason !== undefined
}

/** Prints the report of a dry run, or the refused lines. Throws if there are refused lines. */
async function previewImport<Value>(
  { name }: OpenFile,
  { dryRun, show }: RunFlags,
  run: ImportRun<Value>,
  refusedInStaging: Tally<RefusedLine>,
  progress: Progress,
): Promise<void> {
  const preview = await run.staged.preview(show)
  const refused = mergeRefused(refusedInStaging, show, preview.refused)
  progress.end()
  if (dryRun === true) {
    console.log(dryRunReport(name, preview, refused, run.rowKind, { isAdjustment: isAdjustment(run) }))
  } else printRefused(refused)
  if (refused.count > 0) throw badLinesError(name, run, refused.count)
}

async function applyImport<Value>(
  { name, signal }: OpenFile,
  flags: RunFlags,
  run: ImportRun<Value>,
  progress: Progress,
): Promise<string> {
  const { rowKind, staged, store, reason } = run
  let mayBeCommitted = false
  try {
    const counts = await applyWithPauseLimit(store.writePause, flags, { progress, signal }, (onProgress) =>
      staged.apply({
        at: store.clock(),
        keyId: IMPORT_KEY_ID,
        reason,
        maxExamples: flags.show,
        signal,
        onProgress: (done, total) => {
          mayBeCommitted = done === total
          onProgress(done, total)
        },
      }),
    )
    progress.end()
    const changesText = isAdjustment(run)
      ? `${formatCount(counts.changed, rowKind.noun, rowKind.plural)} changed`
      : `${formatCount(counts.added, rowKind.noun, rowKind.plural)} added, ${formatNumber(counts.changed)} changed`
    return `${changesText}, ${formatNumber(counts.unchanged)} unchanged`
  } catch (error) {
    if (error instanceof RowsRefused) {
      progress.end()
      printRefused(error.refused)
      throw badLinesError(name, run, error.refused.count)
    }
    if (!mayBeCommitted) throw error
    throw explainDatabaseFailure(
      error,
      isAdjustment(run)
        ? 'the adjustment may have been made: check GET /inventory/history before you run the command again'
        : 'the import may have been made: run the command again, which leaves imported rows unchanged',
      UnknownOutcome,
    )
  }
}

function badLinesError<Value>(file: string, run: ImportRun<Value>, count: number): Error {
  const hint = isAdjustment(run) ? '; petstore export shows the current stock' : ''
  return new Error(
    `${file} has ${formatCount(count, 'bad line')}; nothing was changed. Fix the file and run the command again${hint}`,
  )
}

/** Adds the cause of a database failure, and its effect. Returns other errors unchanged. */
function explainDatabaseFailure(
  error: unknown,
  effect: string,
  ErrorClass: new (message: string, options: ErrorOptions) => Error = Error,
): unknown {
  if (!(error instanceof ServiceError) || !(error.cause instanceof Error)) return error
  return new ErrorClass(`the database failed (${error.cause.message}); ${effect}`, { cause: error })
}
