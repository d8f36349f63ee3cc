import { userInfo } from 'node:os'
import { Option } from 'commander'
import { EXPECTED_NAME, isName } from '../../core/catalog/catalog-fields.ts'
import {
  createKeyId,
  createSecret,
  DEFAULT_PERMISSIONS,
  formatAllowance,
  formatPermissions,
  keyState,
  type Limits,
  limitsOfPlan,
  PERMISSIONS,
  type Permission,
  PLANS,
  type Plan,
  toStoredSecret,
} from '../../core/keys/api-key.ts'
import type { KeyActor } from '../../core/keys/key-command.ts'
import { keyRecordToJson } from '../../core/keys/key-record.ts'
import type { KeyRecord } from '../../core/keys/key-store.ts'
import { environmentOf } from '../../service/config.ts'
import type { Store } from '../../store/store.ts'
import {
  type ConfirmFlags,
  choiceParser,
  listParser,
  type PetstoreCommand,
  type SettingFlags,
  type TimeResolver,
  throwUsageError,
  timeParser,
  wholeNumberParser,
} from '../arguments.ts'
import { writeToStdout } from '../files.ts'
import {
  failureText,
  formatMinute,
  formatTable,
  isDatabaseFailure,
  requireConfirmation,
} from '../terminal.ts'
import { type OpenedStore, withStore } from '../with-store.ts'

const NO_KEYS_MESSAGE =
  'There are no keys yet. Create the key of the owner: petstore keys create --name "Owner" --owner --plan business'

export function addKeysCommands(program: PetstoreCommand): void {
  const keys = program
    .command('keys')
    .description('Create, list and revoke API keys, even while the service is running.')
  keys
    .command('create')
    .description('Create an API key. Its secret is shown once; only the hash of the secret is stored.')
    .requiredOption('--name <name>', 'name of the key, such as the person or program that uses it', parseName)
    .requiredOption('--plan <plan>', PLANS.join(', '), choiceParser('--plan', PLANS))
    .addOption(limitOption('--per-minute', 'requests per minute (enterprise only)'))
    .addOption(limitOption('--per-day', 'requests per day (enterprise only)'))
    .option(
      '--expires <when>',
      'when the key expires: 90d, 12h, or a day or time such as 2027-01-31',
      timeParser('future', '--expires'),
    )
    .option(
      '--may <names>',
      `what the key may change: none, or a comma-separated list of ${PERMISSIONS.join()} (default ${formatPermissions(DEFAULT_PERMISSIONS)})`,
      listParser('--may', PERMISSIONS),
    )
    .option('--owner', 'give the key all permissions, including the management of keys')
    .databaseSettings()
    .action(createKey)
  keys
    .command('list')
    .description('List all keys with plan, permissions, masked secret, creation, last use and state.')
    .option('--json', 'print JSON')
    .storeAction(listKeys)
  keys
    .command('revoke')
    .description('Revoke a key and all its secrets permanently. Its history stays.')
    .argument(
      '<key>',
      'id or name of the key, or the start of its id: key_ and at least four more characters',
    )
    .confirmOption('revokes the key')
    .storeAction(revokeKey)
}

function limitOption(flag: string, description: string): Option {
  return new Option(`${flag} <number>`, description).argParser(wholeNumberParser(flag, 1))
}

/** The user who runs this command. A user without a name is identified by the uid. */
function operator(): KeyActor {
  const { username, uid } = userInfo()
  return { type: 'operator', name: username === 'unknown' ? `uid ${uid}` : username }
}

interface CreateFlags extends SettingFlags {
  readonly name: string
  readonly plan: Plan
  readonly perMinute?: number
  readonly perDay?: number
  readonly expires?: TimeResolver
  readonly may?: readonly Permission[]
  readonly owner?: true
}

