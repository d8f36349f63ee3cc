import { Argument } from 'commander'
import type { Reason } from '../../core/stock/adjustment.ts'
import { STOCK_COUNT_ROW_KIND } from '../../core/transfer/adjustment.ts'
import {
  ENCODINGS,
  IMPORT_KIND_NAMES,
  IMPORT_KINDS,
  type ImportKindName,
  NotUtf8,
  openRows,
} from '../../core/transfer/files.ts'
import type { StagedImport } from '../../core/transfer/import.ts'
import {
  CATEGORY_ROW_KIND,
  headerOf,
  importedPetRowKind,
  ORDER_ROW_KIND,
  type RowKind,
} from '../../core/transfer/rows.ts'
import { choiceParser, type PetstoreCommand, wholeNumberParser } from '../arguments.ts'
import { openByteSource } from '../files.ts'
import { DEFAULT_MAX_PAUSE_SECONDS } from '../import-pause.ts'
import { type ImportFlags, type OpenFile, runImport } from '../import-run.ts'
import { runInterruptible } from '../terminal.ts'
import { withStore } from '../with-store.ts'

export function addImportCommand(program: PetstoreCommand): void {
  program
    .command('import')
    .description(
      'Import pets (with their stock), categories, orders or a stock count, even while the service is running. Either the whole file is imported or nothing. Records that are not in the file stay unchanged.',
    )
    .addArgument(new Argument('<kind>', IMPORT_KIND_NAMES.join(', ')).choices(IMPORT_KIND_NAMES))
    .argument('<file>', 'a CSV file; - reads standard input')
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
    .addHelpText(
      'after',
      `\nThe file starts with the header of its kind:\n  ${IMPORT_KIND_NAMES.map((kind) => `${kind}: ${headerOf(IMPORT_KINDS[kind].columns)}`).join('\n  ')}`,
    )
    .action(importPath)
}

/** Ctrl-C and SIGTERM abort the import. */
async function importPath(kind: ImportKindName, path: string, flags: ImportFlags): Promise<void> {
  const name = path === '-' ? 'standard input' : path
  await runInterruptible('nothing was changed', async (signal) => {
    const bytes = openByteSource(path, signal)
    try {
      const rows = await openRows(bytes.chunks, name, IMPORT_KINDS[kind], flags.encoding)
      await importFile(kind, { name, bytes, rows, signal }, flags)
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

async function importFile(kind: ImportKindName, file: OpenFile, flags: ImportFlags): Promise<void> {
  // A stock count changes existing pets only, so a missing database is an error.
  const tables = kind === 'count' ? 'require_current_tables' : 'create_if_missing'
  await withStore(flags, tables, async ({ store, database }) => {
    const run = <Value>(rowKind: RowKind<Value>, staged: StagedImport<Value>, reason?: Reason) =>
      runImport(file, flags, { rowKind, staged, reason, store, database })
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
}
