import { userInfo } from 'node:os'
import { Option } from 'commander'
import { EXPECTED_NAME, isName } from '../../core/catalog/catalog-fields.ts'
import {
  type ApiKey,
  createKeyId,
  createSecret,
  DEFAULT_PERMISSIONS,
  describeKeyChange,
  formatPermissions,
  hashSecret,
  type KeyChange,
  keyState,
  type Limits,
  PERMISSIONS,
  type Permission,
  PLAN_LIMITS,
  PLANS,
  type Plan,
  toStoredSecret,
} from '../../core/keys/api-key.ts'
import type { AuditStamp, KeyRecord } from '../../core/keys/key-store.ts'
import { createPairingCode, formatPairingCode, toStoredPairingCode } from '../../core/keys/pairing.ts'
import type { BanRecord } from '../../core/limits/limit-store.ts'
import { DAY } from '../../core/values/clock.ts'
import { staffPageAddress } from '../../service/config.ts'
import type { Store } from '../../store/store.ts'
import {
  type ConfirmFlags,
  choiceParser,
  type JsonFlags,
  listParser,
  type PetstoreCommand,
  parseDuration,
  type SettingFlags,
  type TimeResolver,
  throwUsageError,
  timeParser,
  wholeNumberParser,
} from '../arguments.ts'
import {
  formatMinute,
  handOverSecret,
  isoTime,
  printFields,
  printJson,
  printList,
  requireConfirmation,
  withIsoTimes,
} from '../terminal.ts'
import { type OpenedStore, withStore } from '../with-store.ts'

const KEY_HELP = 'id or name of the key, or the start of its id: key_ and at least four more characters'
const EXPIRES_HELP = 'when the key expires: 90d, 12h, or a day or time such as 2027-01-31'
const parseExpiry = timeParser('future', '--expires')
const MAY_HELP = `what the key may change: none, or a comma-separated list of ${PERMISSIONS.join()}`
const PER_MINUTE = limitOption('--per-minute', 'requests per minute (enterprise only)')
const PER_DAY = limitOption('--per-day', 'requests per day (enterprise only)')
export const NO_KEYS_MESSAGE =
  'There are no keys yet. Create the key of the owner: petstore keys create --name "Owner" --owner --plan business'

