import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { run } from './processes.ts'

const DEBIAN_TOOLS = ['wrk', 'nginx'] as const
const OTHER_TOOLS = ['taskset', 'setpriv', 'node', 'npm'] as const
const INSTALL_WITHIN_MS = 900_000

/** Installs wrk and nginx if it runs as root on Debian. */
export async function installTools(): Promise<void> {
  if (process.platform !== 'linux')
    throw new Error('the benchmark needs Linux, because it pins processes to cores')
  if (availableParallelism() < 2) throw new Error('the benchmark needs two cores, one for the load')
  const lacking = OTHER_TOOLS.filter((tool) => Bun.which(tool) === null)
  if (lacking.length > 0) throw new Error(`install ${lacking.join(', ')} (util-linux; Node.js 20 or later)`)
  const missing = DEBIAN_TOOLS.filter((tool) => Bun.which(tool) === null)
  if (missing.length === 0) return
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) {
    throw new Error(`install ${missing.join(' and ')}, e.g. sudo apt-get install ${missing.join(' ')}`)
  }
  console.error(`installing ${missing.join(' and ')}`)
  const install = ['apt-get', 'install', '-y', '--no-install-recommends', ...missing]
  await run(install, import.meta.dir).catch(async () => {
    await run(['apt-get', 'update'], import.meta.dir)
    await run(install, import.meta.dir)
  })
  // Debian starts nginx as a service.
  if (missing.includes('nginx') && existsSync('/run/systemd/system')) {
    await run(['systemctl', 'disable', '--now', 'nginx'], import.meta.dir)
  }
}

/** Installs the peers if their versions differ from the lock file. */
export async function installPeers(): Promise<void> {
  const installed = join(import.meta.dir, 'node_modules', '.package-lock.json')
  const wanted = versionsIn(join(import.meta.dir, 'package-lock.json'))
  const current = existsSync(installed) ? versionsIn(installed) : new Map()
  if ([...wanted].every(([path, version]) => path === '' || current.get(path) === version)) return
  console.error('installing the peers (two minutes if better-sqlite3 has to be compiled)')
  await run(['npm', 'ci', '--no-audit', '--no-fund'], import.meta.dir, INSTALL_WITHIN_MS)
}

function versionsIn(lockFile: string): Map<string, string | undefined> {
  const lock = JSON.parse(readFileSync(lockFile, 'utf8')) as {
    packages: Record<string, { version?: string }>
  }
  return new Map(Object.entries(lock.packages).map(([path, { version }]) => [path, version]))
}
