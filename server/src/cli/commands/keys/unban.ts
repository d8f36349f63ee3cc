import type { Command } from 'commander'
import { addSettings, type SettingFlags, withExistingStore } from '../../with-store.ts'
import { requireKey, thisAct } from './key-acts.ts'

export function addUnban(keys: Command): void {
  const unban = keys
    .command('unban')
    .description('Lift the ban of a key at once. Its limits stay as they are.')
    .argument('<key>', 'its id, the beginning of its id, or its name')
    .action(unbanKey)
  addSettings(unban, 'databaseUrl')
}

async function unbanKey(reference: string, flags: SettingFlags): Promise<void> {
  await withExistingStore(flags, async (store) => {
    const { key } = await requireKey(store, reference)
    if (!(await store.liftBan(key.id, thisAct()))) {
      throw new Error(`${key.id} ("${key.name}") is not banned; nothing was changed`)
    }
    console.log(`Lifted the ban of ${key.id} ("${key.name}").`)
  })
}