export function addKeysCommands(program: PetstoreCommand): void {
  const keys = program.command('keys').description('Manage API keys, even while the service is running.')
  keys
    .command('create')
    .description('Create an API key. Its secret is shown once; only the hash of the secret is stored.')
    .requiredOption('--name <name>', 'name of the key, such as the person or program that uses it', parseName)
    .requiredOption('--plan <plan>', PLANS.join(', '), choiceParser('--plan', PLANS))
    .addOption(PER_MINUTE)
    .addOption(PER_DAY)
    .option('--expires <when>', EXPIRES_HELP, parseExpiry)
    .option(
      '--may <names>',
      `${MAY_HELP} (default ${formatPermissions(DEFAULT_PERMISSIONS)})`,
      listParser('--may', PERMISSIONS),
    )
    .option('--owner', 'give the key all permissions, including the management of keys')
    .databaseSettings()
    .settings('environment')
    .action(createKey)
  keys
    .command('change')
    .description('Change the given properties of a key. Its secret stays valid.')
    .argument('<key>', KEY_HELP)
    .option('--name <name>', 'name of the key, such as the person or program that uses it', parseName)
    .option('--plan <plan>', PLANS.join(', '), choiceParser('--plan', PLANS))
    .addOption(PER_MINUTE)
    .addOption(PER_DAY)
    .option('--expires <when>', `${EXPIRES_HELP}, or never`, (text) =>
      text === 'never' ? text : parseExpiry(text),
    )
    .option('--may <names>', MAY_HELP, listParser('--may', PERMISSIONS))
    .databaseSettings()
    .action(changeKey)
  keys
    .command('list')
    .description('List all keys with plan, permissions, masked secret, creation, last use and state.')
    .jsonOption()
    .storeAction(listKeys)
  keys
    .command('show')
    .description('Show a key with its limits, masked secrets, bans and audit log.')
    .argument('[key]', KEY_HELP)
    .option('--key-stdin', 'find the key by its secret, which is read from standard input')
    .jsonOption()
    .databaseSettings()
    .action(showKey)
  keys
    .command('rotate')
    .description('Give a key a new secret. The old secret stays valid during the grace period.')
    .argument('<key>', KEY_HELP)
    .addOption(
      new Option(
        '--grace <duration>',
        'how long both secrets work: 24h, 30m, 7d; 0s ends the old secret at once',
      )
        .argParser(parseGrace)
        .default(DAY, '"24h"'),
    )
    .storeAction(rotateKey)
    .settings('environment')
  keys
    .command('revoke')
    .description('Revoke a key and all its secrets permanently. Its history stays.')
    .argument('<key>', KEY_HELP)
    .confirmOption('revokes the key')
    .storeAction(revokeKey)
  keys
    .command('pause')
    .description('Pause a key. Requests with it get status 401 until it is resumed.')
    .argument('<key>', KEY_HELP)
    .storeAction((opened, reference: string) => setPaused(opened, reference, true))
  keys
    .command('resume')
    .description('Resume a paused key.')
    .argument('<key>', KEY_HELP)
    .storeAction((opened, reference: string) => setPaused(opened, reference, false))
  keys
    .command('pair')
    .description('Print a code that signs in a device with a key. It is valid for 10 minutes and works once.')
    .argument('<key>', KEY_HELP)
    .storeAction(pairDevice)
    .settings('baseUrl', 'stagingBaseUrl', 'environment', 'host', 'port')
  keys
    .command('unban')
    .description('Lift the ban of a key. Its limits stay the same.')
    .argument('<key>', KEY_HELP)
    .storeAction(unbanKey)
}

function limitOption(flag: string, description: string): Option {
  return new Option(`${flag} <number>`, description).argParser(wholeNumberParser(flag, 1))
}

/** The actor is the user who runs this command. A user without a name is identified by the uid. */
function auditStamp(at: number): AuditStamp {
  const { username, uid } = userInfo()
  return { at, actor: username === 'unknown' ? `uid ${uid}` : username }
}

interface ChangeFlags extends SettingFlags {
  readonly name?: string
  readonly plan?: Plan
  readonly perMinute?: number
  readonly perDay?: number
  readonly expires?: TimeResolver | 'never'
  readonly may?: readonly Permission[]
}

type CreateFlags = ChangeFlags & {
  readonly name: string
  readonly plan: Plan
  readonly expires?: TimeResolver
  readonly owner?: true
}

async function createKey(flags: CreateFlags): Promise<void> {
  const { name, plan, may, owner, expires } = flags
  if (owner && may !== undefined) throwUsageError('--owner gives all permissions; leave out --may')
  const permissions = may ?? (owner ? PERMISSIONS : DEFAULT_PERMISSIONS)
  const limits = limitsOf(plan, flags)
  const id = createKeyId()
  await withStore(flags, 'require_current_tables', async ({ store, config, database }) => {
    const stamp = auditStamp(store.clock())
    const secret = createSecret(config.environment)
    const key = {
      id,
      name,
      plan,
      limits,
      permissions,
      createdAt: stamp.at,
      ...(expires === undefined ? {} : { expiresAt: expires(stamp.at) }),
    }
    await handOverSecret(
      secret,
      () => store.addKey(key, toStoredSecret(secret, stamp.at), stamp),
      `petstore keys show ${id}`,
      `Created ${id} ("${name}", ${formatPlan(key)}, may change ${permissions.length === 0 ? 'nothing' : permissions.join(', ')}) in ${database}.`,
    )
  })
}

