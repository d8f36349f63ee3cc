import type { Command } from 'commander'
import { COUNT_ROWS } from '../../core/transfer/adjustment-rows.ts'
import { ORDER_ROWS, PET_ROWS, type RowKind } from '../../core/transfer/exchange-rows.ts'
import { IMPORT_KINDS } from '../../core/transfer/row-source.ts'
import { IMPORT_KEY_ID, type StagedImport, stageRows } from '../../core/transfer/staged-import.ts'
import { runAdjustment } from '../adjustment-run.ts'
import { addFileOptions, type FileFlags, type FileRun, withFile, withStaged } from '../file-run.ts'
import { dryRunReport, refusedLines, summary } from '../import-report.ts'
import { counted, grouped } from '../output.ts'
import { withStore } from '../with-store.ts'

interface Flags extends FileFlags {
  readonly skipBad?: true
}

type Run = FileRun<(typeof IMPORT_KINDS)[number]['name']>

const MEND = 'Mend the file, or leave them out with --skip-bad'

export function addImportCommand(program: Command): void {
  const command = program
    .command('import')
    .description(
      'Bring in pets with their stock, orders, or a count of the stock, while the service runs: all of the file or nothing. What the file does not name stays as it is.',
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
  await withFile(file, IMPORT_KINDS, async (run) => {
    // A count is of pets that are there: there is nothing to do in a new database.
    if (run.source.kind === 'count')
      return withStore(flags, 'expect', async (store) => {
        const purpose = {
          keyId: IMPORT_KEY_ID,
          reason: 'counted',
          skipRefused: flags.skipBad === true,
          advice: MEND,
        } as const
        await runAdjustment(run, flags, COUNT_ROWS, await store.stageAdjustment(), purpose)
      })
    return withStore(flags, 'make_if_none', async (store) => {
      if (run.source.kind === 'pets') await runImport(run, flags, PET_ROWS, await store.stagePets())
      else await runImport(run, flags, ORDER_ROWS, await store.stageOrders())
    })
  })
}

async function runImport<Value>(
  { name, bytes, source, signal }: Run,
  flags: Flags,
  kind: RowKind<Value>,
  staged: StagedImport<Value>,
): Promise<void> {
  const began = performance.now()
  await withStaged(staged, async (progress) => {
    const { rows, refused } = await stageRows(source.batches, kind, staged, {
      examples: flags.show,
      signal,
      onProgress: (read) => progress.show('reading', read, bytes.fractionRead()),
    })
    const isRefused = refused.count > 0 && flags.skipBad !== true
    if (!isRefused || flags.dryRun === true) progress.show('comparing', rows)
    if (flags.dryRun === true) {
      const preview = await staged.preview(flags.show)
      progress.end()
      console.log(dryRunReport(name, preview, refused, kind))
    } else if (refused.count > 0) {
      progress.end()
      for (const line of refusedLines(refused)) console.error(line)
    }
    if (isRefused) {
      throw new Error(`${name} has ${counted(refused.count, 'bad line')}; nothing was changed. ${MEND}`)
    }
    if (flags.dryRun === true) return
    const { added, changed, unchanged } = await staged.apply({
      at: Date.now(),
      keyId: IMPORT_KEY_ID,
      signal,
      onProgress: (done, total) => progress.show('writing', done, done / total),
    })
    progress.end()
    const done = `${counted(added, kind.noun)} added, ${grouped(changed)} changed, ${grouped(unchanged)} left alone`
    const seconds = (performance.now() - began) / 1_000
    console.log(`${name}: ${summary(done, rows, refused.count, seconds)}`)
  })
}
