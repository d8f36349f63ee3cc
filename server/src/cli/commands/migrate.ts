import type { Command } from 'commander'
import { withoutPassword } from '../../store/database-url.ts'
import { type SettingFlags, setting, withStore } from '../with-store.ts'

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description(
      'Make the tables, or bring them up to date. petstore serve does so itself; this is for a role that may, before instances that may not.',
    )
    .addOption(setting('databaseUrl'))
    .action(migrate)
}

async function migrate(flags: SettingFlags): Promise<void> {
  await withStore(flags, 'make', async (store, { databaseUrl }) => {
    await store.ping()
    console.log(`The tables in ${withoutPassword(databaseUrl)} are up to date.`)
  })
}
