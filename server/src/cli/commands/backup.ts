import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { FileExists, writeNewFile } from '../files/new-file.ts'
import { addSettings, type SettingFlags, withExistingStore } from '../with-store.ts'

export function addBackupCommand(program: Command): void {
  const command = program
    .command('backup')
    .description(
      'Copy the whole database into a new file, as it is at one moment, while the service runs. The copy is checked, and can be served like any other.',
    )
    .argument('<file>', 'where to; a file that is there is not written over')
    .action(backUp)
  addSettings(command, 'databaseUrl')
}

async function backUp(file: string, flags: SettingFlags): Promise<void> {
  await withExistingStore(flags, async (store) => {
    try {
      await writeNewFile(file, { overwrite: false }, (temporary) => store.backupTo(temporary))
    } catch (error) {
      throw error instanceof FileExists ? new Error(`${error.message}; choose another name`) : error
    }
  })
  const megabytes = (statSync(file).size / 1_000_000).toFixed(1)
  console.log(
    `Wrote ${file} (${megabytes} MB) and checked it. It holds key hashes: keep it as safe as the database.`,
  )
}
