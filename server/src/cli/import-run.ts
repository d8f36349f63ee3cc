import type { ChangeOrigin } from '../core/stock/command.ts'
import type { FileKind } from '../core/transfer/csv.ts'
import { ENCODINGS, type Encoding, NotUtf8, openRows, type RowSource } from '../core/transfer/files.ts'
import {
  mergeRefused,
  RowsRefused,
  type StagedImport,
  stageRows,
  type Tally,
} from '../core/transfer/import.ts'
import type { RefusedLine, RowKind } from '../core/transfer/rows.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { Store } from '../store/store.ts'
import { choiceParser, type PetstoreCommand, type SettingFlags, wholeNumberParser } from './arguments.ts'
import { type ByteSource, openByteSource } from './files.ts'
import { applyWithPauseLimit, DEFAULT_MAX_PAUSE_SECONDS, type PauseFlags } from './import-pause.ts'
import { dryRunReport, importSummary, printRefused } from './import-report.ts'
import { Progress } from './progress.ts'
import { formatCount, formatNumber, runInterruptible, UnknownOutcome } from './terminal.ts'

export interface FileFlags extends SettingFlags, PauseFlags {
  readonly dryRun?: true
  readonly show: number
  readonly encoding: Encoding
}

interface OpenFile<KindName extends string> {
  /** The name in messages. */
  readonly name: string
  readonly bytes: Pick<ByteSource, 'fractionRead'>
  readonly source: RowSource<KindName>
  readonly signal: AbortSignal
}

export function addFileOptions(command: PetstoreCommand): PetstoreCommand {
  return command
    .argument('<file>', 'CSV or JSON Lines; - reads standard input')
    .option('--dry-run', 'show the changes without making them')
    .option(
      '--show <number>',
      'how many added, changed and refused lines to show',
      wholeNumberParser('--show'),
      20,
    )
    .option(
      '--encoding <encoding>',
      `${ENCODINGS.join(', ')}; latin1 is Windows-1252, which spreadsheets write`,
      choiceParser('--encoding', ENCODINGS),
      'utf8',
    )
    .option(
      '--max-pause <seconds>',
      'how long a running service may be unable to write (SQLite); a longer pause needs confirmation',
      wholeNumberParser('--max-pause'),
      DEFAULT_MAX_PAUSE_SECONDS,
    )
    .option('--yes', 'do not ask for confirmation')
    .databaseSettings()
}

/** Opens a file, detects its kind, and runs `work`. Ctrl-C and SIGTERM abort the work. */
export async function withFile<KindName extends string>(
  path: string,
  { encoding }: Pick<FileFlags, 'encoding'>,
  kinds: readonly FileKind<KindName>[],
  work: (file: OpenFile<KindName>) => Promise<void>,
): Promise<void> {
  const name = path === '-' ? 'standard input' : path
  await runInterruptible('nothing was changed', async (signal) => {
    const bytes = openByteSource(path, signal)
    try {
      await work({ name, bytes, source: await openRows(bytes.chunks, name, kinds, encoding), signal })
    } catch (error) {
      if (!(error instanceof NotUtf8)) throw error
      throw new Error(
        `${error.message}; nothing was changed. Use --encoding latin1, or save it as UTF-8 (in Excel: CSV UTF-8)`,
        { cause: error },
      )
    } finally {
      bytes.close()
    }
  })
}

/**
 * The key, the reason and the reference go into the history. Only adjustments have a reason. An import of a stock count is an
 * adjustment, too.
 */
export interface ImportRun<Value> extends Pick<ChangeOrigin, 'keyId' | 'reason' | 'reference'> {
  readonly rowKind: RowKind<Value>
  readonly staged: StagedImport<Value>
  readonly store: Pick<Store, 'clock' | 'writePause'>
  /** The name of the database in messages. */
  readonly database: string
  readonly skipRefused: boolean
  readonly badLinesAdvice: string
}

type RunFlags = Pick<FileFlags, 'dryRun' | 'show' | 'yes' | 'maxPause'>

/** Imports a whole file, or shows the changes that it would make. */
export async function runImport<Value>(
  file: OpenFile<string>,
  flags: RunFlags,
  run: ImportRun<Value>,
): Promise<void> {
  const startedAt = performance.now()
  const progress = new Progress('rows')
  try {
    const { rows: rowCount, refused } = await stageRows(file.source.batches, run.rowKind, run.staged, {
      maxExamples: flags.show,
      signal: file.signal,
      onProgress: (rowsRead) => progress.show('reading', rowsRead, file.bytes.fractionRead()),
    })
    if (isAdjustment(run) && rowCount === 0) throw new Error(`${file.name} names no pet; nothing was changed`)
    progress.show('comparing', rowCount)
    if (flags.dryRun === true || (refused.count > 0 && !run.skipRefused)) {
      await previewImport(file, flags, run, refused, progress)
      return
    }
    const result = await applyImport(file, flags, run, refused, progress)
    const seconds = (performance.now() - startedAt) / 1_000
    const summary = importSummary(result.text, rowCount, result.refused.count, seconds)
    console.log(`${file.name}${purposeText(run)}: ${summary} in ${run.database}`)
  } catch (error) {
    throw explainDatabaseFailure(error, 'nothing was changed')
  } finally {
    progress.end()
    await run.staged.discard()
  }
}

function isAdjustment({ reason }: Pick<ChangeOrigin, 'reason'>): boolean {
  return reason !== undefined
}

function purposeText({ reason, reference }: Pick<ChangeOrigin, 'reason' | 'reference'>): string {
  if (reason === undefined) return ''
  return reference === undefined ? ` (${reason})` : ` (${reason}, ${reference})`
}

/** Prints the report of a dry run, or the refused lines. Throws if there are refused lines that may not be skipped. */
async function previewImport<Value>(
  { name }: OpenFile<string>,
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
  if (refused.count > 0 && !run.skipRefused) throw badLinesError(name, run, refused.count)
}

async function applyImport<Value>(
  { name, signal }: OpenFile<string>,
  flags: RunFlags,
  run: ImportRun<Value>,
  refusedInStaging: Tally<RefusedLine>,
  progress: Progress,
): Promise<{ readonly text: string; readonly refused: Tally<RefusedLine> }> {
  const { rowKind, staged, store, skipRefused, keyId, reason, reference } = run
  let mayBeCommitted = false
  try {
    const counts = await applyWithPauseLimit(store.writePause, flags, { progress, signal }, (onProgress) =>
      staged.apply({
        at: store.clock(),
        keyId,
        reason,
        reference,
        skipRefused,
        maxExamples: flags.show,
        signal,
        onProgress: (done, total) => {
          mayBeCommitted = done === total
          onProgress(done, total)
        },
      }),
    )
    progress.end()
    const refused = mergeRefused(refusedInStaging, flags.show, counts.refused)
    printRefused(refused)
    const changesText = isAdjustment(run)
      ? `${formatCount(counts.changed, rowKind.noun, rowKind.plural)} changed`
      : `${formatCount(counts.added, rowKind.noun, rowKind.plural)} added, ${formatNumber(counts.changed)} changed`
    return { text: `${changesText}, ${formatNumber(counts.unchanged)} unchanged`, refused }
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
    `${file} has ${formatCount(count, 'bad line')}; nothing was changed. ${run.badLinesAdvice}${hint}`,
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
