import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { openStore, postgresSettings } from '../../compose.ts'
import { type Config, readConfig, SETTING_NAMES } from '../../config.ts'
import type { Store } from '../../core/store.ts'
import { addSettings, type SettingFlags } from '../with-store.ts'

/** `problem` makes the command fail; `advice` says what to do about it. */
interface Finding {
  readonly level: 'ok' | 'note' | 'problem'
  readonly text: string
  readonly advice?: string
}

const SIGNS = { ok: '✓', note: '!', problem: '✗' } as const
const LEAST_FREE_BYTES = 256 * 1024 * 1024
const EARLIEST_CLOCK = Date.UTC(2026, 0)

export function addDoctorCommand(program: Command): void {
  const doctor = program
    .command('doctor')
    .description('Check settings, file permissions, database, disk and clock, and say what to do.')
    .action(examine)
  addSettings(doctor, ...SETTING_NAMES)
}

async function examine(flags: SettingFlags): Promise<void> {
  const findings: Finding[] = []
  const config = readConfig(flags)
  findings.push({ level: 'ok', text: 'settings can be used' }, ...exposure(config))
  findings.push(...(await database(config)), ...clock())

  for (const { level, text, advice } of findings) {
    console.log(`${SIGNS[level]} ${text}${advice === undefined ? '' : `\n    ${advice}`}`)
  }
  const problems = findings.filter(({ level }) => level === 'problem').length
  if (problems > 0) throw new Error(`${problems} of ${findings.length} checks found a problem, see above`)
}

function exposure({ host, trustProxy }: Config): Finding[] {
  const isLocal = host === '127.0.0.1' || host === '::1' || host === 'localhost'
  if (isLocal || trustProxy > 0) return []
  return [
    {
      level: 'note',
      text: `the service listens on ${host}, so the network can reach it`,
      advice: 'behind a proxy, set TRUST_PROXY, or all callers without a key share one limit',
    },
  ]
}

function folder(path: string): Finding[] {
  let nearest = dirname(path)
  while (!existsSync(nearest)) nearest = dirname(nearest)
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK)
  } catch {
    return [
      {
        level: 'problem',
        text: `${nearest} cannot be written`,
        advice: 'give the service its own folder, or choose another DATABASE_URL',
      },
    ]
  }
  const { bavail, bsize } = statfsSync(nearest)
  const free = bavail * bsize
  const text = `${Math.round(free / 1024 / 1024).toLocaleString('en-US')} MB free for ${path}`
  return free >= LEAST_FREE_BYTES
    ? [{ level: 'ok', text }]
    : [{ level: 'problem', text, advice: 'make room: on a full disk, updates are refused with 503' }]
}

async function database(config: Config): Promise<Finding[]> {
  if (!config.databaseUrl.startsWith('sqlite:')) return contents(config)
  const path = resolve(config.databaseUrl.slice('sqlite:'.length))
  const findings = folder(path)
  if (!existsSync(path)) {
    return [
      ...findings,
      {
        level: 'note',
        text: `there is no database at ${path} yet`,
        advice: 'petstore serve or petstore import makes it',
      },
    ]
  }
  const mode = statSync(path).mode & 0o777
  findings.push(
    (mode & 0o077) === 0
      ? { level: 'ok', text: 'only the owner can read the database' }
      : {
          level: 'problem',
          text: `others can read the database (mode ${mode.toString(8)})`,
          advice: `chmod 600 ${path}`,
        },
  )
  return [...findings, ...(await contents(config))]
}

async function contents(config: Config): Promise<Finding[]> {
  const findings: Finding[] = []
  let store: Store
  try {
    store = await openStore(config.databaseUrl, postgresSettings(config))
  } catch (error) {
    if (config.databaseUrl.startsWith('sqlite:')) throw error
    return [
      {
        level: 'problem',
        text: error instanceof Error ? error.message : String(error),
        advice: 'psql "$DATABASE_URL" from this machine tells more',
      },
    ]
  }
  try {
    const damage = await store.findDamage()
    for (const text of damage) {
      findings.push({ level: 'problem', text, advice: 'stop the service and restore the last backup' })
    }
    if (damage.length === 0) findings.push({ level: 'ok', text: 'the database is whole' })
    const latest = await store.latestChangeAt()
    if (latest !== undefined && latest > Date.now() + 60_000) {
      findings.push({
        level: 'problem',
        text: `the last change was recorded at ${new Date(latest).toISOString()}, which is in the future`,
        advice: 'the clock of this machine is behind; set it (NTP), since limits and expiry go by it',
      })
    }
  } finally {
    await store.close()
  }
  return findings
}

function clock(): Finding[] {
  const now = Date.now()
  return now >= EARLIEST_CLOCK
    ? [{ level: 'ok', text: `the clock says ${new Date(now).toISOString()}` }]
    : [{ level: 'problem', text: `the clock says ${new Date(now).toISOString()}`, advice: 'set it (NTP)' }]
}
