import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { createKeyId, createSecret, storedSecret } from '../../core/keys/api-key.ts'
import type { KeyAct } from '../../core/keys/key-store.ts'
import { type Limits, PLAN_LIMITS, PLANS, type Plan } from '../../core/keys/plans.ts'
import { oneOf, parseDuration, readWhen, wholeNumber, wrongUse } from '../arguments.ts'
import { moment } from '../output.ts'
import { type SettingFlags, setting, withStore } from '../with-store.ts'
import { listKeys, requireKey, showKey } from './keys-shown.ts'

const WHICH_KEY = 'its id, the beginning of its id, or its name'
const BOTH_LIMITS = 'for enterprise, which needs both limits'

export function addKeysCommands(program: Command): void {
  const keys = program.command('keys').description('Make and manage API keys, while the service runs.')
  keys
    .command('create')
    .description('Make an API key. It is shown once; only its hash is kept.')
    .requiredOption('--name <name>', 'whose key it is')
    .requiredOption('--plan <plan>', PLANS.join(', '), oneOf('--plan', PLANS))
    .option('--per-minute <number>', `requests a minute; ${BOTH_LIMITS}`, wholeNumber('--per-minute', 1))
    .option('--per-day <number>', `requests a day; ${BOTH_LIMITS}`, wholeNumber('--per-day', 1))
    .option('--expires <when>', 'when it ends: 90d, 12h, or a day or time such as 2027-01-31')
    .option('--read-only', 'it may look, but change nothing')
    .addOption(setting('databaseUrl'))
    .addOption(setting('environment'))
    .action(createKey)
  keys
    .command('list')
    .description('List all keys, masked, with plan, creation, last use and state.')
    .option('--json', 'for machines')
    .addOption(setting('databaseUrl'))
    .action(listKeys)
  keys
    .command('show')
    .description('Show one key: its limits, its secrets (masked), its bans, and what was done with it.')
    .argument('[key]', WHICH_KEY)
    .option('--key-stdin', 'tell which key it is by its secret, read from standard input')
    .option('--json', 'for machines')
    .addOption(setting('databaseUrl'))
    .action(showKey)
  keys
    .command('rotate')
    .description('Give a key a new secret. The one it has goes on working for the grace time.')
    .argument('<key>', WHICH_KEY)
    .option('--grace <duration>', 'how long both work: 24h, 30m, 7d; 0s ends the old one at once', '24h')
    .addOption(setting('databaseUrl'))
    .addOption(setting('environment'))
    .action(rotateKey)
  keys
    .command('revoke')
    .description('End a key for good, with all its secrets. Its history stays.')
    .argument('<key>', WHICH_KEY)
    .addOption(setting('databaseUrl'))
    .action(revokeKey)
  keys
    .command('unban')
    .description('Lift the ban of a key at once. Its limits stay as they are.')
    .argument('<key>', WHICH_KEY)
    .addOption(setting('databaseUrl'))
    .action(unbanKey)
}

/** Now, by whoever is logged in: for the audit. */
function thisAct(): KeyAct {
  const { username, uid } = userInfo()
  return { at: Date.now(), actor: username === 'unknown' ? `uid ${uid}` : username }
}

/** The secret alone goes to standard output, so that a script can take it from there. */
function handOver(secret: string, explanation: string): void {
  console.error(`${explanation} Keep the key, it is not shown again:`)
  console.log(secret)
}

interface CreateFlags extends SettingFlags {
  readonly name: string
  readonly plan: Plan
  readonly perMinute?: number
  readonly perDay?: number
  readonly expires?: string
  readonly readOnly?: true
}

async function createKey(flags: CreateFlags): Promise<void> {
  const { name, plan, readOnly = false, expires } = flags
  const act = thisAct()
  if (name.trim() === '') wrongUse('--name must not be empty')
  const limits = limitsFor(flags)
  const expiresAt = expires === undefined ? undefined : readWhen('--expires', expires, act.at, 'on')
  if (expiresAt !== undefined && expiresAt <= act.at) {
    wrongUse(`--expires must be in the future, got "${expires}"`)
  }
  const id = createKeyId()
  await withStore(flags, 'make_if_none', async (store, { environment }) => {
    const secret = createSecret(environment)
    const key = { id, name, plan, limits, readOnly, createdAt: act.at }
    await store.addKey(
      expiresAt === undefined ? key : { ...key, expiresAt },
      storedSecret(secret, act.at),
      act,
    )
    const rights = readOnly ? ', read-only' : ''
    handOver(
      secret,
      `Made ${id} for "${name}" (${plan}${rights}: ${limits.perMinute} a minute, ${limits.perDay} a day).`,
    )
  })
}

function limitsFor({ plan, perMinute, perDay }: CreateFlags): Limits {
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
  const act = thisAct()
  await withStore(flags, 'expect', async (store, { environment }) => {
    const { key } = await requireKey(store, reference)
    if (key.revokedAt !== undefined) {
      throw new Error(`${key.id} is revoked; make a new key with petstore keys create`)
    }
    const secret = createSecret(environment)
    await store.rotateKey(key.id, storedSecret(secret, act.at), act.at + grace, act)
    handOver(secret, `${key.id} has a new secret; earlier ones work until ${moment(act.at + grace)} UTC.`)
  })
}

async function revokeKey(reference: string, flags: SettingFlags): Promise<void> {
  await withStore(flags, 'expect', async (store) => {
    const { key } = await requireKey(store, reference)
    if (key.revokedAt !== undefined) throw new Error(`${key.id} was revoked before; nothing was changed`)
    await store.revokeKey(key.id, thisAct())
    console.log(`Revoked ${key.id} ("${key.name}"). Requests with it are answered 401 from now on.`)
  })
}

async function unbanKey(reference: string, flags: SettingFlags): Promise<void> {
  await withStore(flags, 'expect', async (store) => {
    const { key } = await requireKey(store, reference)
    if (!(await store.liftBan(key.id, thisAct()))) {
      throw new Error(`${key.id} ("${key.name}") is not banned; nothing was changed`)
    }
    console.log(`Lifted the ban of ${key.id} ("${key.name}").`)
  })
}
