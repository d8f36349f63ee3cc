import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { EXPECTED_NAME, isName } from '../../core/catalog/catalog-fields.ts'
import { createKeyId, createSecret, storedSecret } from '../../core/keys/api-key.ts'
import { describeKeyChange, type KeyChange } from '../../core/keys/key-change.ts'
import type { KeyAct } from '../../core/keys/key-store.ts'
import { PERMISSIONS, type Permission, permissionText } from '../../core/keys/permissions.ts'
import { type Limits, PLAN_LIMITS, PLANS, type Plan } from '../../core/keys/plans.ts'
import { listOf, oneOf, parseDuration, readWhen, wholeNumber, wrongUse } from '../arguments.ts'
import { type AskingFlags, ask, requireAnswer } from '../asking.ts'
import { handOver } from '../handing-over.ts'
import { moment } from '../output.ts'
import { databaseName, type SettingFlags, setting, withStore } from '../with-store.ts'
import { listKeys, requireKey, showKey } from './keys-shown.ts'

const WHICH_KEY = 'its id, its name, or the beginning of its id: key_ and at least four more characters'
const BOTH_LIMITS = 'for enterprise, which needs both limits'
const WHEN = 'when it ends: 90d, 12h, or a day or time such as 2027-01-31'
const WHAT_IT_MAY = `what it may change: some of ${PERMISSIONS.join()}, or none, to only look`

export function addKeysCommands(program: Command): void {
  const keys = program.command('keys').description('Make and manage API keys, while the service runs.')
  keys
    .command('create')
    .description('Make an API key. It is shown once; only its hash is kept.')
    .requiredOption('--name <name>', 'whose key it is')
    .requiredOption('--plan <plan>', PLANS.join(', '), oneOf('--plan', PLANS))
    .option('--per-minute <number>', `requests a minute; ${BOTH_LIMITS}`, wholeNumber('--per-minute', 1))
    .option('--per-day <number>', `requests a day; ${BOTH_LIMITS}`, wholeNumber('--per-day', 1))
    .option('--expires <when>', WHEN)
    .option('--may <names>', `${WHAT_IT_MAY}; all by default`, listOf('--may', PERMISSIONS))
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .addOption(setting('environment'))
    .action(createKey)
  keys
    .command('change')
    .description('Change a key. What is not given stays; its secret goes on working.')
    .argument('<key>', WHICH_KEY)
    .option('--name <name>', 'whose key it is')
    .option('--plan <plan>', PLANS.join(', '), oneOf('--plan', PLANS))
    .option('--per-minute <number>', `requests a minute; ${BOTH_LIMITS}`, wholeNumber('--per-minute', 1))
    .option('--per-day <number>', `requests a day; ${BOTH_LIMITS}`, wholeNumber('--per-day', 1))
    .option('--expires <when>', `${WHEN}; or never`)
    .option('--may <names>', WHAT_IT_MAY, listOf('--may', PERMISSIONS))
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(changeKey)
  keys
    .command('list')
    .description('List all keys, masked, with plan, permissions, creation, last use and state.')
    .option('--json', 'for machines')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(listKeys)
  keys
    .command('show')
    .description('Show one key: its limits, its secrets (masked), its bans, and what was done with it.')
    .argument('[key]', WHICH_KEY)
    .option('--key-stdin', 'tell which key it is by its secret, read from standard input')
    .option('--json', 'for machines')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(showKey)
  keys
    .command('rotate')
    .description('Give a key a new secret. The one it has goes on working for the grace time.')
    .argument('<key>', WHICH_KEY)
    .option('--grace <duration>', 'how long both work: 24h, 30m, 7d; 0s ends the old one at once', '24h')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .addOption(setting('environment'))
    .action(rotateKey)
  keys
    .command('revoke')
    .description('End a key for good, with all its secrets. Its history stays.')
    .argument('<key>', WHICH_KEY)
    .option('--yes', 'do not ask')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(revokeKey)
  keys
    .command('unban')
    .description('Lift the ban of a key at once. Its limits stay as they are.')
    .argument('<key>', WHICH_KEY)
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(unbanKey)
}

/** For the audit: when, and which user of this machine. */
function thisAct(at: number): KeyAct {
  const { username, uid } = userInfo()
  return { at, actor: username === 'unknown' ? `uid ${uid}` : username }
}

interface ChangeFlags extends SettingFlags {
  readonly name?: string
  readonly plan?: Plan
  readonly perMinute?: number
  readonly perDay?: number
  readonly expires?: string
  readonly may?: readonly Permission[]
}

type CreateFlags = ChangeFlags & { readonly name: string; readonly plan: Plan }

