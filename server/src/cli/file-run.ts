// What commands that bring in a file have in common: reading it, saying how far they are, failing.
import { type Command, Option } from 'commander'
import type { FileKind } from '../core/transfer/file-header.ts'
import { ENCODINGS, type Encoding, NotUtf8 } from '../core/transfer/file-lines.ts'
import { openRows, type RowSource } from '../core/transfer/row-source.ts'
import { ServiceError } from '../core/values/errors.ts'
import { oneOf, type SettingFlags, setting, wholeNumber } from './arguments.ts'
import { type ByteSource, openBytes } from './files.ts'
import { DEFAULT_MAX_PAUSE_SECONDS, type PauseFlags } from './import-pause.ts'
import { interruptible, Progress } from './terminal.ts'

export interface FileFlags extends SettingFlags, PauseFlags {
  readonly dryRun?: true
  readonly show: number
  readonly encoding: Encoding
}

/** A file that is being brought in. */
export interface FileRun<Name extends string> {
  /** What messages call it. */
  readonly name: string
  readonly bytes: ByteSource
  readonly source: RowSource<Name>
  readonly signal: AbortSignal
}

/** Adds the argument and the flags of such a command. */
export function addFileOptions(command: Command): Command {
  return command
    .argument('<file>', 'CSV or JSON Lines; - reads standard input')
    .option('--dry-run', 'show what would be done, and change nothing')
    .addOption(
      new Option('--show <number>', 'how many lines of each kind are shown')
        .argParser(wholeNumber('--show'))
        .default(20),
    )
    .option(
      '--encoding <encoding>',
      `${ENCODINGS.join(', ')}; latin1 is Windows-1252, as spreadsheets write it`,
      oneOf('--encoding', ENCODINGS),
      'utf8',
    )
    .addOption(
      new Option(
        '--max-pause <seconds>',
        'how long a running service may be kept from writing (SQLite); a terminal is asked before it is longer',
      )
        .argParser(wholeNumber('--max-pause'))
        .default(DEFAULT_MAX_PAUSE_SECONDS),
    )
    .option('--yes', 'write without asking, however long the service cannot write')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
}

/** Tells what the file holds, and does `work` with it, which a signal ends. */
export async function withFile<Name extends string>(
  file: string,
  { encoding }: Pick<FileFlags, 'encoding'>,
  kinds: readonly FileKind<Name>[],
  work: (run: FileRun<Name>) => Promise<void>,
): Promise<void> {
  const name = file === '-' ? 'standard input' : file
  await interruptible('nothing was changed', async (signal) => {
    const bytes = openBytes(file, signal)
    try {
      await work({ name, bytes, source: await openRows(bytes.chunks, name, kinds, encoding), signal })
    } catch (error) {
      if (!(error instanceof NotUtf8)) throw error
      throw new Error(
        `${error.message}; nothing was changed. Give --encoding latin1, or save it as UTF-8 (in Excel: CSV UTF-8)`,
        { cause: error },
      )
    }
  })
}

/** Does `work`, shows how far it is, and discards what is staged. `aftermath` says what a failure has left. */
export async function withStaged(
  staged: { discard(): Promise<void> },
  work: (progress: Progress) => Promise<void>,
  aftermath: () => string = () => 'nothing was changed',
): Promise<void> {
  const progress = new Progress()
  try {
    await work(progress)
  } catch (error) {
    throw error instanceof ServiceError && error.cause instanceof Error
      ? new Error(`the database failed (${error.cause.message}); ${aftermath()}`, { cause: error })
      : error
  } finally {
    progress.end()
    await staged.discard()
  }
}