function formatPlan({ plan, limits }: Pick<ApiKey, 'plan' | 'limits'>): string {
  return `${plan}: ${limits.perMinute} a minute, ${limits.perDay} a day`
}

async function changeKey(reference: string, flags: ChangeFlags): Promise<void> {
  // Reports wrong arguments before the database is opened.
  parseChange(flags, Date.now())
  await withStore(flags, 'require_current_tables', async ({ store, database }) => {
    const stamp = auditStamp(store.clock())
    const change = parseChange(flags, stamp.at)
    const { key } = await requireUnrevokedKey(store, reference)
    const changes = describeKeyChange(key, change)
    if (changes.length === 0) {
      throw new Error(`${key.id} ("${key.name}") already has these properties; nothing was changed`)
    }
    await store.changeKey(key.id, change, stamp)
    console.log(`Changed ${key.id} ("${key.name}") in ${database}.\n${changes.join('\n')}`)
  })
}

function parseChange(flags: ChangeFlags, now: number): KeyChange {
  const { name, plan, perMinute, perDay, expires, may } = flags
  if (plan === undefined && (perMinute ?? perDay) !== undefined) {
    throwUsageError('--per-minute and --per-day need --plan enterprise')
  }
  const change: KeyChange = {
    ...(name === undefined ? {} : { name }),
    ...(plan === undefined ? {} : { allowance: { plan, limits: limitsOf(plan, flags) } }),
    ...(may === undefined ? {} : { permissions: may }),
    ...(expires === undefined ? {} : { expiresAt: expires === 'never' ? expires : expires(now) }),
  }
  return Object.keys(change).length > 0
    ? change
    : throwUsageError('keys change needs at least one of --name, --plan, --expires and --may')
}

function parseGrace(text: string): number {
  return parseDuration(text) ?? throwUsageError(`--grace must be like 24h, 30m or 0s, got "${text}"`)
}

function parseName(name: string): string {
  return isName(name) ? name : throwUsageError(`--name must be ${EXPECTED_NAME}`)
}

function limitsOf(plan: Plan, { perMinute, perDay }: ChangeFlags): Limits {
  if (plan !== 'enterprise') {
    if (perMinute === undefined && perDay === undefined) return PLAN_LIMITS[plan]
    throwUsageError(
      `--per-minute and --per-day are only for the enterprise plan; the limits of ${plan} are fixed`,
    )
  }
  if (perMinute !== undefined && perDay !== undefined) return { perMinute, perDay }
  throwUsageError('an enterprise key needs --per-minute and --per-day')
}

async function rotateKey(
  { store, config, database }: OpenedStore,
  reference: string,
  { grace: graceMs }: { readonly grace: number },
): Promise<void> {
  const stamp = auditStamp(store.clock())
  const { key } = await requireUnrevokedKey(store, reference)
  const secret = createSecret(config.environment)
  const oldSecretsEndAt = stamp.at + graceMs
  await handOverSecret(
    secret,
    () => store.rotateKey(key.id, toStoredSecret(secret, stamp.at), oldSecretsEndAt, stamp),
    `petstore keys show ${key.id}`,
    `${key.id} has a new secret in ${database}; earlier secrets work until ${formatMinute(oldSecretsEndAt)} UTC at the latest.`,
  )
}

async function revokeKey(
  { store, database }: OpenedStore,
  reference: string,
  flags: ConfirmFlags,
): Promise<void> {
  const { key } = await requireKey(store, reference)
  if (key.revokedAt !== undefined) throw new Error(`${key.id} is already revoked; nothing was changed`)
  requireConfirmation(flags, `Revoke ${key.id} ("${key.name}", ${key.plan}) permanently?`)
  await store.revokeKey(key.id, auditStamp(store.clock()))
  console.log(`Revoked ${key.id} ("${key.name}") in ${database}. Requests with it now get status 401.`)
}

