import type { Command } from 'commander'
import { addSettings, type SettingFlags, withExistingStore } from '../../with-store.ts'
import { requireKey, thisAct } from './key-acts.ts'

export function addRevoke(keys: Command): void {
  const revoke = keys
    .command('revoke')
    .description('End a key for good, with all its secrets. Its history stays.')
    .argument('<key>', 'its id, the beginning of its id, or its name')
    .action(revokeKey)
  addSettings(revoke, 'databaseUrl')
}

async function revokeKey(reference: string, flags: SettingFlags): Promise<void> {
  await withExistingStore(flags, async (store) => {
    const { key } = await requireKey(store, reference)
    if (key.revokedAt !== undefined) throw new Error(`${key.id} was revoked before; nothing was changed`)
    await store.revokeKey(key.id, thisAct())
    console.log(`Revoked ${key.id} ("${key.name}"). Requests with it are answered 401 from now on.`)
  })
}
