import type { Command } from 'commander'
import { createSecret, storedSecret } from '../../../core/keys/api-key.ts'
import { moment } from '../../table.ts'
import { parseDuration } from '../../time-words.ts'
import { addSettings, type SettingFlags, withExistingStore } from '../../with-store.ts'
import { handOver, requireKey, thisAct } from './key-acts.ts'

interface Flags extends SettingFlags {
  readonly grace: string
}

export function addRotate(keys: Command): void {
  const rotate = keys
    .command('rotate')
    .description('Give a key a new secret. The one it has goes on working for the grace time.')
    .argument('<key>', 'its id, the beginning of its id, or its name')
    .option('--grace <duration>', 'how long both work: 24h, 30m, 7d; 0s ends the old one at once', '24h')
    .action(rotateKey)
  addSettings(rotate, 'databaseUrl', 'environment')
}

async function rotateKey(reference: string, flags: Flags, command: Command): Promise<void> {
  const grace =
    parseDuration(flags.grace) ?? command.error(`--grace must be like 24h, 30m or 0s, got "${flags.grace}"`)
  const act = thisAct()
  const { secret, id } = await withExistingStore(flags, async (store, { environment }) => {
    const { key } = await requireKey(store, reference)
    if (key.revokedAt !== undefined) {
      throw new Error(`${key.id} is revoked; make a new key with petstore keys create`)
    }
    const fresh = createSecret(environment)
    await store.rotateKey(key.id, storedSecret(fresh, act.at), act.at + grace, act)
    return { secret: fresh, id: key.id }
  })
  handOver(secret, `${id} has a new secret; earlier ones work until ${moment(act.at + grace)} UTC.`)
}
