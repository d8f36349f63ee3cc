import type { Command } from 'commander'
import type { Config } from '../../service/config.ts'
import { withoutPassword } from '../../store/database-url.ts'
import type { Store } from '../../store/store.ts'
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
  const report = async (store: Store, { databaseUrl }: Config) => {
    await store.ping()
    console.log(`The tables in ${withoutPassword(databaseUrl)} are up to date.`)
  }
  await withStore(flags, report, 'make')
}
