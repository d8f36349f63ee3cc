import type { Command } from 'commander'
import {
  headerOf,
  ORDER_ROWS,
  PET_ROWS,
  type RefusedLine,
  type RowKind,
} from '../../core/transfer/exchange-rows.ts'
import { openRows, type RowSource } from '../../core/transfer/row-source.ts'
import {
  IMPORT_KEY_ID,
  RowsRefused,
  type StagedImport,
  stageRows,
  type Tally,
} from '../../core/transfer/staged-import.ts'
import { ServiceError } from '../../core/values/errors.ts'
import { wholeNumber } from '../arguments.ts'
import { type ByteSource, openBytes } from '../files.ts'
import { dryRunReport, refusedLines, summary } from '../import-report.ts'
import { interruptible } from '../interruption.ts'
import { counted } from '../output.ts'
import { Progress } from '../progress.ts'
import { type SettingFlags, setting, withStore } from '../with-store.ts'

interface Flags extends SettingFlags {
  readonly dryRun?: true
  readonly skipBad?: true
  readonly show: number
}

export function addImportCommand(program: Command): void {
  program
    .command('import')
    .description(
      'Bring in pets with their stock, or orders, while the service runs: all of the file or nothing. What the file does not name stays as it is.',
    )
    .argument('<file>', 'CSV or JSON Lines; - reads standard input')
    .option('--dry-run', 'show what would be done, and change nothing')
    .option('--skip-bad', 'leave bad lines out instead of refusing the file')
    .option('--show <number>', 'how many lines of each kind are shown', wholeNumber('--show'), 20)
    .addOption(setting('databaseUrl'))
    .addHelpText(
      'after',
      `\nCSV begins with one of these headers; JSON Lines have the same names:\n  ${headerOf(PET_ROWS.columns)}\n  ${headerOf(ORDER_ROWS.columns)}`,
    )
    .action(importFile)
}

async function importFile(file: string, flags: Flags): Promise<void> {
  const name = file === '-' ? 'standard input' : file
  await interruptible('nothing was changed', async (signal) => {
    const bytes = openBytes(file, signal)
    const source = await openRows(bytes.chunks, name)
    await withStore(flags, 'make_if_none', async (store) => {
      const run = { name, flags, bytes, source, signal }
      if (source.kind === 'pets') await runImport(run, PET_ROWS, await store.stagePets())
      else await runImport(run, ORDER_ROWS, await store.stageOrders())
    })
  })
}

interface Run {
  readonly name: string
  readonly flags: Flags
  readonly bytes: ByteSource
  readonly source: RowSource
  readonly signal: AbortSignal
}

const NONE_REFUSED: Tally<RefusedLine> = { count: 0, first: [] }

function hasBadLines(name: string, count: number): Error {
  return new Error(
    `${name} has ${counted(count, 'bad line')}; nothing was changed. Mend the file, or leave them out with --skip-bad`,
  )
}

function together(
  some: Tally<RefusedLine>,
  more: Tally<RefusedLine> = NONE_REFUSED,
  examples: number,
): Tally<RefusedLine> {
  const first = [...some.first, ...more.first].sort((one, other) => one.line - other.line)
  return { count: some.count + more.count, first: first.slice(0, examples) }
}

async function runImport<Value>(run: Run, kind: RowKind<Value>, staged: StagedImport<Value>): Promise<void> {
  const { name, flags, bytes, source, signal } = run
  const progress = new Progress()
  const began = performance.now()
  try {
    const { rows, refused: unreadable } = await stageRows(source.batches, kind, staged, {
      examples: flags.show,
      signal,
      onProgress: (read) => progress.show('reading', read, bytes.fractionRead()),
    })
    let refused = unreadable
    const isAllowed = () => refused.count === 0 || flags.skipBad === true
    if (isAllowed() || flags.dryRun === true) progress.show('comparing', rows)
    if (flags.dryRun === true) {
      const preview = await staged.preview(flags.show)
      refused = together(refused, preview.refused, flags.show)
      progress.end()
      console.log(dryRunReport(name, preview, refused, kind))
    } else if (refused.count > 0) {
      progress.end()
      for (const line of refusedLines(refused)) console.error(line)
    }
    if (!isAllowed()) throw hasBadLines(name, refused.count)
    if (flags.dryRun === true) return
    const counts = await staged
      .apply({
        at: Date.now(),
        keyId: IMPORT_KEY_ID,
        signal,
        onProgress: (done, total) => progress.show('writing', done, done / total),
        skipBad: flags.skipBad === true,
        examples: flags.show,
      })
      .finally(() => progress.end())
    for (const line of refusedLines(counts.refused ?? NONE_REFUSED)) console.error(line)
    refused = together(refused, counts.refused, flags.show)
    console.log(`${name}: ${summary(counts, refused.count, kind.noun, (performance.now() - began) / 1_000)}`)
  } catch (error) {
    if (error instanceof RowsRefused) {
      for (const line of refusedLines(error.refused)) console.error(line)
      throw hasBadLines(name, error.refused.count)
    }
    throw error instanceof ServiceError && error.cause instanceof Error
      ? new Error(`the database failed (${error.cause.message}); nothing was changed`, { cause: error })
      : error
  } finally {
    progress.end()
    await staged.discard()
  }
}