async function createKey(flags: CreateFlags): Promise<void> {
  const { plan, may: permissions = PERMISSIONS, expires } = flags
  const name = readName(flags.name)
  const limits = limitsFor(plan, flags)
  const expiryFrom = (now: number) => (expires === undefined ? undefined : readExpiry(expires, now))
  // A mistake in the arguments is reported without opening the database.
  expiryFrom(Date.now())
  const id = createKeyId()
  await withStore(flags, 'expect', async (store, config) => {
    const act = thisAct(store.clock())
    const expiresAt = expiryFrom(act.at)
    const secret = createSecret(config.environment)
    const key = { id, name, plan, limits, permissions, createdAt: act.at }
    const stored = storedSecret(secret, act.at)
    await handOver(
      'key',
      secret,
      () => store.addKey(expiresAt === undefined ? key : { ...key, expiresAt }, stored, act),
      `Made ${id} for "${name}" in ${databaseName(config)} (${plan}: ${limits.perMinute} a minute, ${limits.perDay} a day; may: ${permissionText(permissions)}).`,
    )
  })
}

async function changeKey(reference: string, flags: ChangeFlags): Promise<void> {
  // A mistake in the arguments is reported without opening the database.
  readChange(flags, Date.now())
  await withStore(flags, 'expect', async (store, config) => {
    const act = thisAct(store.clock())
    const change = readChange(flags, act.at)
    const { key } = await requireKey(store, reference)
    if (key.revokedAt !== undefined) {
      throw new Error(`${key.id} is revoked; make a new key with petstore keys create`)
    }
    const changes = describeKeyChange(key, change)
    if (changes.length === 0) throw new Error(`${key.id} ("${key.name}") is so already; nothing was changed`)
    await store.changeKey(key, change, act)
    console.log(`Changed ${key.id} ("${key.name}") in ${databaseName(config)}.\n${changes.join('\n')}`)
  })
}

function readChange(flags: ChangeFlags, now: number): KeyChange {
  const { name, plan, perMinute, perDay, expires, may } = flags
  if (plan === undefined && (perMinute ?? perDay) !== undefined) {
    wrongUse('--per-minute and --per-day go with --plan enterprise')
  }
  const change: KeyChange = {
    ...(name === undefined ? {} : { name: readName(name) }),
    ...(plan === undefined ? {} : { allowance: { plan, limits: limitsFor(plan, flags) } }),
    ...(may === undefined ? {} : { permissions: may }),
    ...(expires === undefined ? {} : { expiresAt: expires === 'never' ? expires : readExpiry(expires, now) }),
  }
  return Object.keys(change).length > 0
    ? change
    : wrongUse('say what to change: --name, --plan, --expires or --may')
}

function readName(name: string): string {
  return isName(name) ? name : wrongUse(`--name must be ${EXPECTED_NAME}`)
}

function readExpiry(text: string, now: number): number {
  const time = readWhen('--expires', text, now, 'on')
  return time > now ? time : wrongUse(`--expires must be in the future, got "${text}"`)
}

function limitsFor(plan: Plan, { perMinute, perDay }: ChangeFlags): Limits {
  if (plan === 'enterprise') {
    return perMinute === undefined || perDay === undefined
      ? wrongUse('an enterprise key needs --per-minute and --per-day')
      : { perMinute, perDay }
  }
  return perMinute === undefined && perDay === undefined
    ? PLAN_LIMITS[plan]
    : wrongUse(`--per-minute and --per-day are for the enterprise plan; ${plan} has limits of its own`)
}

async function rotateKey(reference: string, flags: SettingFlags & { readonly grace: string }): Promise<void> {
  const grace =
    parseDuration(flags.grace) ?? wrongUse(`--grace must be like 24h, 30m or 0s, got "${flags.grace}"`)
  await withStore(flags, 'expect', async (store, config) => {
    const act = thisAct(store.clock())
    const { key } = await requireKey(store, reference)
    if (key.revokedAt !== undefined) {
      throw new Error(`${key.id} is revoked; make a new key with petstore keys create`)
    }
    const secret = createSecret(config.environment)
    await handOver(
      'key',
      secret,
      () => store.rotateKey(key.id, storedSecret(secret, act.at), act.at + grace, act),
      `${key.id} has a new secret in ${databaseName(config)}; earlier ones work until ${moment(act.at + grace)} UTC.`,
    )
  })
}

async function revokeKey(reference: string, flags: SettingFlags & AskingFlags): Promise<void> {
  requireAnswer(flags, 'revokes the key')
  await withStore(flags, 'expect', async (store, config) => {
    const { key } = await requireKey(store, reference)
    if (key.revokedAt !== undefined) throw new Error(`${key.id} was revoked before; nothing was changed`)
    ask(flags, `Revoke ${key.id} ("${key.name}", ${key.plan}), for good?`)
    await store.revokeKey(key.id, thisAct(store.clock()))
    console.log(
      `Revoked ${key.id} ("${key.name}") in ${databaseName(config)}. Requests with it are answered 401 from now on.`,
    )
  })
}

async function unbanKey(reference: string, flags: SettingFlags): Promise<void> {
  await withStore(flags, 'expect', async (store, config) => {
    const { key } = await requireKey(store, reference)
    if (!(await store.liftBan(key.id, thisAct(store.clock())))) {
      throw new Error(`${key.id} ("${key.name}") is not banned; nothing was changed`)
    }
    console.log(`Lifted the ban of ${key.id} ("${key.name}") in ${databaseName(config)}.`)
  })
}
