/**
 * Fails when a dependency has a known vulnerability that is high or critical. `npm run check` runs it. Where the
 * registry does not answer, such as without a network, it says so and goes on: that tells nothing about our code.
 */
import { fileURLToPath } from 'node:url'

/** Each folder with a lock file of its own. */
const FOLDERS = ['.', 'bench'] as const
const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** As much of npm's report as is looked at. */
interface AuditReport {
  readonly message?: string
  readonly metadata?: { readonly vulnerabilities: Readonly<Record<string, number>> }
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string; readonly range: string }>>
}

export type AuditOutcome =
  | { readonly unreachable: string }
  /** One line for each package that is high or critical. */
  | { readonly grave: readonly string[]; readonly lesser: number }

/** Asks the registry about the packages of one lock file; nothing is installed or changed. */
export async function audit(folder: string, flags: readonly string[] = []): Promise<AuditOutcome> {
  const patience = ['--fetch-retries=0', '--fetch-timeout=20000']
  const npm = Bun.spawn(['npm', 'audit', '--json', '--package-lock-only', ...patience, ...flags], {
    cwd: folder,
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const report = parsed(await new Response(npm.stdout).text())
  await npm.exited
  if (report?.metadata === undefined) return { unreachable: report?.message ?? 'npm gave no report' }
  const found = Object.entries(report.vulnerabilities ?? {})
  const grave = found.filter(([, { severity }]) => severity === 'high' || severity === 'critical')
  return {
    grave: grave.map(([name, { severity, range }]) => `${name} ${range}: ${severity}`),
    lesser: found.length - grave.length,
  }
}

function parsed(text: string): AuditReport | undefined {
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
    const of = folder === '.' ? 'the dependencies' : `the dependencies of ${folder}/`
    if ('unreachable' in outcome) {
      console.log(`${of} were NOT checked for known vulnerabilities: ${outcome.unreachable}`)
      continue
    }
    for (const line of outcome.grave) console.error(line)
    if (outcome.grave.length > 0) {
      console.error(`see "npm audit" in ${folder}; update what it names, or replace it`)
      process.exitCode = 1
    } else
      console.log(`${of} have no known vulnerability that is high or critical (${outcome.lesser} lesser)`)
  }
}
