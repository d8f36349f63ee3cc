import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { writeNewFile } from '../files.ts'
import { databaseName, type SettingFlags, setting, withStore } from '../with-store.ts'

export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description(
      'Copy the whole database into a new file, as it is at one moment, while the service runs. The copy is checked; petstore restore goes back to it.',
    )
    .argument('<file>', 'where to; a file that is there is not written over')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(backUp)
}

async function backUp(path: string, flags: SettingFlags): Promise<void> {
  const database = await withStore(flags, 'expect', async (store, config) => {
    await writeNewFile(path, { advice: 'choose another name' }, (temporary) => store.backupTo(temporary))
    return databaseName(config)
  })
  const megabytes = (statSync(path).size / 1_000_000).toFixed(1)
  console.log(
    `Wrote ${path} (${megabytes} MB), a copy of ${database}, and checked it. It holds key hashes: keep it as safe as the database.`,
  )
}
