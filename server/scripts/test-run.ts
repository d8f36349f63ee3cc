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
import { TestOutput } from './test-output.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TIMINGS_FOLDER = join(ROOT, 'node_modules/.cache/petstore')
/** The test runner cannot end a test that blocks the event loop. An interrupt makes the runner print the name of the test. */
const MAX_PASS_MS = 35 * 60_000
const PROGRESS_MS = 30_000

interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly onLine: (line: string) => void
}

/** Runs a Bun program and returns its exit code. */
async function run(command: readonly string[], { env, onLine }: ProgramOptions): Promise<number> {
  const program = Bun.spawn([process.execPath, ...command], {
    cwd: ROOT,
    env: { ...Bun.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: MAX_PASS_MS,
    killSignal: 'SIGINT',
  })
  const readLines = async (stream: ReadableStream<Uint8Array>) => {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) onLine(line)
    }
    if (rest !== '') onLine(rest)
  }
  await Promise.all([readLines(program.stdout), readLines(program.stderr)])
  const exitCode = await program.exited
  if (program.signalCode === 'SIGINT') console.error(`${command.join(' ')}: not finished within 35 minutes`)
  return exitCode
}

/** Prints the output of the program only if it fails. */
async function build(what: string, command: readonly string[]): Promise<void> {
  const lines: string[] = []
  const exitCode = await run(command, { onLine: (line) => lines.push(line) })
  if (exitCode !== 0) throw new Error(`building ${what} failed:\n${lines.join('\n')}`)
}

/** Builds with the command of `npm run build`. Returns `undefined` if the folder does not allow execution. */
async function buildExecutable(folder: string): Promise<string | undefined> {
  const executable = join(folder, 'petstore')
  await build('the executable', ['server/scripts/build.ts', executable])
  const { success } = Bun.spawnSync(['/bin/sh', '-c', '"$0" --version', executable])
  return success ? executable : undefined
}

interface Pass {
  /** The name of the script `test:…` in package.json. */
  readonly script: 'all' | 'postgres'
  readonly title: string
  readonly env: Readonly<Record<string, string>>
  readonly skippedFiles?: readonly string[]
}

/** Prints the number of passed tests every half a minute, each failure at once, and one line at the end. */
async function runTests({ script, title, env, skippedFiles = [] }: Pass): Promise<boolean> {
  const timings = `--timings=${join(TIMINGS_FOLDER, `test-${script}.json`)}`
  const ignored = skippedFiles.map((path) => `--path-ignore-patterns=${path}`)
  const output = new TestOutput()
  const startedAt = performance.now()
  const summary = () => {
    const counts = [`${output.passed.toLocaleString('en')} passed`]
    if (output.failed > 0) counts.push(`${output.failed} failed`)
    if (output.skipped > 0) counts.push(`${output.skipped} skipped`)
    return `${counts.join(', ')} in ${Math.round((performance.now() - startedAt) / 1_000)} s`
  }
  const progress = setInterval(() => console.log(`${title}: ${summary()} so far`), PROGRESS_MS)
  const exitCode = await run(['run', '--silent', `test:${script}`, timings, '--update-timings', ...ignored], {
    env,
    onLine: (line) => {
      if (output.add(line)) console.error(line)
    },
  })
  clearInterval(progress)
  if (exitCode !== 0) console.error(output.failureText)
  console.log(`${title}: ${summary()}`)
  return exitCode === 0
}

/**
 * Runs only in the second pass, because it takes long, and because an older PostgreSQL may lack what a newer one has. The tests
 * of plans run in both passes: each version plans in its own way.
 */
const SUITES_ON_POSTGRES = 'server/test/store/postgres.test.ts'

/** The second pass runs on Debian's PostgreSQL 15, which is closer to most installations. The first pass uses version 18. */
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
  const skippedFiles = [SUITES_ON_POSTGRES, ...(await findSkippedFiles())]
  await build('the pages', ['web/build.ts'])
  const checks = run(['run', '--silent', 'check'], { onLine: (line) => console.log(line) })
  const executable = await buildExecutable(folder)
  const env = executable === undefined ? {} : { TEST_PETSTORE: executable, TMPDIR: parent }
  const secondEnv = { ...env, ...(await chooseSecondPostgres()) }
  const results = [
    await runTests({ script: 'all', title: 'tests', env, skippedFiles }),
    await runTests({ script: 'postgres', title: 'tests on PostgreSQL', env: secondEnv }),
    (await checks) === 0,
  ]
  if (results.includes(false)) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
