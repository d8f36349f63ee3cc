import { accessSync, constants, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ServiceError } from '../../core/values/errors.ts'
import { readConfig } from '../../service/config.ts'
import { findDeletedWriteAheadLog, isPostgresUrl } from '../../store/open-store.ts'
import { OpenRefused } from '../../store/opening.ts'
import type { Store } from '../../store/store.ts'
import type { PetstoreCommand, SettingFlags } from '../arguments.ts'
import { describeExposedFiles } from '../files.ts'
import { failureText } from '../terminal.ts'
import { openConfiguredStore } from '../with-store.ts'

/** The result of one check. `advice` says what to do about a problem. */
interface Finding {
  readonly isProblem: boolean
  readonly text: string
  readonly advice?: string | undefined
}

const ok = (text: string): Finding => ({ isProblem: false, text })
const problem = (text: string, advice?: string): Finding => ({ isProblem: true, text, advice })

const RESTORE_ADVICE = {
  sqlite:
    'stop the service and restore the last backup: petstore restore BACKUP, which keeps the damaged file under another name',
  postgres: 'stop the instances and restore the last backup of the PostgreSQL database',
} as const
type DatabaseKind = keyof typeof RESTORE_ADVICE

export function addCheckCommand(program: PetstoreCommand): void {
  program
    .command('check')
    .description(
      'Check that the database is intact and unedited, that it can be written, and that only its owner can read it.',
    )
    .databaseSettings()
    .action(runCheck)
}

async function runCheck(flags: SettingFlags): Promise<void> {
  const config = readConfig(flags)
  const kind: DatabaseKind = isPostgresUrl(config.databaseUrl) ? 'postgres' : 'sqlite'
  const path = resolve(config.databaseUrl.slice('sqlite:'.length))
  const findings = kind === 'sqlite' ? checkFile(path) : []
  const deletedWriteAheadLog = kind === 'sqlite' ? findDeletedWriteAheadLog(path) : undefined
  if (deletedWriteAheadLog !== undefined) {
    findings.push(
      problem(
        `${deletedWriteAheadLog} was deleted while the service was running`,
        'stop the service with SIGTERM, so that it saves its data; do not use kill -9, and do not open the database until the service has stopped',
      ),
    )
  } else if (kind === 'postgres' || existsSync(path)) {
    const open = () => openConfiguredStore(config, { tables: 'require_current_tables', mayBeReadOnly: true })
    findings.push(...(await checkContents(open, kind)))
  }
  for (const { isProblem, text, advice } of findings) {
    console.log(`${isProblem ? '✗' : '✓'} ${text}${advice === undefined ? '' : `\n    ${advice}`}`)
  }
  const problems = findings.filter(({ isProblem }) => isProblem).length
  if (problems > 0) throw new Error(`${problems} of ${findings.length} checks found a problem, see above`)
}

function checkFile(path: string): Finding[] {
  if (!existsSync(path)) {
    const advice = 'create it with petstore serve, import or migrate; if it is elsewhere, set DATABASE_URL'
    return [problem(`there is no database at ${path}`, advice)]
  }
  const exposure = describeExposedFiles(path)
  const findings = [
    exposure === undefined
      ? ok('only the owner can read the database')
      : problem(exposure.text, exposure.advice),
  ]
  if (!isWritable(path)) {
    const text = `${path} is not writable, so the service answers every update with 503`
    findings.push(problem(text, 'make the file writable by the service, then restart the service'))
  }
  return findings
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function checkContents(open: () => Promise<Store>, kind: DatabaseKind): Promise<Finding[]> {
  let store: Store
  try {
    store = await open()
  } catch (error) {
    // The program throws OpenRefused after it has connected.
    const isReachable = kind === 'sqlite' || error instanceof OpenRefused
    return [problem(failureText(error), isReachable ? undefined : 'try psql "$DATABASE_URL" on this machine')]
  }
  try {
    return [...(await checkIntegrity(store, kind)), ...(await checkReadiness(store))]
  } finally {
    await store.close()
  }
}

/** Damaged pages, missing rows, and figures that somebody edited by hand. */
async function checkIntegrity(store: Store, kind: DatabaseKind): Promise<Finding[]> {
  try {
    const damage = await store.findDamage()
    if (damage.length === 0) return [ok('the database is intact')]
    return damage.map((text) => problem(text, RESTORE_ADVICE[kind]))
  } catch (error) {
    return [problem(`the contents could not be checked: ${failureText(causeOf(error))}`)]
  }
}

/** The same check as /readyz. */
async function checkReadiness(store: Store): Promise<Finding[]> {
  try {
    await store.ping()
    return [ok('the database can be written')]
  } catch (error) {
    const advice = 'the service answers updates with 503 until this is fixed'
    return [problem(failureText(causeOf(error)), advice)]
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof ServiceError ? (error.cause ?? error) : error
}
