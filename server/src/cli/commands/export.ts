import { type Command, Option } from 'commander'
import { CATEGORY_ROWS, ORDER_ROWS, PET_ROWS } from '../../core/transfer/exchange-rows.ts'
import { FORMATS, type Format, textOf } from '../../core/transfer/row-text.ts'
import type { TransferStore } from '../../core/transfer/transfer-store.ts'
import { oneOf, type SettingFlags, setting } from '../arguments.ts'
import { writeNewFile, writeToFile, writeToStdout } from '../files.ts'
import { interruptible } from '../terminal.ts'
import { withStore } from '../with-store.ts'

interface Flags extends SettingFlags {
  readonly orders?: true
  readonly categories?: true
  readonly format: Format
  readonly force?: true
}

export function addExportCommand(program: Command): void {
  program
    .command('export')
    .description('Write the pets with their stock, as they are at one moment, in a form that import reads.')
    .argument('[file]', 'where to; standard output by default', '-')
    .addOption(new Option('--orders', 'the orders instead of the pets').conflicts('categories'))
    .option('--categories', 'the categories instead of the pets')
    .option('--format <format>', FORMATS.join(', '), oneOf('--format', FORMATS), 'csv')
    .option('--force', 'write over a file that is there already')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(exportRows)
}

async function exportRows(path: string, flags: Flags): Promise<void> {
  const { force } = flags
  await interruptible(path === '-' ? 'the output is not whole' : 'no file was written', (signal) =>
    withStore(flags, 'expect', async (store) => {
      const text = exported(store, flags)
      if (path === '-') {
        return writeToStdout(text, signal)
      }
      const existing = force === true ? 'overwrite' : { advice: '--force writes over it' }
      await writeNewFile(path, existing, (temporary) => writeToFile(temporary, text, signal))
    }),
  )
}

function exported(store: TransferStore, { format, orders, categories }: Flags): AsyncIterable<string> {
  if (orders === true) return textOf(store.exportOrders(), ORDER_ROWS, format)
  if (categories === true) return textOf(store.exportCategories(), CATEGORY_ROWS, format)
  return textOf(store.exportPets(), PET_ROWS, format)
}
