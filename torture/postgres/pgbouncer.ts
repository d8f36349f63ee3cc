import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../server/test/support/free-port.ts'
import { until } from '../../server/test/support/until.ts'
import { GuardedProgram, makeOwnedFolder } from './guarded-program.ts'

/** Older versions do not keep prepared statements in transaction mode. */
const MIN_VERSION = [1, 21]
/** The Debian release that has one, for machines whose own release is older. */
const RELEASE = 'trixie'
/** PgBouncer and all libraries that it needs, so that it runs on an older release. */
const PACKAGES = [
  ...['pgbouncer', 'libc6', 'libcares2', 'libevent-2.1-7t64', 'libpam0g', 'libssl3t64', 'libsystemd0'],
  ...['libaudit1', 'libcap-ng0', 'libcap2', 'libzstd1', 'zlib1g', 'libgcc-s1'],
]
const DOCS = join(import.meta.dir, '../../docs/scaling.md')

/**
 * Downloads the packages from the mirror that this machine uses into a folder of its own and unpacks them; nothing is
 * installed, and root is not needed.
 */
const UNPACK = `
set -e
cd "$1"
mkdir -p state/lists/partial cache/archives/partial root
: >status
mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep '/debian/*$' | head -n 1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $2 main" >sources.list
shift 2
apt() {
  apt-get --quiet -o Dir::Etc::sourcelist="$PWD/sources.list" -o Dir::Etc::sourceparts=/dev/null \\
    -o Dir::State="$PWD/state" -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD/cache" \\
    -o APT::Sandbox::User= "$@"
}
apt update
apt download "$@"
for package in *.deb; do dpkg-deb --extract "$package" root; done
rm -rf state cache *.deb
`

/** The command that starts a PgBouncer with prepared statements in transaction mode, or why there is none. */
export async function findPgBouncer(): Promise<readonly string[] | string> {
  const installed = ['/usr/sbin/pgbouncer']
  if (existsSync(installed[0] ?? '') && isRecent(await versionOf(installed))) return installed
  const folder = join(tmpdir(), `petstore-pgbouncer-${RELEASE}`)
  const advice = `PgBouncer ${MIN_VERSION.join('.')} or later is not installed, and Debian ${RELEASE} cannot be reached`
  if (!existsSync(folder)) {
    if (Bun.which('apt-get') === null) return advice
    const fresh = mkdtempSync(`${folder}-`)
    const unpack = Bun.spawn(['sh', '-c', UNPACK, 'unpack', fresh, RELEASE, ...PACKAGES], {
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const [errors, exitCode] = await Promise.all([new Response(unpack.stderr).text(), unpack.exited])
    if (exitCode !== 0) {
      rmSync(fresh, { recursive: true, force: true })
      return `${advice}\n${errors}`
    }
    makeOwnedFolder(fresh)
    renameSync(fresh, folder)
  }
  const libraries = [...new Bun.Glob('root/usr/lib/*-linux-gnu').scanSync({ cwd: folder, onlyFiles: false })]
  const library = join(folder, libraries[0] ?? '')
  const loaders = [...new Bun.Glob('ld-linux-*.so.*').scanSync({ cwd: library, onlyFiles: false })]
  const command = [
    join(library, loaders[0] ?? ''),
    ...['--library-path', library],
    join(folder, 'root/usr/sbin/pgbouncer'),
  ]
  return isRecent(await versionOf(command)) ? command : advice
}

async function versionOf(command: readonly string[]): Promise<string> {
  const program = Bun.spawn([...command, '--version'], { stdout: 'pipe', stderr: 'ignore' })
  return await new Response(program.stdout).text()
}

function isRecent(text: string): boolean {
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(text) ?? []
  const [minMajor = 0, minMinor = 0] = MIN_VERSION
  return Number(major) > minMajor || (Number(major) === minMajor && Number(minor) >= minMinor)
}

/** PgBouncer in transaction mode before a PostgreSQL on loopback, with the settings that docs/scaling.md prints. */
export class PgBouncer {
  readonly url: string
  readonly #folder: string
  readonly #program: GuardedProgram

  static async start(command: readonly string[], postgresPort: number): Promise<PgBouncer> {
    const pgbouncer = new PgBouncer(command, postgresPort)
    await until(() =>
      Bun.connect({
        hostname: '127.0.0.1',
        port: Number(new URL(pgbouncer.url).port),
        socket: { data() {} },
      }).then(
        (socket) => {
          socket.end()
          return true
        },
        () => false,
      ),
    )
    return pgbouncer
  }

  private constructor(command: readonly string[], postgresPort: number) {
    const port = freePort()
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`
    this.#folder = mkdtempSync(join(tmpdir(), 'petstore-pgbouncer-'))
    mkdirSync(this.#folder, { recursive: true })
    const file = join(this.#folder, 'pgbouncer.ini')
    writeFileSync(
      file,
      [
        '[databases]',
        `* = host=127.0.0.1 port=${postgresPort} user=postgres`,
        '[pgbouncer]',
        'listen_addr = 127.0.0.1',
        `listen_port = ${port}`,
        'unix_socket_dir =',
        'auth_type = any',
        'pool_mode = transaction',
        'max_client_conn = 500',
        'default_pool_size = 20',
        printedBlock('ini').replace('; pgbouncer.ini\n', ''),
      ].join('\n'),
    )
    this.#program = new GuardedProgram(this.#folder, [...command, file], {})
  }

  async end(): Promise<void> {
    await this.#program.end()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** The role settings for PgBouncer printed in docs/scaling.md, as statements for this role. */
export function printedRoleSettings(role: string): string[] {
  return printedBlock('sql')
    .split('\n')
    .filter((line) => line.startsWith('ALTER ROLE'))
    .map((line) => line.replace('ROLE petstore', `ROLE ${role}`))
}

/** The block of this language in the PgBouncer part of docs/scaling.md. */
function printedBlock(language: 'ini' | 'sql'): string {
  const [, part = ''] = readFileSync(DOCS, 'utf8').split('**PgBouncer**')
  const printed = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(part)?.[1]
  if (printed === undefined) throw new Error(`docs/scaling.md prints no ${language} block for PgBouncer`)
  return printed
}
