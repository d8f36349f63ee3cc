/**
 * Runs all checks and tests: `npm test`. The checks run in parallel with the tests. All tests share one executable. Their
 * temporary files are in memory if there is enough of it. The slowest tests of the last run start first.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { missingPackage } from '../../wire/test/debian-package.ts'
import { memoryFolder } from '../test/support/memory-folder.ts'
import { missingDebianPostgres } from '../test/support/postgres-server.ts'
import { browserTests, skippedTestsMessage } from './browser-tests.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TIMINGS_FOLDER = join(ROOT, 'node_modules/.cache/petstore')
/** The test runner cannot end a test that blocks the event loop. An interrupt makes the runner print the name of the test. */
const MAX_PASS_MS = 35 * 60_000

async function succeeds(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const program = Bun.spawn([process.execPath, ...command], {
    cwd: ROOT,
    env: { ...Bun.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: MAX_PASS_MS,
    killSignal: 'SIGINT',
  })
  const exitCode = await program.exited
  if (program.signalCode === 'SIGINT') console.error(`${command.join(' ')}: not finished within 35 minutes`)
  return exitCode === 0
}

/** Builds with the command of `npm run build`. Returns `undefined` if the folder does not allow execution. */
async function buildExecutable(folder: string): Promise<string | undefined> {
  const executable = join(folder, 'petstore')
  if (!(await succeeds(['server/scripts/build.ts', executable])))
    throw new Error('building the executable failed')
  const { success } = Bun.spawnSync(['/bin/sh', '-c', '"$0" --version', executable])
  return success ? executable : undefined
}

async function runTests(
  store: 'all' | 'postgres',
  env: Readonly<Record<string, string>>,
  skippedFiles: readonly string[] = [],
): Promise<boolean> {
  const timings = `--timings=${join(TIMINGS_FOLDER, `test-${store}.json`)}`
  const ignored = skippedFiles.map((path) => `--path-ignore-patterns=${path}`)
  return succeeds(['run', '--silent', `test:${store}`, timings, '--update-timings', ...ignored], env)
}

/**
 * The second pass runs on Debian's PostgreSQL 15, which is closer to most installations. The first pass has run the tests of
 * the store on version 18.
 */
async function chooseSecondPostgres(): Promise<Readonly<Record<string, string>>> {
  if ((Bun.env.TEST_POSTGRES_URL ?? '') !== '' || (Bun.env.TEST_POSTGRES_RELEASE ?? '') !== '') return {}
  const missing = await missingDebianPostgres()
  if (missing === undefined) return { TEST_POSTGRES_RELEASE: 'debian-15' }
  console.error(`the tests run only on PostgreSQL 18 from npm, not on Debian's PostgreSQL 15: ${missing}`)
  return {}
}

/** Finds the test files that this machine cannot run. */
async function findSkippedFiles(): Promise<readonly string[]> {
  const missing = await missingPackage('chromium')
  if (missing === undefined) return []
  const files = await browserTests(ROOT)
  console.error(skippedTestsMessage(files, missing, (Bun.env.CI ?? '') !== ''))
  return files
}

const parent = memoryFolder()
const folder = mkdtempSync(join(parent, 'petstore-tests-'))
try {
  // Some tests start the executable as another user.
  chmodSync(folder, 0o755)
  mkdirSync(TIMINGS_FOLDER, { recursive: true })
  const skippedFiles = await findSkippedFiles()
  if (!(await succeeds(['web/build.ts']))) throw new Error('building the pages failed')
  const checks = succeeds(['run', '--silent', 'check'])
  const executable = await buildExecutable(folder)
  const env = executable === undefined ? {} : { TEST_PETSTORE: executable, TMPDIR: parent }
  const secondEnv = { ...env, ...(await chooseSecondPostgres()) }
  const results = [
    await runTests('all', env, skippedFiles),
    await runTests('postgres', secondEnv),
    await checks,
  ]
  if (results.includes(false)) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
