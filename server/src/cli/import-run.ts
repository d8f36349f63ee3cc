// The part that `import` and `adjust` share: the flags, reading a file, and running the import.
import { type Command, Option } from 'commander'
import type { ChangeOrigin } from '../core/stock/command.ts'
import type { FileKind } from '../core/transfer/csv.ts'
import { ENCODINGS, type Encoding, NotUtf8, openRows, type RowSource } from '../core/transfer/files.ts'
import { mergeRefused, RowsRefused, type StagedImport, stageRows } from '../core/transfer/import.ts'
import type { RowKind } from '../core/transfer/rows.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { Store } from '../store/store.ts'
import { oneOf, type SettingFlags, setting, wholeNumber } from './arguments.ts'
import { type ByteSource, openBytes } from './files.ts'
import { applyWithinPause, DEFAULT_MAX_PAUSE_SECONDS, type PauseFlags } from './import-pause.ts'
import { dryRunReport, refusedLines, summary } from './import-report.ts'
import { counted, grouped, interruptible, Progress } from './terminal.ts'

export interface FileFlags extends SettingFlags, PauseFlags {
  readonly dryRun?: true
  readonly show: number
  readonly encoding: Encoding
}

/** A file that is being imported. */
export interface OpenFile<Name extends string> {
  /** The name in messages. */
  readonly name: string
  readonly bytes: ByteSource
  readonly source: RowSource<Name>
  readonly signal: AbortSignal
}

export function addFileOptions(command: Command): Command {
  return command
    .argument('<file>', 'CSV or JSON Lines; - reads standard input')
    .option('--dry-run', 'show the changes without making them')
    .addOption(
      new Option('--show <number>', 'how many lines of each kind are shown')
        .argParser(wholeNumber('--show'))
        .default(20),
    )
    .option(
      '--encoding <encoding>',
      `${ENCODINGS.join(', ')}; latin1 is Windows-1252, which spreadsheets write`,
      oneOf('--encoding', ENCODINGS),
      'utf8',
    )
    .addOption(
      new Option(
        '--max-pause <seconds>',
        'how long a running service may be unable to write (SQLite); for longer pauses a terminal asks first',
      )
        .argParser(wholeNumber('--max-pause'))
        .default(DEFAULT_MAX_PAUSE_SECONDS),
    )
    .option('--yes', 'write without asking, however long the service cannot write')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
}

/** Opens a file, detects its kind, and runs `work` until a signal interrupts it. */
export async function withFile<Name extends string>(
  file: string,
  { encoding }: Pick<FileFlags, 'encoding'>,
  kinds: readonly FileKind<Name>[],
  work: (file: OpenFile<Name>) => Promise<void>,
): Promise<void> {
  const name = file === '-' ? 'standard input' : file
  await interruptible('nothing was changed', async (signal) => {
    const bytes = openBytes(file, signal)
    try {
      await work({ name, bytes, source: await openRows(bytes.chunks, name, kinds, encoding), signal })
    } catch (error) {
      if (!(error instanceof NotUtf8)) throw error
      throw new Error(
        `${error.message}; nothing was changed. Use --encoding latin1, or save it as UTF-8 (in Excel: CSV UTF-8)`,
        { cause: error },
      )
    }
  })
}

/** The key, the reason and the reference go into the history. Adjustments have a reason. */
export interface ImportRun<Value> extends Pick<ChangeOrigin, 'keyId' | 'reason' | 'reference'> {
  readonly rows: RowKind<Value>
  readonly staged: StagedImport<Value>
  readonly store: Pick<Store, 'clock' | 'writePause'>
  /** The name of the database in messages. */
  readonly database: string
  /** Skips bad lines instead of refusing the file. */
  readonly skipRefused: boolean
  /** What to do about bad lines. */
  readonly advice: string
}

/** Imports a whole file, or shows the changes that it would make. */
export async function runImport<Value>(
  file: OpenFile<string>,
  flags: Pick<FileFlags, 'dryRun' | 'show' | 'yes' | 'maxPause'>,
  run: ImportRun<Value>,
): Promise<void> {
  const progress = new Progress()
  let mayBeCommitted = false
  try {
    await importRows(file, flags, run, progress, (isWritten) => {
      mayBeCommitted = isWritten
    })
  } catch (error) {
    if (!(error instanceof ServiceError) || !(error.cause instanceof Error)) throw error
    // An import can be repeated. An adjustment cannot.
    const effect =
      mayBeCommitted && run.reason !== undefined
        ? 'the adjustment may have been made: check petstore history PETID before you run the command again'
        : 'nothing was changed'
    throw new Error(`the database failed (${error.cause.message}); ${effect}`, { cause: error })
  } finally {
    progress.end()
    await run.staged.discard()
  }
}

async function importRows<Value>(
  { name, bytes, source, signal }: OpenFile<string>,
  flags: Pick<FileFlags, 'dryRun' | 'show' | 'yes' | 'maxPause'>,
  run: ImportRun<Value>,
  progress: Progress,
  onWritten: (isWritten: boolean) => void,
): Promise<void> {
  const began = performance.now()
  const { rows: kind, staged, store, skipRefused, keyId, reason, reference } = run
  const isAdjustment = reason !== undefined
  const badLines = (count: number) => {
    const hint = isAdjustment ? '; petstore export shows the current stock' : ''
    return new Error(`${name} has ${counted(count, 'bad line')}; nothing was changed. ${run.advice}${hint}`)
  }
  const { rows, refused: badRows } = await stageRows(source.batches, kind, staged, {
    maxExamples: flags.show,
    signal,
    onProgress: (read) => progress.show('reading', read, bytes.fractionRead()),
  })
  if (isAdjustment && rows === 0) throw new Error(`${name} names no pet; nothing was changed`)

  progress.show('comparing', rows)
  if (flags.dryRun === true || (badRows.count > 0 && !skipRefused)) {
    const preview = await staged.preview(flags.show)
    const refused = mergeRefused(badRows, flags.show, preview.refused)
    progress.end()
    if (flags.dryRun === true) console.log(dryRunReport(name, preview, refused, kind, { isAdjustment }))
    else for (const line of refusedLines(refused)) console.error(line)
    if (refused.count > 0 && !skipRefused) throw badLines(refused.count)
    return
  }

  const counts = await applyWithinPause(store.writePause, flags, { progress, signal }, (onProgress) =>
    staged.apply({
      at: store.clock(),
      keyId,
      reason,
      reference,
      skipRefused,
      maxExamples: flags.show,
      signal,
      onProgress: (done, total) => {
        onWritten(done === total)
        onProgress(done, total)
      },
    }),
  ).catch((error: unknown) => {
    if (!(error instanceof RowsRefused)) throw error
    progress.end()
    for (const line of refusedLines(error.refused)) console.error(line)
    throw badLines(error.refused.count)
  })
  progress.end()
  const refused = mergeRefused(badRows, flags.show, counts.refused)
  for (const line of refusedLines(refused)) console.error(line)
  const changed = isAdjustment
    ? `${counted(counts.changed, kind.noun, kind.plural)} changed`
    : `${counted(counts.added, kind.noun, kind.plural)} added, ${grouped(counts.changed)} changed`
  const done = `${changed}, ${grouped(counts.unchanged)} left alone`
  const purpose = isAdjustment ? ` (${[reason, reference].filter(Boolean).join(', ')})` : ''
  const seconds = (performance.now() - began) / 1_000
  console.log(`${name}${purpose}: ${summary(done, rows, refused.count, seconds)} in ${run.database}`)
}
