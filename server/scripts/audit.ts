/**
 * Fails if a dependency has a known vulnerability that is high or critical. `npm run check` runs this script. If the
 * registry cannot be reached, the script prints a notice and succeeds.
 */
import { fileURLToPath } from 'node:url'

/** The folders with a lock file of their own. */
const FOLDERS = ['.', 'bench'] as const
const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The fields of npm's report that this script uses. */
interface AuditReport {
  readonly message?: string
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> }
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string; readonly range: string }>>
}

export type AuditOutcome =
  | { readonly type: 'unreachable'; readonly reason: string }
  /** `severe` has a line for each package with a high or critical vulnerability, `lesser` the number of other packages. */
  | { readonly type: 'checked'; readonly severe: readonly string[]; readonly lesser: number }

/** Queries the registry for the packages of one lock file. Installs and changes nothing. */
export async function audit(folder: string, flags: readonly string[] = []): Promise<AuditOutcome> {
  const timeouts = ['--fetch-retries=0', '--fetch-timeout=20000']
  const npm = Bun.spawn(['npm', 'audit', '--json', '--package-lock-only', ...timeouts, ...flags], {
    cwd: folder,
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const report = parseReport(await new Response(npm.stdout).text())
  await npm.exited
  if (report?.metadata === undefined) {
    return { type: 'unreachable', reason: report?.message ?? 'npm printed no report' }
  }
  const found = Object.entries(report.vulnerabilities ?? {})
  const severe = found.filter(([, { severity }]) => severity === 'high' || severity === 'critical')
  return {
    type: 'checked',
    severe: severe.map(([name, { severity, range }]) => `${name} ${range}: ${severity}`),
    lesser: found.length - severe.length,
  }
}

function parseReport(text: string): AuditReport | undefined {
  try {
    return JSON.parse(text) as AuditReport
  } catch {
    return undefined
  }
}

if (import.meta.main) {
  const outcomes = await Promise.all(
    FOLDERS.map(async (folder) => [folder, await audit(ROOT + folder)] as const),
  )
  for (const [folder, outcome] of outcomes) {
    const subject = folder === '.' ? 'the dependencies' : `the dependencies of ${folder}/`
    if (outcome.type === 'unreachable') {
      console.log(`${subject} were NOT checked for known vulnerabilities: ${outcome.reason}`)
      continue
    }
    for (const line of outcome.severe) console.error(line)
    if (outcome.severe.length > 0) {
      console.error(`run "npm audit" in ${folder}; update or replace the packages that it names`)
      process.exitCode = 1
    } else
      console.log(`${subject} have no high or critical known vulnerability (${outcome.lesser} less severe)`)
  }
}
