import type { Command } from 'commander'
import { ORDER_ROWS, PET_ROWS } from '../../core/transfer/exchange-rows.ts'
import { FORMATS, type Format, textOf } from '../../core/transfer/row-text.ts'
import type { Store } from '../../store/store.ts'
import { FileExists, writeNewFile } from '../files/new-file.ts'
import { writeToFile, writeToStdout } from '../files/text-sink.ts'
import { interruptible } from '../interruption.ts'
import { addSettings, type SettingFlags, withExistingStore } from '../with-store.ts'

interface Flags extends SettingFlags {
  readonly orders?: true
  readonly format: string
  readonly force?: true
}

export function addExportCommand(program: Command): void {
  const command = program
    .command('export')
    .description('Write the pets with their stock, as they are at one moment, in a form that import reads.')
    .argument('[file]', 'where to; standard output by default', '-')
    .option('--orders', 'the orders instead of the pets')
    .option('--format <format>', FORMATS.join(', '), 'csv')
    .option('--force', 'write over a file that is there already')
    .action(exportRows)
  addSettings(command, 'databaseUrl')
}

async function exportRows(file: string, flags: Flags, command: Command): Promise<void> {
  const format =
    FORMATS.find((known) => known === flags.format) ??
    command.error(`--format must be one of ${FORMATS.join(', ')}, got "${flags.format}"`)
  await interruptible(file === '-' ? 'the output is not whole' : 'no file was written', (signal) =>
    withExistingStore(flags, async (store) => {
      const text = exported(store, flags.orders === true, format)
      if (file === '-') {
        // No message: whoever closed the pipe knows.
        if (!(await writeToStdout(text, signal))) process.exitCode = 1
        return
      }
      try {
        await writeNewFile(file, { overwrite: flags.force === true }, (temporary) =>
          writeToFile(temporary, text, signal),
        )
      } catch (error) {
        throw error instanceof FileExists ? new Error(`${error.message}; --force writes over it`) : error
      }
    }),
  )
}

function exported(store: Store, isOrders: boolean, format: Format): AsyncIterable<string> {
  return isOrders
    ? textOf(store.exportOrders(), ORDER_ROWS, format)
    : textOf(store.exportPets(), PET_ROWS, format)
}
