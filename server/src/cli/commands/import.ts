import type { Command } from 'commander'
import { COUNT_ROWS } from '../../core/transfer/adjustment-rows.ts'
import { CATEGORY_ROWS, ORDER_ROWS, PET_ROWS, type RowKind } from '../../core/transfer/exchange-rows.ts'
import { IMPORT_KINDS } from '../../core/transfer/row-source.ts'
import {
  IMPORT_KEY_ID,
  RowsRefused,
  type StagedImport,
  stageRows,
} from '../../core/transfer/staged-import.ts'
import type { WritePause } from '../../core/transfer/transfer-store.ts'
import type { Clock } from '../../core/values/clock.ts'
import { runAdjustment } from '../adjustment-run.ts'
import { addFileOptions, type FileFlags, type FileRun, withFile, withStaged } from '../file-run.ts'
import { applyWithinPause } from '../import-pause.ts'
import { dryRunReport, refusedLines, summary, together } from '../import-report.ts'
import { counted, grouped } from '../terminal.ts'
import { databaseName, withStore } from '../with-store.ts'

interface Flags extends FileFlags {
  readonly skipBad?: true
}

interface Target {
  readonly database: string
  readonly clock: Clock
  readonly pause: WritePause | undefined
}

type Run = FileRun<(typeof IMPORT_KINDS)[number]['name']>

const MEND = 'Mend the file, or leave them out with --skip-bad'

export function addImportCommand(program: Command): void {
  const command = program
    .command('import')
    .description(
      'Bring in pets with their stock, categories, orders, or a count of the stock, while the service runs: all of the file or nothing. What the file does not name stays as it is.',
    )
  addFileOptions(command)
    .option('--skip-bad', 'leave bad lines out instead of refusing the file')
    .addHelpText(
      'after',
      `\nCSV begins with one of these headers; JSON Lines have the same names:\n  ${IMPORT_KINDS.map(({ header }) => header).join('\n  ')}`,
    )
    .action(importFile)
}

async function importFile(file: string, flags: Flags): Promise<void> {
  await withFile(file, flags, IMPORT_KINDS, async (run) => {
    // A count is of pets that are there: there is nothing to do in a new database.
    if (run.source.kind === 'count')
      return withStore(flags, 'expect', async (store, config) => {
        const purpose = {
          database: databaseName(config),
          clock: store.clock,
          keyId: IMPORT_KEY_ID,
          reason: 'counted',
          skipRefused: flags.skipBad === true,
          pause: store.writePause,
          advice: MEND,
        } as const
        await runAdjustment(run, flags, COUNT_ROWS, await store.stageAdjustment(), purpose)
      })
    return withStore(flags, 'make_if_none', async (store, config) => {
      const target = { database: databaseName(config), clock: store.clock, pause: store.writePause }
      if (run.source.kind === 'pets') await runImport(run, flags, PET_ROWS, await store.stagePets(), target)
      else if (run.source.kind === 'categories')
        await runImport(run, flags, CATEGORY_ROWS, await store.stageCategories(), target)
      else await runImport(run, flags, ORDER_ROWS, await store.stageOrders(), target)
    })
  })
}

async function runImport<Value>(
  { name, bytes, source, signal }: Run,
  flags: Flags,
  kind: RowKind<Value>,
  staged: StagedImport<Value>,
  { database, clock, pause }: Target,
): Promise<void> {
  const began = performance.now()
  await withStaged(staged, async (progress) => {
    const { rows, refused: bad } = await stageRows(source.batches, kind, staged, {
      examples: flags.show,
      signal,
      onProgress: (read) => progress.show('reading', read, bytes.fractionRead()),
    })
    if (flags.dryRun === true) {
      progress.show('comparing', rows)
      const preview = await staged.preview(flags.show)
      const refused = together(bad, preview.refused, flags.show)
      progress.end()
      console.log(dryRunReport(name, preview, refused, kind))
      if (refused.count > 0 && flags.skipBad !== true) throw hasBadLines(name, refused.count)
      return
    }
    if (bad.count > 0) {
      progress.end()
      for (const line of refusedLines(bad)) console.error(line)
      if (flags.skipBad !== true) throw hasBadLines(name, bad.count)
    }
    progress.show('comparing', rows)
    const { added, changed, unchanged, refused } = await applyWithinPause(
      pause,
      flags,
      { progress, signal },
      (onProgress) =>
        staged.apply({
          at: clock(),
          keyId: IMPORT_KEY_ID,
          signal,
          skipBad: flags.skipBad === true,
          examples: flags.show,
          onProgress,
        }),
    ).catch((error: unknown) => {
      progress.end()
      if (!(error instanceof RowsRefused)) throw error
      for (const line of refusedLines(error.refused)) console.error(line)
      throw hasBadLines(name, error.refused.count)
    })
    progress.end()
    if (refused !== undefined) for (const line of refusedLines(refused)) console.error(line)
    const done = `${counted(added, kind.noun, kind.plural)} added, ${grouped(changed)} changed, ${grouped(unchanged)} left alone`
    const seconds = (performance.now() - began) / 1_000
    console.log(`${name}: ${summary(done, rows, bad.count + (refused?.count ?? 0), seconds)} in ${database}`)
  })
}

function hasBadLines(name: string, count: number): Error {
  return new Error(`${name} has ${counted(count, 'bad line')}; nothing was changed. ${MEND}`)
}
