import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { type Config, postgresSettings, readConfig, SETTING_NAMES } from '../../service/config.ts'
import { openStore } from '../../store/open-store.ts'
import { OpenRefused } from '../../store/opening.ts'
import type { Store } from '../../store/store.ts'
import { failureText } from '../failure-text.ts'
import { exposureText } from '../file-permissions.ts'
import { addSettings, type SettingFlags } from '../with-store.ts'

/** `problem` makes the command fail; `advice` says what to do about it. */
interface Finding {
  readonly level: 'ok' | 'note' | 'problem'
  readonly text: string
  readonly advice?: string
}

const RESTORE = {
  sqlite:
    'stop the service, keep a copy of the file, and go back to the last backup with --database-url sqlite:BACKUP',
  postgres: 'stop the instances, and restore the database from your last backup of PostgreSQL',
} as const
const SIGNS = { ok: '✓', note: '!', problem: '✗' } as const
const MIN_FREE_BYTES = 256 * 1024 * 1024
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
  findings.push({ level: 'ok', text: 'settings can be used' }, ...openness(config))
  findings.push(...(await database(config)), ...clock())

  for (const { level, text, advice } of findings) {
    console.log(`${SIGNS[level]} ${text}${advice === undefined ? '' : `\n    ${advice}`}`)
  }
  const problems = findings.filter(({ level }) => level === 'problem').length
  if (problems > 0) throw new Error(`${problems} of ${findings.length} checks found a problem, see above`)
}

function openness({ host, trustProxy }: Config): Finding[] {
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
  return free >= MIN_FREE_BYTES
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
  const exposure = exposureText(path)
  findings.push(
    exposure === undefined
      ? { level: 'ok', text: 'only the owner can read the database' }
      : { level: 'problem', ...exposure },
  )
  return [...findings, ...writable(path), ...(await contents(config))]
}

function writable(path: string): Finding[] {
  try {
    accessSync(path, constants.W_OK)
    return []
  } catch {
    return [
      {
        level: 'problem',
        text: `${path} cannot be written, so every update is refused with 503`,
        advice: 'give the service the right to write it, and start the service again',
      },
    ]
  }
}

async function contents(config: Config): Promise<Finding[]> {
  const findings: Finding[] = []
  const kind = config.databaseUrl.startsWith('sqlite:') ? 'sqlite' : 'postgres'
  let store: Store
  try {
    store = await openStore(config.databaseUrl, { tables: 'expect' }, postgresSettings(config))
  } catch (error) {
    const text = failureText(error)
    const isReached = kind === 'sqlite' || error instanceof OpenRefused
    const advice = isReached ? {} : { advice: 'psql "$DATABASE_URL" from this machine tells more' }
    return [{ level: 'problem', text, ...advice }]
  }
  try {
    const damage = await store.findDamage()
    for (const text of damage) {
      findings.push({ level: 'problem', text, advice: RESTORE[kind] })
    }
    if (damage.length > 0) return findings
    findings.push({ level: 'ok', text: 'the database is whole' })
    const latest = await store.latestChangeAt()
    if (latest !== undefined && latest > Date.now() + 60_000) {
      findings.push({
        level: 'problem',
        text: `the last change was recorded at ${new Date(latest).toISOString()}, which is in the future`,
        advice:
          'the clock of this machine is behind; set it (NTP), since expiry, and on SQLite limits, go by it',
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
