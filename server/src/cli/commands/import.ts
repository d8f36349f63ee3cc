import type { Reason } from '../../core/stock/adjustment-fields.ts'
import { STOCK_COUNT_ROW_KIND } from '../../core/transfer/adjustment.ts'
import { IMPORT_KINDS } from '../../core/transfer/files.ts'
import { IMPORT_KEY_ID, type StagedImport } from '../../core/transfer/import.ts'
import {
  CATEGORY_ROW_KIND,
  importedPetRowKind,
  ORDER_ROW_KIND,
  type RowKind,
} from '../../core/transfer/rows.ts'
import type { PetstoreCommand } from '../arguments.ts'
import { addFileOptions, type FileFlags, runImport, withFile } from '../import-run.ts'
import { withStore } from '../with-store.ts'

interface Flags extends FileFlags {
  readonly skipBad?: true
}

export function addImportCommand(program: PetstoreCommand): void {
  const command = program
    .command('import')
    .description(
      'Import pets (with their stock), categories, orders or a stock count, even while the service is running. Either the whole file is imported or nothing. Records that are not in the file stay unchanged.',
    )
  addFileOptions(command)
    .option('--skip-bad', 'skip bad lines instead of refusing the file')
    .addHelpText(
      'after',
      `\nA CSV file starts with one of these headers; JSON Lines use the same names:\n  ${IMPORT_KINDS.map(({ headerDescription }) => headerDescription).join('\n  ')}`,
    )
    .action(importFile)
}

async function importFile(path: string, flags: Flags): Promise<void> {
  await withFile(path, flags, IMPORT_KINDS, async (file) => {
    const { kind } = file.source
    // A stock count changes existing pets only, so a missing database is an error.
    const tables = kind === 'count' ? 'require_current_tables' : 'create_if_missing'
    await withStore(flags, tables, async ({ store, database }) => {
      const run = <Value>(rowKind: RowKind<Value>, staged: StagedImport<Value>, reason?: Reason) =>
        runImport(file, flags, {
          rowKind,
          staged,
          reason,
          store,
          database,
          keyId: IMPORT_KEY_ID,
          skipRefused: flags.skipBad === true,
          badLinesAdvice: 'Fix the file, or skip these lines with --skip-bad',
        })
      switch (kind) {
        case 'pets': {
          const categories = (await Array.fromAsync(store.exportCategories())).flat()
          return run(importedPetRowKind(categories), await store.stagePets())
        }
        case 'categories':
          return run(CATEGORY_ROW_KIND, await store.stageCategories())
        case 'orders':
          return run(ORDER_ROW_KIND, await store.stageOrders())
        case 'count':
          return run(STOCK_COUNT_ROW_KIND, await store.stageAdjustment(), 'counted')
      }
    })
  })
}
