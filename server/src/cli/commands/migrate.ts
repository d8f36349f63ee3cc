import type { Command } from 'commander'
import { databaseName, type SettingFlags, setting, withStore } from '../with-store.ts'

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description(
      'Make the tables, or bring them up to date. petstore serve does so itself; this is for a role that may, before instances that may not.',
    )
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(migrate)
}

async function migrate(flags: SettingFlags): Promise<void> {
  await withStore(flags, 'make', async (store, config) => {
    await store.ping()
    console.log(`The tables in ${databaseName(config)} are up to date.`)
  })
}
