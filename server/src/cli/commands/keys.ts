import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { openStore } from '../../compose.ts'
import { flagOf, readConfig, SETTINGS } from '../../config.ts'
import { createKeyId, createSecret, storedSecret } from '../../core/api-key.ts'
import { type Limits, PLAN_LIMITS, PLANS, type Plan } from '../../core/plans.ts'

interface CreateFlags {
  name: string
  plan: string
  perMinute?: string
  perDay?: string
  expires?: string
  databaseUrl?: string
  environment?: string
}

export function addKeysCommands(program: Command): void {
  const create = program
    .command('keys')
    .description('Make and manage API keys.')
    .command('create')
    .description('Make an API key. It is shown once; only its hash is kept.')
    .requiredOption('--name <name>', 'whose key it is')
    .requiredOption('--plan <plan>', PLANS.join(', '))
    .option('--per-minute <number>', 'requests a minute; for enterprise, which needs both limits')
    .option('--per-day <number>', 'requests a day; for enterprise, which needs both limits')
    .option('--expires <when>', 'a day or a time in ISO 8601, such as 2027-01-31')
    .action(createKey)
  for (const name of ['databaseUrl', 'environment'] as const) {
    create.option(`${flagOf(name)} <value>`, `${SETTINGS[name].help} (default ${SETTINGS[name].fallback})`)
  }
}

async function createKey(flags: CreateFlags, command: Command): Promise<void> {
  const wrong = (message: string): never => command.error(message)
  const plan: Plan =
    PLANS.find((known) => known === flags.plan) ??
    wrong(`--plan must be one of ${PLANS.join(', ')}, got "${flags.plan}"`)
  const limits = limitsFor(plan, flags, wrong)
  const expiresAt = flags.expires === undefined ? undefined : Date.parse(flags.expires)
  if (Number.isNaN(expiresAt))
    wrong(`--expires must be a day or time such as 2027-01-31, got "${flags.expires}"`)

  const config = readConfig({
    ...(flags.databaseUrl === undefined ? {} : { databaseUrl: flags.databaseUrl }),
    ...(flags.environment === undefined ? {} : { environment: flags.environment }),
  })
  const secret = createSecret(config.environment)
  const id = createKeyId()
  const now = Date.now()
  const store = openStore(config.databaseUrl)
  try {
    await store.addKey(
      {
        id,
        name: flags.name,
        plan,
        limits,
        readOnly: false,
        createdAt: now,
        ...(expiresAt === undefined ? {} : { expiresAt }),
      },
      storedSecret(secret, now),
      { at: now, actor: userInfo().username },
    )
  } finally {
    await store.close()
  }
  // The key alone goes to standard output, so that a script can take it from there.
  console.error(
    `Made ${id} for "${flags.name}" (${plan}: ${limits.perMinute} a minute, ${limits.perDay} a day). Keep the key, it is not shown again:`,
  )
  console.log(secret)
}

function limitsFor(plan: Plan, flags: CreateFlags, wrong: (message: string) => never): Limits {
  if (plan !== 'enterprise') {
    if (flags.perMinute !== undefined || flags.perDay !== undefined) {
      wrong(`--per-minute and --per-day are for the enterprise plan; ${plan} has limits of its own`)
    }
    return PLAN_LIMITS[plan]
  }
  const read = (flag: string, text: string | undefined): number => {
    if (text === undefined) return wrong(`an enterprise key needs --per-minute and --per-day`)
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < 1 || !Number.isSafeInteger(value)) {
      return wrong(`${flag} must be a whole number of 1 or more, got "${text}"`)
    }
    return value
  }
  return { perMinute: read('--per-minute', flags.perMinute), perDay: read('--per-day', flags.perDay) }
}
