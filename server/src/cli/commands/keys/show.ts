import type { Command } from 'commander'
import { hashSecret } from '../../../core/keys/api-key.ts'
import type { Store } from '../../../store/store.ts'
import { moment, table } from '../../table.ts'
import { addSettings, type SettingFlags, withExistingStore } from '../../with-store.ts'
import { requireKey } from './key-acts.ts'
import { stateOf } from './key-state.ts'
import { forMachines } from './list.ts'

interface Flags extends SettingFlags {
  readonly keyStdin?: true
  readonly json?: true
}

export function addShow(keys: Command): void {
  const show = keys
    .command('show')
    .description('Show one key: its limits, its secrets (masked), its bans, and what was done with it.')
    .argument('[key]', 'its id, the beginning of its id, or its name')
    .option('--key-stdin', 'tell which key it is by its secret, read from standard input')
    .option('--json', 'for machines')
    .action(showKey)
  addSettings(show, 'databaseUrl')
}

async function showKey(reference: string | undefined, flags: Flags, command: Command): Promise<void> {
  if ((reference === undefined) === (flags.keyStdin === undefined)) {
    command.error('give either the key (its id or name) or --key-stdin')
  }
  await withExistingStore(flags, async (store) => {
    const record = await requireKey(store, reference ?? (await idOfSecretOnStdin(store)))
    const { key, secrets, lastUsedAt } = record
    const acts = (await store.listKeyActs()).filter(({ keyId }) => keyId === key.id)
    const bans = (await store.listBans(0)).filter(({ keyId }) => keyId === key.id)
    const state = stateOf(key, bans, Date.now())
    if (flags.json === true) {
      console.log(JSON.stringify({ ...forMachines(record), state, acts, bans }, null, 2))
      return
    }
    const facts = [
      ['Id', key.id],
      ['Name', key.name],
      ['State', key.readOnly ? `${state}, read-only` : state],
      ['Plan', `${key.plan}: ${key.limits.perMinute} a minute, ${key.limits.perDay} a day`],
      ['Created', moment(key.createdAt)],
      ['Expires', moment(key.expiresAt)],
      ['Revoked', moment(key.revokedAt)],
      ['Last used', moment(lastUsedAt)],
      ...secrets.map(({ hint, createdAt, expiresAt }) => [
        'Secret',
        `${hint}, made ${moment(createdAt)}${expiresAt === undefined ? '' : `, ends ${moment(expiresAt)}`}`,
      ]),
      ...bans.map(({ beganAt, endsAt, liftedAt }) => [
        'Ban',
        `${moment(beganAt)} to ${moment(endsAt)}${liftedAt === undefined ? '' : `, lifted ${moment(liftedAt)}`}`,
      ]),
      ...acts.map(({ at, actor, action, detail }) => [
        'Act',
        `${moment(at)} ${action} by ${actor} ${detail}`.trimEnd(),
      ]),
    ]
    console.log(table(['', ''], facts).trimStart())
  })
}

/** On standard input and not as an argument, where every user of the machine could read it. */
async function idOfSecretOnStdin(store: Store): Promise<string> {
  const secret = (await Bun.stdin.text()).trim()
  const key = await store.findKey(hashSecret(secret))
  if (key === undefined) throw new Error('no key has the secret that was given on standard input')
  return key.id
}
