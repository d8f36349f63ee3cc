import { Option } from 'commander'
import type { ExportedPet } from '../../core/catalog/pet.ts'
import { EXPORT_KINDS, type ExportKind, exportReadme, fileText } from '../../core/transfer/files.ts'
import type { Snapshot } from '../../core/transfer/transfer-store.ts'
import { type PetstoreCommand, type SettingFlags, throwUsageError } from '../arguments.ts'
import { streamToStdout, writeFolder, writeNewFile, writeToFile } from '../files.ts'
import { Progress } from '../progress.ts'
import { formatCount, runInterruptible } from '../terminal.ts'
import { withStore } from '../with-store.ts'

interface Flags extends SettingFlags {
  readonly orders?: true
  readonly categories?: true
  readonly all?: true
  readonly force?: true
}

export function addExportCommand(program: PetstoreCommand): void {
  program
    .command('export')
    .description('Write a snapshot of the pets with their stock to a file that petstore import can read.')
    .argument('[file]', 'the file to write, or with --all the folder; standard output by default', '-')
    .addOption(new Option('--orders', 'export the orders instead of the pets').conflicts('categories'))
    .option('--categories', 'export the categories instead of the pets')
    .addOption(
      new Option(
        '--all',
        'export categories, pets, orders and adjustments to files of a folder, with a README of their columns',
      ).conflicts(['orders', 'categories']),
    )
    .option('--force', 'overwrite existing files')
    .databaseSettings()
    .action(exportRows)
}

async function exportRows(path: string, flags: Flags): Promise<void> {
  if (flags.all === true && path === '-') throwUsageError('export --all needs a folder')
  const ifExists = flags.force === true ? 'overwrite' : { advice: '--force overwrites it' }
  const progress = new Progress('rows')
  await runInterruptible(path === '-' ? 'the output is incomplete' : 'no file was written', (signal) =>
    withStore(flags, 'require_current_tables', ({ store }) =>
      store
        .readSnapshot(async (snapshot) => {
          const texts = exportTexts(snapshot, path === '-' ? undefined : progress)
          const text = texts[selectedKind(flags)]
          if (flags.all === true) await writeFolder(path, filesOf(texts), ifExists, signal)
          else if (path === '-') await streamToStdout(text, signal)
          else await writeNewFile(path, ifExists, (temporary) => writeToFile(temporary, text, signal))
        })
        .finally(() => progress.end()),
    ),
  )
}

function selectedKind({ orders, categories }: Flags): ExportKind {
  if (orders === true) return 'orders'
  return categories === true ? 'categories' : 'pets'
}

type ExportTexts = Readonly<Record<ExportKind, AsyncIterable<string>>>

/** The text of each file. It is read from the store as it is written. */
function exportTexts(snapshot: Snapshot, progress: Progress | undefined): ExportTexts {
  const { categories, pets, orders, adjustments } = snapshot
  return {
    categories: fileText(withProgress('categories', categories, progress), EXPORT_KINDS.categories),
    pets: fileText(withProgress('pets', warnAboutBarcodes(pets), progress), EXPORT_KINDS.pets),
    orders: fileText(withProgress('orders', orders, progress), EXPORT_KINDS.orders),
    adjustments: fileText(withProgress('adjustments', adjustments, progress), EXPORT_KINDS.adjustments),
  }
}

function filesOf(texts: ExportTexts): Record<string, AsyncIterable<string> | Iterable<string>> {
  const files = Object.entries(texts).map(([kind, text]) => [`${kind}.csv`, text])
  return { ...Object.fromEntries(files), 'README.md': [exportReadme()] }
}

async function* withProgress<Row>(
  phase: string,
  batches: AsyncIterable<readonly Row[]>,
  progress: Progress | undefined,
): AsyncGenerator<readonly Row[]> {
  let rows = 0
  for await (const batch of batches) {
    rows += batch.length
    progress?.show(phase, rows)
    yield batch
  }
}

async function* warnAboutBarcodes(
  batches: AsyncIterable<readonly ExportedPet[]>,
): AsyncGenerator<readonly ExportedPet[]> {
  let alteredBarcodes = 0
  for await (const batch of batches) {
    alteredBarcodes += batch.filter(({ barcode = '' }) => isAlteredBySpreadsheets(barcode)).length
    yield batch
  }
  if (alteredBarcodes === 0) return
  console.error(
    `petstore: ${formatCount(alteredBarcodes, 'barcode')} would be altered by a spreadsheet, which shortens long numbers (4.00638E+12) and drops leading zeros; open the file with the barcode column as text`,
  )
}

/** Whether a spreadsheet alters the barcode when it opens a CSV file: it shortens long numbers and drops leading zeros. */
function isAlteredBySpreadsheets(text: string): boolean {
  return /^(?:\d{12,}|0\d+)$/.test(text)
}
