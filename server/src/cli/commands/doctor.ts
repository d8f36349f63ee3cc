import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { ServiceError } from '../../core/values/errors.ts'
import { type Config, readConfig, SETTING_NAMES, SettingError } from '../../service/config.ts'
import { canBeShared, findDeletedLog } from '../../store/open-store.ts'
import { OpenRefused } from '../../store/opening.ts'
import type { Store } from '../../store/store.ts'
import { exposureText } from '../file-permissions.ts'
import { failureText, grouped, json } from '../output.ts'
import { webhookTrouble } from '../webhook-health.ts'
import { openConfigured, type SettingFlags, setting } from '../with-store.ts'

/** `problem` makes the command fail; `advice` says what to do about it. */
interface Finding {
  /** What was looked at. */
  readonly check: 'settings' | 'network' | 'disk' | 'database' | 'webhooks' | 'clock'
  readonly level: 'ok' | 'note' | 'problem'
  readonly text: string
  readonly advice?: string
}

type Check = Finding['check']
const ok = (check: Check, text: string): Finding => ({ check, level: 'ok', text })
const note = (check: Check, text: string, advice: string): Finding => ({ check, level: 'note', text, advice })
const problem = (check: Check, text: string, advice?: string): Finding => ({
  ...{ check, level: 'problem', text },
  ...(advice === undefined ? {} : { advice }),
})

const RESTORE = {
  sqlite:
    'stop the service, and go back to the last backup with petstore restore BACKUP, which keeps the file under another name',
  postgres: 'stop the instances, and restore the database from your last backup of PostgreSQL',
} as const
const SIGNS = { ok: '✓', note: '!', problem: '✗' } as const
const MIN_FREE_BYTES = 256 * 1024 * 1024
/** After so long a service that runs has ended a hold that is over. */
const SWEPT_AFTER_MS = 3_000
/** A difference between two clocks that needs no mention. */
const MAX_CLOCK_GAP_MS = 60_000
const EARLIEST_CLOCK = Date.UTC(2026, 0)

export function addDoctorCommand(program: Command): void {
  const doctor = program
    .command('doctor')
    .description('Check settings, file permissions, database, disk and clock, and say what to do.')
    .option('--json', 'for machines')
    .action(examine)
  for (const name of SETTING_NAMES) doctor.addOption(setting(name))
}

async function examine(flags: SettingFlags & { readonly json?: true }): Promise<void> {
  let findings: readonly Finding[]
  try {
    findings = await findingsOf(readConfig(flags))
  } catch (error) {
    // In one line for people; what reads JSON gets JSON whatever is found.
    if (!(error instanceof SettingError) || flags.json !== true) throw error
    findings = [problem('settings', error.message)]
  }
  const problems = findings.filter(({ level }) => level === 'problem').length
  if (flags.json === true) console.log(json({ ok: problems === 0, checks: findings }))
  else {
    for (const { level, text, advice } of findings) {
      console.log(`${SIGNS[level]} ${text}${advice === undefined ? '' : `\n    ${advice}`}`)
    }
  }
  if (problems > 0) throw new Error(`${problems} of ${findings.length} checks found a problem, see above`)
}

async function findingsOf(config: Config): Promise<Finding[]> {
  return [ok('settings', 'settings can be used'), ...openness(config), ...(await database(config)), clock()]
}

function openness({ host, trustProxy }: Config): Finding[] {
  const isLocal = host === '127.0.0.1' || host === '::1' || host === 'localhost'
  if (isLocal || trustProxy > 0) return []
  return [
    note(
      'network',
      `the service listens on ${host}, so the network can reach it`,
      'behind a proxy, set TRUST_PROXY, or all callers without a key share one limit',
    ),
  ]
}

async function database(config: Config): Promise<Finding[]> {
  if (canBeShared(config.databaseUrl)) return contents(config, 'postgres')
  const path = resolve(config.databaseUrl.slice('sqlite:'.length))
  if (!existsSync(path)) {
    const advice =
      'petstore serve, import or migrate makes it; if it is elsewhere, --data, PETSTORE_DATA or DATABASE_URL says where'
    return [folder(path), problem('database', `there is no database at ${path}`, advice)]
  }
  const exposure = exposureText(path)
  const findings = [
    folder(path),
    exposure === undefined
      ? ok('database', 'only the owner can read the database')
      : problem('database', exposure.text, exposure.advice),
  ]
  if (!isAllowed(path, constants.W_OK)) {
    findings.push(
      problem(
        'database',
        `${path} cannot be written, so every update is refused with 503`,
        'give the service the right to write it, and start the service again',
      ),
    )
  }
  const deletedLog = findDeletedLog(path)
  if (deletedLog !== undefined) {
    const advice =
      'stop the service with SIGTERM, which saves what it has in memory; do not kill it, and do not open the database before that'
    return [...findings, problem('database', `${deletedLog} was deleted while the service runs`, advice)]
  }
  return [...findings, ...(await contents(config, 'sqlite'))]
}

