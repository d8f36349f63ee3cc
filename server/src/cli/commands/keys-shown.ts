import { type ApiKey, formatPermissions, hashSecret, keyState } from '../../core/keys/api-key.ts'
import type { KeyRecord } from '../../core/keys/key-store.ts'
import type { BanRecord } from '../../core/limits/limit-store.ts'
import { DAY } from '../../core/values/clock.ts'
import type { Store } from '../../store/store.ts'
import { wrongUse } from '../arguments.ts'
import { json, moment, table } from '../output.ts'
import { type SettingFlags, withStore } from '../with-store.ts'

interface Flags extends SettingFlags {
  readonly keyStdin?: true
  readonly json?: true
}

/** Of an id, at least so much: less is no sign that somebody means this key. */
const BEGINNING_OF_ID = /^key_.{4}/

/** The key that an operator means: by id, by the beginning of an id, or by a name, each of which only one key has. */
export async function requireKey(store: Store, reference: string): Promise<KeyRecord> {
  const records = await store.listKeys()
  const exact = records.find(({ key }) => key.id === reference)
  if (exact !== undefined) return exact
  const isBeginning = BEGINNING_OF_ID.test(reference)
  const alike = records.filter(
    ({ key }) => key.name === reference || (isBeginning && key.id.startsWith(reference)),
  )
  const [only, another] = alike
  if (only === undefined) {
    throw new Error(
      `there is no key "${reference}"; give its id, its name, or key_ and at least four more characters of the id: petstore keys list shows all`,
    )
  }
  if (another === undefined) return only
  const ids = alike.map(({ key }) => key.id).join(', ')
  throw new Error(`"${reference}" could be any of ${ids}; give the id`)
}

/** In a word or two: active, expired, revoked, or banned and until when. */
export function stateOf(key: ApiKey, bans: readonly BanRecord[], now: number): string {
  const state = keyState(key, now)
  if (state !== 'active') return state
  const ban = bans.findLast(
    ({ keyId, endsAt, liftedAt }) => keyId === key.id && endsAt > now && liftedAt === undefined,
  )
  return ban === undefined ? 'active' : `banned until ${new Date(ban.endsAt).toISOString().slice(11, 19)}`
}

export async function listKeys(flags: Flags): Promise<void> {
  const { records, bans, now } = await withStore(flags, 'expect', async (store) => ({
    records: await store.listKeys(),
    bans: await store.listBans(store.clock() - DAY),
    now: store.clock(),
  }))
  const rows = records.map((record) => ({ record, state: stateOf(record.key, bans, now) }))
  if (flags.json === true) {
    console.log(json(rows.map(({ record, state }) => ({ ...forMachines(record), state }))))
  } else if (rows.length === 0) {
    console.log('There are no keys yet. Make one: petstore keys create --name "My shop" --plan pro')
  } else {
    console.log(
      table(
        ['ID', 'NAME', 'PLAN', 'MAY', 'KEY', 'CREATED', 'LAST USED', 'STATE'],
        rows.map(({ record: { key, secrets, lastUsedAt }, state }) => [
          ...[key.id, key.name, key.plan, formatPermissions(key.permissions), secrets[0]?.hint ?? '-'],
          ...[moment(key.createdAt), moment(lastUsedAt), state],
        ]),
      ),
    )
  }
}

/** A key with its times in ISO 8601. */
function forMachines({ key, secrets, lastUsedAt }: KeyRecord) {
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

export async function showKey(reference: string | undefined, flags: Flags): Promise<void> {
  if ((reference === undefined) === (flags.keyStdin === undefined)) {
    wrongUse('give either the key (its id or name) or --key-stdin')
  }
  await withStore(flags, 'expect', async (store) => {
    const record = await requireKey(store, reference ?? (await idOfSecretOnStdin(store)))
    const { key, secrets, lastUsedAt } = record
    const acts = (await store.listAudit()).filter(({ keyId }) => keyId === key.id)
    const bans = (await store.listBans(0)).filter(({ keyId }) => keyId === key.id)
    const state = stateOf(key, bans, store.clock())
    if (flags.json === true) {
      console.log(json({ ...forMachines(record), state, acts, bans }))
      return
    }
    const facts = [
      ['Id', key.id],
      ['Name', key.name],
      ['State', state],
      ['May', formatPermissions(key.permissions)],
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
