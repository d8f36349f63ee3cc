import type { Command } from 'commander'
import { createKeyId, createSecret, storedSecret } from '../../../core/keys/api-key.ts'
import { type Limits, PLAN_LIMITS, PLANS, type Plan } from '../../../core/keys/plans.ts'
import { parseWhen } from '../../time-words.ts'
import { addSettings, type SettingFlags, withStore } from '../../with-store.ts'
import { handOver, thisAct } from './key-acts.ts'

interface Flags extends SettingFlags {
  readonly name: string
  readonly plan: string
  readonly perMinute?: string
  readonly perDay?: string
  readonly expires?: string
  readonly readOnly?: true
}

export function addCreate(keys: Command): void {
  const create = keys
    .command('create')
    .description('Make an API key. It is shown once; only its hash is kept.')
    .requiredOption('--name <name>', 'whose key it is')
    .requiredOption('--plan <plan>', PLANS.join(', '))
    .option('--per-minute <number>', 'requests a minute; for enterprise, which needs both limits')
    .option('--per-day <number>', 'requests a day; for enterprise, which needs both limits')
    .option('--expires <when>', 'when it ends: 90d, 12h, or a day or time such as 2027-01-31')
    .option('--read-only', 'it may look, but change nothing')
    .action(createKey)
  addSettings(create, 'databaseUrl', 'environment')
}

async function createKey(flags: Flags, command: Command): Promise<void> {
  const wrong = (message: string): never => command.error(message)
  const act = thisAct()
  const name = flags.name.trim() === '' ? wrong('--name must not be empty') : flags.name
  const plan: Plan =
    PLANS.find((known) => known === flags.plan) ??
    wrong(`--plan must be one of ${PLANS.join(', ')}, got "${flags.plan}"`)
  const limits = limitsFor(plan, flags, wrong)
  const expiresAt = expiryFrom(flags.expires, act.at, wrong)

  const id = createKeyId()
  const secret = await withStore(flags, async (store, { environment }) => {
    const fresh = createSecret(environment)
    await store.addKey(
      {
        ...{ id, name, plan, limits, readOnly: flags.readOnly === true, createdAt: act.at },
        ...(expiresAt === undefined ? {} : { expiresAt }),
      },
      storedSecret(fresh, act.at),
      act,
    )
    return fresh
  })
  const rights = flags.readOnly === true ? ', read-only' : ''
  handOver(
    secret,
    `Made ${id} for "${name}" (${plan}${rights}: ${limits.perMinute} a minute, ${limits.perDay} a day).`,
  )
}

function expiryFrom(
  text: string | undefined,
  now: number,
  wrong: (message: string) => never,
): number | undefined {
  if (text === undefined) return undefined
  const expiresAt = parseWhen(text, now)
  if (expiresAt === undefined) return wrong(`--expires must be like 90d, 12h or 2027-01-31, got "${text}"`)
  return expiresAt > now ? expiresAt : wrong(`--expires must be in the future, got "${text}"`)
}

function limitsFor(plan: Plan, flags: Flags, wrong: (message: string) => never): Limits {
  if (plan !== 'enterprise') {
    if (flags.perMinute !== undefined || flags.perDay !== undefined) {
      wrong(`--per-minute and --per-day are for the enterprise plan; ${plan} has limits of its own`)
    }
    return PLAN_LIMITS[plan]
  }
  const read = (flag: string, text: string | undefined): number => {
    if (text === undefined) return wrong('an enterprise key needs --per-minute and --per-day')
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < 1 || !Number.isSafeInteger(value)) {
      return wrong(`${flag} must be a whole number of 1 or more, got "${text}"`)
    }
    return value
  }
  return { perMinute: read('--per-minute', flags.perMinute), perDay: read('--per-day', flags.perDay) }
}
