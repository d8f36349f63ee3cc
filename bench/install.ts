import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { run } from './processes.ts'

const DEBIAN_TOOLS = ['wrk', 'nginx'] as const
const INSTALL_WITHIN_MS = 900_000
const NEEDED_TOOLS = ['taskset', 'setpriv', 'node', 'npm'] as const

type Say = (line: string) => void

/** Brings what the run needs. What it cannot bring, it names in one line. */
export async function installWhatIsMissing(say: Say): Promise<void> {
  await installTools(say)
  await installPackages(say)
}

/** The same without the peers. */
export async function installTools(say: Say): Promise<void> {
  if (process.platform !== 'linux') throw new Error('the benchmark needs Linux: it pins processes to cores')
  if (availableParallelism() < 2) throw new Error('the benchmark needs two cores: one serves, one sends')
  const lacking = NEEDED_TOOLS.filter((tool) => Bun.which(tool) === null)
  if (lacking.length > 0) throw new Error(`install ${lacking.join(', ')} (util-linux; Node.js 20 or later)`)
  const missing = DEBIAN_TOOLS.filter((tool) => Bun.which(tool) === null)
  if (missing.length === 0) return
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) {
    throw new Error(
      `install ${missing.join(' and ')}, such as with: sudo apt-get install ${missing.join(' ')}`,
    )
  }
  say(`installing ${missing.join(' and ')}`)
  const install = ['apt-get', 'install', '-y', '--no-install-recommends', ...missing]
  await run(install, import.meta.dir).catch(async () => {
    await run(['apt-get', 'update'], import.meta.dir)
    await run(install, import.meta.dir)
  })
  // Debian starts nginx as a service when it is installed; nobody asked for one.
  if (missing.includes('nginx') && existsSync('/run/systemd/system')) {
    await run(['systemctl', 'disable', '--now', 'nginx'], import.meta.dir)
  }
}

async function installPackages(say: Say): Promise<void> {
  if (packagesAreCurrent()) return
  say('installing the peers (better-sqlite3 is compiled where no ready one can be had: two minutes)')
  await run(['npm', 'ci', '--no-audit', '--no-fund'], import.meta.dir, INSTALL_WITHIN_MS)
}

/** npm leaves a copy of what it installed: the same packages in the same versions are enough. */
function packagesAreCurrent(): boolean {
  const installed = join(import.meta.dir, 'node_modules', '.package-lock.json')
  if (!existsSync(installed)) return false
  const wanted = versionsIn(join(import.meta.dir, 'package-lock.json'))
  const have = versionsIn(installed)
  return [...wanted].every(([path, version]) => path === '' || have.get(path) === version)
}

function versionsIn(lockFile: string): Map<string, string | undefined> {
  const lock = JSON.parse(readFileSync(lockFile, 'utf8')) as {
    packages: Record<string, { version?: string }>
  }
  return new Map(Object.entries(lock.packages).map(([path, { version }]) => [path, version]))
}