async function setPaused(
  { store, database }: OpenedStore,
  reference: string,
  paused: boolean,
): Promise<void> {
  const { key } = await requireUnrevokedKey(store, reference)
  if ((key.pausedAt !== undefined) === paused) {
    throw new Error(`${key.id} ("${key.name}") is ${paused ? 'already' : 'not'} paused; nothing was changed`)
  }
  await store.changeKey(key.id, { paused }, auditStamp(store.clock()))
  console.log(`${paused ? 'Paused' : 'Resumed'} ${key.id} ("${key.name}") in ${database}.`)
}

async function pairDevice({ store, config }: OpenedStore, reference: string): Promise<void> {
  const { key } = await requireUnrevokedKey(store, reference)
  const stamp = auditStamp(store.clock())
  const state = keyState(key, stamp.at)
  if (state !== 'active') {
    const advice =
      state === 'paused'
        ? `resume it first: petstore keys resume ${key.id}`
        : `give it a later expiry first: petstore keys change ${key.id} --expires WHEN`
    throw new Error(`${key.id} ("${key.name}") is ${state}, so a code for it would not work; ${advice}`)
  }
  const code = createPairingCode()
  const stored = toStoredPairingCode(code, stamp.at)
  await store.addPairingCode(key.id, stored, stamp)
  printFields([
    ['Code', formatPairingCode(code)],
    ['Expires', `${formatMinute(stored.expiresAt)} UTC`],
    ['Link', `${staffPageAddress(config)}/#pair=${code}`],
  ])
}

async function unbanKey({ store, database }: OpenedStore, reference: string): Promise<void> {
  const { key } = await requireKey(store, reference)
  if (!(await store.liftBan(key.id, auditStamp(store.clock())))) {
    throw new Error(`${key.id} ("${key.name}") is not banned; nothing was changed`)
  }
  console.log(`Lifted the ban of ${key.id} ("${key.name}") in ${database}.`)
}

/** A shorter prefix would too easily match the wrong key. */
const ID_PREFIX = /^key_.{4}/

/** Finds a key by its id, by a unique prefix of its id, or by its name if only one key has it. */
async function requireKey(store: Store, reference: string): Promise<KeyRecord> {
  const records = await store.listKeys()
  const exactMatch = records.find(({ key }) => key.id === reference)
  if (exactMatch !== undefined) return exactMatch
  const isIdPrefix = ID_PREFIX.test(reference)
  const matches = records.filter(
    ({ key }) => key.name === reference || (isIdPrefix && key.id.startsWith(reference)),
  )
  const [first, second] = matches
  if (first === undefined) {
    throw new Error(
      `there is no key "${reference}"; give its id, its name, or key_ and at least four more characters of the id; petstore keys list shows all keys`,
    )
  }
  if (second === undefined) return first
  const ids = matches.map(({ key }) => key.id).join(', ')
  throw new Error(`"${reference}" matches several keys: ${ids}; give the id`)
}

async function requireUnrevokedKey(store: Store, reference: string): Promise<KeyRecord> {
  const record = await requireKey(store, reference)
  if (record.key.revokedAt === undefined) return record
  throw new Error(`${record.key.id} is revoked; create a new key with petstore keys create`)
}

/** `active`, `paused`, `expired`, `revoked`, or `banned until 12:34:56`. */
export function describeKeyState(key: ApiKey, bans: readonly BanRecord[], now: number): string {
  const state = keyState(key, now)
  if (state !== 'active') return state
  const ban = bans.findLast(
    ({ keyId, endsAt, liftedAt }) => keyId === key.id && endsAt > now && liftedAt === undefined,
  )
  return ban === undefined ? 'active' : `banned until ${new Date(ban.endsAt).toISOString().slice(11, 19)}`
}