function folder(path: string): Finding {
  let nearest = dirname(path)
  while (!existsSync(nearest)) nearest = dirname(nearest)
  if (!isAllowed(nearest, constants.W_OK | constants.X_OK)) {
    const advice = 'give the service its own folder, or choose another DATABASE_URL'
    return problem('disk', `${nearest} cannot be written`, advice)
  }
  const { bavail, bsize } = statfsSync(nearest)
  const text = `${grouped(Math.round((bavail * bsize) / 1024 / 1024))} MB free for ${path}`
  return bavail * bsize >= MIN_FREE_BYTES
    ? ok('disk', text)
    : problem('disk', text, 'make room: on a full disk, updates are refused with 503')
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
    store = await openConfigured(config, { tables: 'expect', mayBeReadOnly: true })
  } catch (error) {
    const text = failureText(error)
    const isReached = kind === 'sqlite' || error instanceof OpenRefused
    return isReached
      ? [problem('database', text)]
      : [problem('database', text, 'psql "$DATABASE_URL" from this machine tells more')]
  }
  try {
    const wrong = (await store.findWrongSettings()).map((text) =>
      problem('database', text, 'docs/scaling.md, Connections'),
    )
    const trouble = await readiness(store)
    const found = [...(await wholeness(store, kind).catch(notChecked)), ...wrong, ...clockGap(store)]
    // Asking how far webhooks are behind writes, and so needs a server that takes that.
    return [...found, ...(trouble.length === 0 ? await webhooks(store) : trouble)]
  } finally {
    await store.close()
  }
}

function notChecked(error: unknown): Finding[] {
  const cause = error instanceof ServiceError ? error.cause : error
  return [problem('database', `the contents could not be checked: ${failureText(cause)}`)]
}

async function wholeness(store: Store, kind: keyof typeof RESTORE): Promise<Finding[]> {
  const damage = await store.findDamage()
  if (damage.length > 0) return damage.map((text) => problem('database', text, RESTORE[kind]))
  const whole = [ok('database', 'the database is whole'), ...(await holds(store))]
  const latest = await store.latestChangeAt()
  if (latest === undefined || latest <= store.clock() + MAX_CLOCK_GAP_MS) return whole
  return [
    ...whole,
    problem(
      'clock',
      `the last change was recorded at ${new Date(latest).toISOString()}, which is in the future`,
      kind === 'postgres'
        ? 'the clock of the database server is behind; set it (NTP), since expiry and limits go by it'
        : 'the clock of this machine is behind; set it (NTP), since expiry and limits go by it',
    ),
  ]
}

/** As /readyz would say it. */
async function readiness(store: Store): Promise<Finding[]> {
  try {
    await store.ping()
    return []
  } catch (error) {
    const cause = error instanceof ServiceError ? error.cause : error
    return [
      problem('database', failureText(cause), 'petstore serve answers updates with 503 until this is solved'),
    ]
  }
}

/** A service ends them within a second or two. They reserve nothing meanwhile. */
async function holds(store: Store): Promise<Finding[]> {
  const pets = await store.petsWithExpiredHolds(1_000)
  if (pets.length === 0) return [ok('database', 'no hold that is over is left')]
  await Bun.sleep(SWEPT_AFTER_MS)
  const left = new Set(await store.petsWithExpiredHolds(1_000))
  const behind = pets.filter((petId) => left.has(petId)).length
  if (behind === 0) return [ok('database', 'holds that are over are ended')]
  return [
    note(
      'database',
      `holds of ${grouped(behind)} pets are over and not ended yet; they reserve nothing any more`,
      'petstore serve ends them; if it runs, its log says what keeps it from that',
    ),
  ]
}

/** Those that were turned off or are far behind. */
async function webhooks(store: Store): Promise<Finding[]> {
  const states = await store.listWebhooks()
  const troubles = states.flatMap((state) => webhookTrouble(state, store.clock()) ?? [])
  if (states.length > 0 && troubles.length === 0) return [ok('webhooks', 'no webhook is off or far behind')]
  return troubles.map(({ text, advice }) => note('webhooks', text, advice))
}

/** Stored times go by the database's clock, so a difference shows in the logs of this machine alone. */
function clockGap(store: Store): Finding[] {
  const gap = Date.now() - store.clock()
  if (Math.abs(gap) <= MAX_CLOCK_GAP_MS) return []
  const seconds = grouped(Math.round(Math.abs(gap) / 1_000))
  const text = `the clock of this machine is ${seconds} s ${gap > 0 ? 'ahead of' : 'behind'} that of the database`
  return [note('clock', text, 'set it (NTP); stored times and expiry go by the clock of the database')]
}

function clock(): Finding {
  const text = `the clock says ${new Date().toISOString()}`
  return Date.now() >= EARLIEST_CLOCK ? ok('clock', text) : problem('clock', text, 'set it (NTP)')
}
