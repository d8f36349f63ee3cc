/** Runs all checks in parallel: `npm run check`. Prints the output of failed checks, and one line at the end. */
import { fileURLToPath } from 'node:url'
import packageJson from '../../package.json'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const checks = Object.keys(packageJson.scripts)
  .filter((name) => name.startsWith('check:') && name !== 'check:generators')
  .map((name) => name.slice('check:'.length))

async function run(check: string): Promise<{ readonly check: string; readonly isPassed: boolean }> {
  const program = Bun.spawn([process.execPath, 'run', '--silent', `check:${check}`], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors, exitCode] = await Promise.all([
    new Response(program.stdout).text(),
    new Response(program.stderr).text(),
    program.exited,
  ])
  if (exitCode !== 0) console.error(`check:${check} failed\n${output}${errors}`)
  return { check, isPassed: exitCode === 0 }
}

const startedAt = performance.now()
// The other checks need the built pages.
const { isPassed: isBuilt } = await run('web')
const results = isBuilt ? await Promise.all(checks.filter((check) => check !== 'web').map(run)) : []
const failed = results.filter(({ isPassed }) => !isPassed).map(({ check }) => check)
const seconds = Math.round((performance.now() - startedAt) / 1_000)
if (!isBuilt) failed.push('web')
console.log(
  failed.length === 0
    ? `check: ${checks.join(', ')} passed in ${seconds} s`
    : `check: ${failed.join(', ')} failed after ${seconds} s`,
)
if (failed.length > 0) process.exitCode = 1
