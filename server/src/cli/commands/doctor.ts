import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ServiceError } from '../../core/values/errors.ts'
import { type Config, isLoopback, readConfig, SETTING_NAMES, SettingError } from '../../service/config.ts'
import { findDeletedWriteAheadLog, isPostgresUrl } from '../../store/open-store.ts'
import { OpenRefused } from '../../store/opening.ts'
import type { Store } from '../../store/store.ts'
import type { JsonFlags, PetstoreCommand } from '../arguments.ts'
import { describeExposedFiles } from '../files.ts'
import { failureText, formatCount, formatNumber, printJson } from '../terminal.ts'
import { openConfiguredStore } from '../with-store.ts'

/** A `problem` makes the command fail. */
interface Finding {
  readonly check: 'settings' | 'network' | 'disk' | 'database' | 'clock'
  readonly level: 'ok' | 'note' | 'problem'
  readonly text: string
  readonly advice?: string | undefined
}

type Check = Finding['check']
const ok = (check: Check, text: string): Finding => ({ check, level: 'ok', text })
const note = (check: Check, text: string, advice: string): Finding => ({ check, level: 'note', text, advice })
const problem = (check: Check, text: string, advice?: string): Finding => ({
  check,
  level: 'problem',
  text,
  advice,
})

const RESTORE_ADVICE = {
  sqlite:
    'stop the service and restore the last backup: petstore restore BACKUP, which keeps the damaged file under another name',
  postgres: 'stop the instances and restore the last backup of the PostgreSQL database',
} as const
const SIGNS = { ok: '✓', note: '!', problem: '✗' } as const
const MIN_FREE_BYTES = 256 * 1024 * 1024
/** A running service releases expired holds within this time. */
const HOLD_RELEASE_MS = 3_000
/** Smaller differences between two clocks are not reported. */
const MAX_CLOCK_GAP_MS = 60_000
/** This program dates from 2026, so a clock that shows an earlier time is wrong. */
const EARLIEST_TIME = Date.UTC(2026, 0)

export function addDoctorCommand(program: PetstoreCommand): void {
  program
    .command('doctor')
    .description(
      'Check settings, file permissions, database, disk and clock, and advise how to fix problems.',
    )
    .jsonOption()
    .action(runDoctor)
    .settings(...SETTING_NAMES)
}

async function runDoctor(flags: JsonFlags): Promise<void> {
  let findings: readonly Finding[]
  try {
    const config = readConfig(flags)
    findings = [
      ok('settings', 'the settings are valid'),
      ...checkNetwork(config),
      ...(await checkDatabase(config)),
      checkClock(),
    ]
  } catch (error) {
    // With --json, even wrong settings are reported as JSON.
    if (!(error instanceof SettingError) || flags.json !== true) throw error
    findings = [problem('settings', error.message)]
  }
  const problems = findings.filter(({ level }) => level === 'problem').length
  if (flags.json === true) printJson({ ok: problems === 0, checks: findings })
  else {
    for (const { level, text, advice } of findings) {
      console.log(`${SIGNS[level]} ${text}${advice === undefined ? '' : `\n    ${advice}`}`)
    }
  }
  if (problems > 0) throw new Error(`${problems} of ${findings.length} checks found a problem, see above`)
}

function checkNetwork({ host, trustProxy }: Config): Finding[] {
  if (isLoopback(host) || trustProxy > 0) return []
  const advice =
    'if the service is behind a proxy, set TRUST_PROXY, or all clients that send no key share one limit'
  return [note('network', `the service listens on ${host}, so it is reachable from the network`, advice)]
}

async function checkDatabase(config: Config): Promise<Finding[]> {
  if (isPostgresUrl(config.databaseUrl)) return checkContents(config, 'postgres')
  const path = resolve(config.databaseUrl.slice('sqlite:'.length))
  if (!existsSync(path)) {
    const advice =
      'create it with petstore serve, import or migrate; if it is elsewhere, set --data, PETSTORE_DATA or DATABASE_URL'
    return [checkFolder(path), problem('database', `there is no database at ${path}`, advice)]
  }
  const exposure = describeExposedFiles(path)
  const findings = [
    checkFolder(path),
    exposure === undefined
      ? ok('database', 'only the owner can read the database')
      : problem('database', exposure.text, exposure.advice),
  ]
  if (!isAllowed(path, constants.W_OK)) {
    const text = `${path} is not writable, so the service answers every update with 503`
    findings.push(
      problem('database', text, 'make the file writable by the service, then restart the service'),
    )
  }
  const deletedWriteAheadLog = findDeletedWriteAheadLog(path)
  if (deletedWriteAheadLog !== undefined) {
    const advice =
      'stop the service with SIGTERM, so that it saves its data; do not use kill -9, and do not open the database until the service has stopped'
    const text = `${deletedWriteAheadLog} was deleted while the service was running`
    return [...findings, problem('database', text, advice)]
  }
  return [...findings, ...(await checkContents(config, 'sqlite'))]
}

