import { Option } from 'commander'
import type { ExportedPet } from '../../core/catalog/pet.ts'
import { fileText } from '../../core/transfer/files.ts'
import { CATEGORY_ROW_KIND, ORDER_ROW_KIND, PET_ROW_KIND } from '../../core/transfer/rows.ts'
import type { TransferStore } from '../../core/transfer/transfer-store.ts'
import type { PetstoreCommand, SettingFlags } from '../arguments.ts'
import { streamToStdout, writeNewFile, writeToFile } from '../files.ts'
import { formatCount, runInterruptible } from '../terminal.ts'
import { withStore } from '../with-store.ts'

interface Flags extends SettingFlags {
  readonly orders?: true
  readonly categories?: true
  readonly force?: true
}

export function addExportCommand(program: PetstoreCommand): void {
  program
    .command('export')
    .description('Write a snapshot of the pets with their stock to a file that petstore import can read.')
    .argument('[file]', 'the file to write; standard output by default', '-')
    .addOption(new Option('--orders', 'export the orders instead of the pets').conflicts('categories'))
    .option('--categories', 'export the categories instead of the pets')
    .option('--force', 'overwrite an existing file')
    .databaseSettings()
    .action(exportRows)
}

async function exportRows(path: string, flags: Flags): Promise<void> {
  const ifExists = flags.force === true ? 'overwrite' : { advice: '--force overwrites it' }
  await runInterruptible(path === '-' ? 'the output is incomplete' : 'no file was written', (signal) =>
    withStore(flags, 'require_current_tables', async ({ store }) => {
      const text = exportText(store, flags)
      if (path === '-') await streamToStdout(text, signal)
      else await writeNewFile(path, ifExists, (temporary) => writeToFile(temporary, text, signal))
    }),
  )
}

function exportText(store: TransferStore, { orders, categories }: Flags): AsyncIterable<string> {
  if (orders === true) return fileText(store.exportOrders(), ORDER_ROW_KIND)
  if (categories === true) return fileText(store.exportCategories(), CATEGORY_ROW_KIND)
  return fileText(warnAboutBarcodes(store.exportPets()), PET_ROW_KIND)
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