async function createKey(flags: CreateFlags): Promise<void> {
  const { name, plan, expires, may, owner } = flags
  if (owner && may !== undefined) throwUsageError('--owner gives all permissions; leave out --may')
  const permissions = may ?? (owner ? PERMISSIONS : DEFAULT_PERMISSIONS)
  const limits = parseLimits(flags)
  const id = createKeyId()
  await withStore(flags, 'require_current_tables', async ({ store, config, database }) => {
    const at = store.clock()
    const secret = createSecret(environmentOf(config))
    const expiresAt = expires?.(at)
    const key = {
      id,
      name,
      plan,
      limits,
      permissions,
      createdAt: at,
      ...(expiresAt === undefined ? {} : { expiresAt }),
    }
    await printSecret(secret)
    try {
      await store.runKeyCommand(operator(), { type: 'create', key, secret: toStoredSecret(secret, at) }, at)
    } catch (error) {
      throw creationError(error, id)
    }
    const subjects = permissions.length === 0 ? 'nothing' : permissions.join(', ')
    console.error(
      `Created ${id} ("${name}", ${formatAllowance(key)}, may change ${subjects}) in ${database}. Store the secret now: it is not shown again.`,
    )
  })
}

/** Prints the secret alone, so that a script can read it. The key is created afterwards, so that no secret is lost. */
async function printSecret(secret: string): Promise<void> {
  try {
    await writeToStdout(`${secret}\n`)
  } catch (error) {
    throw new Error(
      `the secret cannot be written to standard output (${failureText(error)}); nothing was changed`,
    )
  }
}

/** Says whether the printed secret works. A commit can succeed although its response is lost. */
function creationError(error: unknown, id: string): Error {
  const effect = isDatabaseFailure(error)
    ? `the key may or may not have been created; petstore keys list shows ${id} if it was, and then the printed secret works`
    : 'the secret that was printed does not work'
  return new Error(`${failureText(error)}; ${effect}`, { cause: error })
}

function parseName(name: string): string {
  return isName(name) ? name : throwUsageError(`--name must be ${EXPECTED_NAME}`)
}

/** The rule names the fields of the API, the message names the flags. */
function parseLimits({ plan, ...limits }: CreateFlags): Limits {
  try {
    return limitsOfPlan(plan, limits)
  } catch (error) {
    const message = failureText(error)
    return throwUsageError(message.replace('perMinute', '--per-minute').replace('perDay', '--per-day'))
  }
}

async function revokeKey(
  { store, database }: OpenedStore,
  reference: string,
  flags: ConfirmFlags,
): Promise<void> {
  const { id, name, plan } = (await requireKey(store, reference)).key
  await requireConfirmation(flags, `Revoke ${id} ("${name}", ${plan}) permanently?`)
  await store.runKeyCommand(operator(), { type: 'revoke', keyId: id }, store.clock())
  console.log(`Revoked ${id} ("${name}") in ${database}. Requests with it now get status 401.`)
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

interface ListFlags {
  readonly json?: true
}

async function listKeys({ store }: OpenedStore, { json }: ListFlags): Promise<void> {
  const records = await store.listKeys()
  const now = store.clock()
  if (json) {
    const rows = records.map((record) => ({
      ...keyRecordToJson(record, now),
      state: describeKeyState(record, now),
    }))
    console.log(JSON.stringify(rows, undefined, 2))
  } else if (records.length === 0) console.log(NO_KEYS_MESSAGE)
  else {
    const titles = ['ID', 'NAME', 'PLAN', 'MAY', 'KEY', 'CREATED', 'LAST USED', 'STATE']
    console.log(formatTable([titles, ...records.map((record) => keyRow(record, now))]))
  }
}

function keyRow(record: KeyRecord, now: number): string[] {
  const { key, secrets, lastUsedAt } = record
  return [
    key.id,
    key.name,
    key.plan,
    formatPermissions(key.permissions),
    secrets[0]?.hint ?? '-',
    formatMinute(key.createdAt),
    formatMinute(lastUsedAt),
    describeKeyState(record, now),
  ]
}

/** `active`, `paused`, `expired`, `revoked`, or `banned until 12:34:56`. */
function describeKeyState({ key, banEndsAt = 0 }: KeyRecord, now: number): string {
  const state = keyState(key, now)
  const isBanned = state === 'active' && now < banEndsAt
  return isBanned ? `banned until ${new Date(banEndsAt).toISOString().slice(11, 19)}` : state
}
