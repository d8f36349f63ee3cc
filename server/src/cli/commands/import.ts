import type { Command } from 'commander'
import { COUNT_ROWS } from '../../core/transfer/adjustment.ts'
import { IMPORT_KINDS } from '../../core/transfer/files.ts'
import { IMPORT_KEY_ID } from '../../core/transfer/import.ts'
import { CATEGORY_ROWS, ORDER_ROWS, PET_ROWS } from '../../core/transfer/rows.ts'
import { addFileOptions, type FileFlags, runImport, withFile } from '../import-run.ts'
import { databaseName, withStore } from '../with-store.ts'

interface Flags extends FileFlags {
  readonly skipBad?: true
}

export function addImportCommand(program: Command): void {
  const command = program
    .command('import')
    .description(
      'Import pets with their stock, categories, orders, or a stock count, while the service runs: the whole file or nothing. Records that the file does not name stay as they are.',
    )
  addFileOptions(command)
    .option('--skip-bad', 'skip bad lines instead of refusing the file')
    .addHelpText(
      'after',
      `\nCSV begins with one of these headers; JSON Lines have the same names:\n  ${IMPORT_KINDS.map(({ header }) => header).join('\n  ')}`,
    )
    .action(importFile)
}

async function importFile(path: string, flags: Flags): Promise<void> {
  await withFile(path, flags, IMPORT_KINDS, async (file) => {
    const { kind } = file.source
    // A stock count is about existing pets, so it needs no new database.
    await withStore(flags, kind === 'count' ? 'expect' : 'make_if_none', async (store, config) => {
      const common = {
        store,
        database: databaseName(config),
        keyId: IMPORT_KEY_ID,
        skipRefused: flags.skipBad === true,
        advice: 'Fix the file, or skip these lines with --skip-bad',
      }
      switch (kind) {
        case 'pets':
          return runImport(file, flags, { ...common, rows: PET_ROWS, staged: await store.stagePets() })
        case 'categories':
          return runImport(file, flags, {
            ...common,
            rows: CATEGORY_ROWS,
            staged: await store.stageCategories(),
          })
        case 'orders':
          return runImport(file, flags, { ...common, rows: ORDER_ROWS, staged: await store.stageOrders() })
        case 'count':
          return runImport(file, flags, {
            ...common,
            rows: COUNT_ROWS,
            staged: await store.stageAdjustment(),
            reason: 'counted',
          })
      }
    })
  })
}