function checkFolder(databasePath: string): Finding {
  let folder = dirname(databasePath)
  while (!existsSync(folder)) folder = dirname(folder)
  if (!isAllowed(folder, constants.W_OK | constants.X_OK)) {
    const advice = 'make the folder writable by the service, or choose another DATABASE_URL'
    return problem('disk', `${folder} is not writable`, advice)
  }
  const { bavail, bsize } = statfsSync(folder)
  const text = `${formatNumber(Math.round((bavail * bsize) / 1_000_000))} MB free for ${databasePath}`
  return bavail * bsize >= MIN_FREE_BYTES
    ? ok('disk', text)
    : problem('disk', text, 'free some space: on a full disk the service answers updates with 503')
}

function isAllowed(path: string, access: number): boolean {
  try {
    accessSync(path, access)
    return true
  } catch {
    return false
  }
}

async function checkContents(config: Config, kind: keyof typeof RESTORE_ADVICE): Promise<Finding[]> {
  let store: Store
  try {
    store = await openConfiguredStore(config, { tables: 'require_current_tables', mayBeReadOnly: true })
  } catch (error) {
    // The program throws OpenRefused after it has connected.
    const isReachable = kind === 'sqlite' || error instanceof OpenRefused
    const advice = isReachable ? undefined : 'try psql "$DATABASE_URL" on this machine'
    return [problem('database', failureText(error), advice)]
  }
  try {
    return [
      ...(await checkIntegrity(store, kind).catch(reportFailedCheck)),
      ...(await checkSessionSettings(store).catch(reportFailedCheck)),
      ...checkClockGap(store),
      ...(await checkReadiness(store)),
    ]
  } finally {
    await store.close()
  }
}

function reportFailedCheck(error: unknown): Finding[] {
  return [problem('database', `the contents could not be checked: ${failureText(causeOf(error))}`)]
}

function causeOf(error: unknown): unknown {
  return error instanceof ServiceError ? (error.cause ?? error) : error
}

async function checkIntegrity(store: Store, kind: keyof typeof RESTORE_ADVICE): Promise<Finding[]> {
  const damage = await store.findDamage()
  if (damage.length > 0) return damage.map((text) => problem('database', text, RESTORE_ADVICE[kind]))
  const findings = [ok('database', 'the database is intact'), ...(await checkHolds(store))]
  const latest = await store.latestChangeAt()
  if (latest === undefined || latest <= store.clock() + MAX_CLOCK_GAP_MS) return findings
  const text = `the last change was recorded at ${new Date(latest).toISOString()}, which is in the future`
  const machine = kind === 'postgres' ? 'the database server' : 'this machine'
  const advice = `the clock of ${machine} is behind; set the clock (NTP), because expiry and limits depend on it`
  return [...findings, problem('clock', text, advice)]
}

async function checkSessionSettings(store: Store): Promise<Finding[]> {
  const problems = await store.findWrongSettings()
  return problems.map((text) => problem('database', text, 'see docs/scaling.md, Connections'))
}

/** The same check as /readyz. */
async function checkReadiness(store: Store): Promise<Finding[]> {
  try {
    await store.ping()
    return []
  } catch (error) {
    const advice = 'the service answers updates with 503 until this is fixed'
    return [problem('database', failureText(causeOf(error)), advice)]
  }
}

async function checkHolds(store: Store): Promise<Finding[]> {
  const pets = await store.petsWithExpiredHolds(1_000)
  if (pets.length === 0) return [ok('database', 'there are no expired holds')]
  await Bun.sleep(HOLD_RELEASE_MS)
  const remaining = new Set(await store.petsWithExpiredHolds(1_000))
  const unreleased = pets.filter((petId) => remaining.has(petId)).length
  if (unreleased === 0) return [ok('database', 'expired holds are released')]
  const text = `expired holds of ${formatCount(unreleased, 'pet')} are still stored as open, but their units are available`
  const advice =
    'start petstore serve, which releases them; if it is already running, its log shows the reason'
  return [note('database', text, advice)]
}

/**
 * Only PostgreSQL has its own clock. A gap is a note, not a problem, because with PostgreSQL the service uses the clock of this
 * machine only for the times of its log lines.
 */
function checkClockGap(store: Store): Finding[] {
  const gap = Date.now() - store.clock()
  if (Math.abs(gap) <= MAX_CLOCK_GAP_MS) return []
  const seconds = formatNumber(Math.round(Math.abs(gap) / 1_000))
  const text = `the clock of this machine is ${seconds} s ${gap > 0 ? 'ahead of' : 'behind'} the clock of the database`
  return [
    note(
      'clock',
      text,
      'set the clock of this machine (NTP); stored times and expiry are right, because they use the clock of the database',
    ),
  ]
}

function checkClock(): Finding {
  const text = `the clock says ${new Date().toISOString()}`
  return Date.now() >= EARLIEST_TIME ? ok('clock', text) : problem('clock', text, 'set the clock (NTP)')
}
