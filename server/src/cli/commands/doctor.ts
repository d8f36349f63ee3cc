import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { type Config, readConfig, SETTING_NAMES } from '../../service/config.ts'
import { canBeShared } from '../../store/open-store.ts'
import { OpenRefused } from '../../store/opening.ts'
import type { Store } from '../../store/store.ts'
import { exposureText } from '../file-permissions.ts'
import { failureText, grouped } from '../output.ts'
import { openConfigured, type SettingFlags, setting } from '../with-store.ts'

/** `problem` makes the command fail; `advice` says what to do about it. */
interface Finding {
  readonly level: 'ok' | 'note' | 'problem'
  readonly text: string
  readonly advice?: string
}

const ok = (text: string): Finding => ({ level: 'ok', text })
const note = (text: string, advice: string): Finding => ({ level: 'note', text, advice })
const problem = (text: string, advice: string): Finding => ({ level: 'problem', text, advice })

const RESTORE = {
  sqlite:
    'stop the service, keep a copy of the file, and go back to the last backup with --database-url sqlite:BACKUP',
  postgres: 'stop the instances, and restore the database from your last backup of PostgreSQL',
} as const
const SIGNS = { ok: '✓', note: '!', problem: '✗' } as const
const MIN_FREE_BYTES = 256 * 1024 * 1024
/** After so long a service that runs has ended a hold that is over. */
const SWEPT_AFTER_MS = 3_000
const EARLIEST_CLOCK = Date.UTC(2026, 0)

export function addDoctorCommand(program: Command): void {
  const doctor = program
    .command('doctor')
    .description('Check settings, file permissions, database, disk and clock, and say what to do.')
    .action(examine)
  for (const name of SETTING_NAMES) doctor.addOption(setting(name))
}

async function examine(flags: SettingFlags): Promise<void> {
  const config = readConfig(flags)
  const findings = [ok('settings can be used'), ...openness(config), ...(await database(config)), clock()]
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
    note(
      `the service listens on ${host}, so the network can reach it`,
      'behind a proxy, set TRUST_PROXY, or all callers without a key share one limit',
    ),
  ]
}

async function database(config: Config): Promise<Finding[]> {
  if (canBeShared(config.databaseUrl)) return contents(config, 'postgres')
  const path = resolve(config.databaseUrl.slice('sqlite:'.length))
  if (!existsSync(path)) {
    const advice = 'petstore serve or petstore import makes it'
    return [folder(path), note(`there is no database at ${path} yet`, advice)]
  }
  const exposure = exposureText(path)
  const findings = [
    folder(path),
    exposure === undefined
      ? ok('only the owner can read the database')
      : problem(exposure.text, exposure.advice),
  ]
  if (!isAllowed(path, constants.W_OK)) {
    findings.push(
      problem(
        `${path} cannot be written, so every update is refused with 503`,
        'give the service the right to write it, and start the service again',
      ),
    )
  }
  return [...findings, ...(await contents(config, 'sqlite'))]
}

function folder(path: string): Finding {
  let nearest = dirname(path)
  while (!existsSync(nearest)) nearest = dirname(nearest)
  if (!isAllowed(nearest, constants.W_OK | constants.X_OK)) {
    const advice = 'give the service its own folder, or choose another DATABASE_URL'
    return problem(`${nearest} cannot be written`, advice)
  }
  const { bavail, bsize } = statfsSync(nearest)
  const text = `${grouped(Math.round((bavail * bsize) / 1024 / 1024))} MB free for ${path}`
  return bavail * bsize >= MIN_FREE_BYTES
    ? ok(text)
    : problem(text, 'make room: on a full disk, updates are refused with 503')
}

function isAllowed(path: string, access: number): boolean {
  try {
    accessSync(path, access)
    return true
  } catch {
    return false
  }
}

async function contents(config: Config, kind: keyof typeof RESTORE): Promise<Finding[]> {
  let store: Store
  try {
    store = await openConfigured(config, { tables: 'expect' })
  } catch (error) {
    const text = failureText(error)
    const isReached = kind === 'sqlite' || error instanceof OpenRefused
    return isReached
      ? [{ level: 'problem', text }]
      : [problem(text, 'psql "$DATABASE_URL" from this machine tells more')]
  }
  try {
    const damage = await store.findDamage()
    if (damage.length > 0) return damage.map((text) => problem(text, RESTORE[kind]))
    const whole = [ok('the database is whole'), ...(await holds(store))]
    const latest = await store.latestChangeAt()
    if (latest === undefined || latest <= Date.now() + 60_000) return whole
    return [
      ...whole,
      problem(
        `the last change was recorded at ${new Date(latest).toISOString()}, which is in the future`,
        'the clock of this machine is behind; set it (NTP), since expiry, and on SQLite limits, go by it',
      ),
    ]
  } finally {
    await store.close()
  }
}

/** A service ends them within a second or two. They reserve nothing meanwhile. */
async function holds(store: Store): Promise<Finding[]> {
  const pets = await store.petsWithHoldsOver(1_000)
  if (pets.length === 0) return [ok('no hold that is over is left')]
  await Bun.sleep(SWEPT_AFTER_MS)
  const left = new Set(await store.petsWithHoldsOver(1_000))
  const behind = pets.filter((petId) => left.has(petId)).length
  if (behind === 0) return [ok('holds that are over are ended')]
  return [
    note(
      `holds of ${grouped(behind)} pets are over and not ended yet; they reserve nothing any more`,
      'petstore serve ends them; if it runs, its log says what keeps it from that',
    ),
  ]
}

function clock(): Finding {
  const text = `the clock says ${new Date().toISOString()}`
  return Date.now() >= EARLIEST_CLOCK ? ok(text) : problem(text, 'set it (NTP)')
}
