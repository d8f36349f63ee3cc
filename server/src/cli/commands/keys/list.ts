import type { Command } from 'commander'
import type { KeyRecord } from '../../../core/keys/key-store.ts'
import { moment, table } from '../../table.ts'
import { addSettings, type SettingFlags, withStore } from '../../with-store.ts'
import { stateOf } from './key-state.ts'

interface Flags extends SettingFlags {
  readonly json?: true
}

export function addList(keys: Command): void {
  const list = keys
    .command('list')
    .description('List all keys, masked, with plan, creation, last use and state.')
    .option('--json', 'for machines')
    .action(listKeys)
  addSettings(list, 'databaseUrl')
}

async function listKeys(flags: Flags): Promise<void> {
  const now = Date.now()
  const { records, bans } = await withStore(flags, async (store) => ({
    records: await store.listKeys(),
    bans: await store.listBans(now - 86_400_000),
  }))
  const rows = records.map((record) => ({ record, state: stateOf(record.key, bans, now) }))
  if (flags.json === true) {
    console.log(
      JSON.stringify(
        rows.map(({ record, state }) => ({ ...forMachines(record), state })),
        null,
        2,
      ),
    )
  } else if (rows.length === 0) {
    console.log('There are no keys yet. Make one: petstore keys create --name "My shop" --plan pro')
  } else {
    console.log(
      table(
        ['ID', 'NAME', 'PLAN', 'KEY', 'CREATED', 'LAST USED', 'STATE'],
        rows.map(({ record: { key, secrets, lastUsedAt }, state }) => [
          ...[key.id, key.name, key.plan, secrets[0]?.hint ?? '-'],
          ...[moment(key.createdAt), moment(lastUsedAt), key.readOnly ? `${state}, read-only` : state],
        ]),
      ),
    )
  }
}

/** A key with its times in ISO 8601. */
export function forMachines({ key, secrets, lastUsedAt }: KeyRecord) {
  const iso = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString())
  return {
    ...key,
    createdAt: iso(key.createdAt),
    expiresAt: iso(key.expiresAt),
    revokedAt: iso(key.revokedAt),
    lastUsedAt: iso(lastUsedAt),
    secrets: secrets.map(({ hint, createdAt, expiresAt }) => ({
      hint,
      createdAt: iso(createdAt),
      expiresAt: iso(expiresAt),
    })),
  }
}
