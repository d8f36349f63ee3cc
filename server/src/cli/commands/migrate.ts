import type { Command } from 'commander'
import { withoutPassword } from '../../store/database-url.ts'
import { addSettings, type SettingFlags, withStore } from '../with-store.ts'

export function addMigrateCommand(program: Command): void {
  const command = program
    .command('migrate')
    .description(
      'Make the tables, or bring them up to date. petstore serve does so itself; this is for a role that may, before instances that may not.',
    )
    .action(migrate)
  addSettings(command, 'databaseUrl')
}

async function migrate(flags: SettingFlags): Promise<void> {
  await withStore(flags, async (store, { databaseUrl }) => {
    await store.ping()
    console.log(`The tables in ${withoutPassword(databaseUrl)} are up to date.`)
  })
}