async function listKeys({ store }: OpenedStore, flags: JsonFlags): Promise<void> {
  const records = await store.listKeys()
  const now = store.clock()
  const bans = await store.listBans(now - DAY)
  const rows = records.map((record) => ({ ...record, state: describeKeyState(record.key, bans, now) }))
  printList(rows, flags, {
    columns: [
      ['ID', ({ key }) => key.id],
      ['NAME', ({ key }) => key.name],
      ['PLAN', ({ key }) => key.plan],
      ['MAY', ({ key }) => formatPermissions(key.permissions)],
      ['KEY', ({ secrets }) => secrets[0]?.hint ?? '-'],
      ['CREATED', ({ key }) => formatMinute(key.createdAt)],
      ['LAST USED', ({ lastUsedAt }) => formatMinute(lastUsedAt)],
      ['STATE', ({ state }) => state],
    ],
    toJson: ({ state, ...record }) => ({ ...recordToJson(record), state }),
    emptyMessage: NO_KEYS_MESSAGE,
  })
}

function recordToJson({ key, secrets, lastUsedAt }: KeyRecord) {
  return {
    ...withIsoTimes(key, 'createdAt', 'expiresAt', 'revokedAt', 'pausedAt'),
    lastUsedAt: isoTime(lastUsedAt),
    secrets: secrets.map((secret) => withIsoTimes(secret, 'createdAt', 'expiresAt')),
  }
}

async function showKey(
  reference: string | undefined,
  flags: JsonFlags & { readonly keyStdin?: true },
): Promise<void> {
  if ((reference === undefined) === (flags.keyStdin === undefined)) {
    throwUsageError('give either the key (its id or name) or --key-stdin')
  }
  await withStore(flags, 'require_current_tables', async ({ store }) => {
    const record = await requireKey(store, reference ?? (await findKeyIdBySecretOnStdin(store)))
    const { key, secrets, lastUsedAt } = record
    const audit = (await store.listAudit()).filter(({ keyId }) => keyId === key.id)
    const bans = (await store.listBans(0)).filter(({ keyId }) => keyId === key.id)
    const state = describeKeyState(key, bans, store.clock())
    if (flags.json === true) {
      printJson({
        ...recordToJson(record),
        state,
        audit: audit.map((entry) => withIsoTimes(entry, 'at')),
        bans: bans.map((ban) => withIsoTimes(ban, 'beganAt', 'endsAt', 'liftedAt')),
      })
      return
    }
    printFields([
      ['Id', key.id],
      ['Name', key.name],
      ['State', state],
      ['May', formatPermissions(key.permissions)],
      ['Plan', formatPlan(key)],
      ['Created', formatMinute(key.createdAt)],
      ['Expires', formatMinute(key.expiresAt)],
      ['Revoked', formatMinute(key.revokedAt)],
      ['Paused', formatMinute(key.pausedAt)],
      ['Last used', formatMinute(lastUsedAt)],
      ...secrets.map(({ hint, createdAt, expiresAt }) => {
        const expiry = expiresAt === undefined ? '' : `, expires ${formatMinute(expiresAt)}`
        return ['Secret', `${hint}, created ${formatMinute(createdAt)}${expiry}`] as const
      }),
      ...bans.map(({ beganAt, endsAt, liftedAt }) => {
        const lift = liftedAt === undefined ? '' : `, lifted ${formatMinute(liftedAt)}`
        return ['Ban', `${formatMinute(beganAt)} to ${formatMinute(endsAt)}${lift}`] as const
      }),
      ...audit.map(
        ({ at, actor, action, detail }) =>
          ['Audit', `${formatMinute(at)} ${action} by ${actor} ${detail}`.trimEnd()] as const,
      ),
    ])
  })
}

/** Reads the secret from standard input, because all users of the machine can see arguments. */
async function findKeyIdBySecretOnStdin(store: Store): Promise<string> {
  const secret = (await Bun.stdin.text()).trim()
  const key = await store.findKey(hashSecret(secret))
  if (key === undefined) throw new Error('no key has the secret on standard input')
  return key.id
}
