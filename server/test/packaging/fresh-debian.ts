/** Run by `npm run test:package`: takes minutes and needs root, mmdebstrap, dpkg-deb and the network. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildDebianPackage, run, writeDebianFolder } from '../../scripts/package-files.ts'
import { VERSION } from '../../src/core/values/version.ts'
import { unitCommands } from '../cli/printed-commands.ts'
import { freePort } from '../support/free-port.ts'
import { type Instruction, readStages, readVariables } from './dockerfile.ts'

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url))
const NEXT_VERSION = `${VERSION}+next`
const BOOTSTRAP = [
  'mmdebstrap',
  '--mode=root',
  '--variant=minbase',
  '--include=ca-certificates,busybox-static,systemd,systemd-sysv,dbus',
  'bookworm',
]

/** The certificates that npm needs on this machine, if it is behind a proxy. */
const EXTRA_CERTIFICATES = Bun.env.NODE_EXTRA_CA_CERTS
const CERTIFICATES = '/etc/extra-certificates.crt'

const missing = findMissing()
if (missing !== undefined) console.error(`skipped: ${missing}`)

function findMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'a fresh Debian needs root'
  for (const program of ['mmdebstrap', 'dpkg-deb', 'chroot']) {
    if (Bun.which(program) === null) return `${program} is not installed`
  }
  return undefined
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-debian-'))
  if (missing === undefined) run([...BOOTSTRAP, join(folder, 'debian.tar')])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface RunOptions {
  readonly user?: string
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

const COMMANDS_UNIT = `
[Unit]
After=petstore.service
[Service]
ExecStart=/bin/sh /root/commands.sh
[Install]
WantedBy=multi-user.target
`

/** A new Debian 12 in a folder, without a running systemd. */
class DebianRoot {
  readonly path: string

  constructor(name: string) {
    this.path = join(folder, name)
    mkdirSync(this.path)
    run([
      'tar',
      '--extract',
      '--numeric-owner',
      '--file',
      join(folder, 'debian.tar'),
      '--directory',
      this.path,
    ])
    // Programs need /proc, and apt and npm need the names of servers.
    run(['mount', '--bind', '/proc', join(this.path, 'proc')])
    run(['cp', '/etc/resolv.conf', join(this.path, 'etc/resolv.conf')])
    if (EXTRA_CERTIFICATES !== undefined) run(['cp', EXTRA_CERTIFICATES, join(this.path, CERTIFICATES)])
  }

  command(command: string, { user = 'root', cwd = '/', env = {} }: RunOptions = {}) {
    return {
      cmd: ['chroot', `--userspec=${user}`, this.path, '/bin/sh', '-e', '-c', `cd '${cwd}'; ${command}`],
      env: {
        PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        LANG: 'C.UTF-8',
        DEBIAN_FRONTEND: 'noninteractive',
        ...(EXTRA_CERTIFICATES === undefined ? {} : { NODE_EXTRA_CA_CERTS: CERTIFICATES }),
        ...env,
      },
    }
  }

  /** Returns the output of a command that must succeed. */
  must(text: string, options?: RunOptions): string {
    const { exitCode, stdout, stderr } = Bun.spawnSync({ ...this.command(text, options), stdin: 'ignore' })
    if (exitCode !== 0) throw new Error(`${text} failed with ${exitCode}: ${stdout}${stderr}`)
    return stdout.toString()
  }

  withoutProc(work: () => void): void {
    run(['umount', join(this.path, 'proc')])
    try {
      work()
    } finally {
      run(['mount', '--bind', '/proc', join(this.path, 'proc')])
    }
  }

  /** Boots systemd, which runs the commands once it is up, and returns their output. */
  boot(commands: string): string {
    const script = `exec > /root/output 2>&1\n${commands}\nsystemctl poweroff\n`
    writeFileSync(join(this.path, 'root/commands.sh'), script)
    writeFileSync(join(this.path, 'etc/systemd/system/commands.service'), COMMANDS_UNIT)
    this.must('systemctl enable commands.service')
    this.withoutProc(() => {
      run([
        'systemd-nspawn',
        '--quiet',
        '--keep-unit',
        '--register=no',
        '--private-network',
        '-D',
        this.path,
        '--boot',
      ])
    })
    this.must('systemctl disable commands.service && rm /etc/systemd/system/commands.service')
    return readFileSync(join(this.path, 'root/output'), 'utf8')
  }

  remove(): void {
    run(['umount', join(this.path, 'proc')])
    rmSync(this.path, { recursive: true, force: true })
  }
}

describe.skipIf(missing !== undefined)('the Debian package in a fresh Debian', () => {
  let debian: DebianRoot
  beforeAll(() => {
    run(['npm', 'run', '--silent', 'build:executable'], REPOSITORY)
    for (const version of [VERSION, NEXT_VERSION]) {
      const tree = join(folder, `tree-${version}`)
      writeDebianFolder(tree, join(REPOSITORY, 'dist/petstore'), version)
      buildDebianPackage(tree, folder, version)
      rmSync(tree, { recursive: true, force: true })
    }
    debian = new DebianRoot('package-root')
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.deb'))) {
      run(['cp', join(folder, name), join(debian.path, 'root')])
    }
  })
  afterAll(() => debian.remove())

  const install = (version: string) =>
    debian.must(
      `apt-get install --yes --no-install-recommends /root/petstore_${version.replace('+', '?')}_*.deb`,
    )

  /** Runs a service of the package as systemd would: as its user, with its settings. */
  const asService = (commands: string) => {
    const quoted = commands.replaceAll("'", `'\\''`)
    return debian.must(
      `set -a; . /etc/petstore/petstore.env; set +a; runuser -u petstore -- /bin/sh -e -c '${quoted}'`,
    )
  }

  test.skipIf(Bun.which('lintian') === null)('has no lintian error or warning', () => {
    const [name = ''] = readdirSync(folder).filter((each) => each.includes(`_${VERSION}_`))
    expect(run(['lintian', '--allow-root', '--fail-on=error,warning', join(folder, name)])).toBe('')
  })

  test('installs, with a user, its folders and the settings', () => {
    install(VERSION)
    expect(debian.must('petstore --version')).toStartWith(VERSION)
    expect(debian.must('getent passwd petstore')).toContain(':/var/lib/petstore:/usr/sbin/nologin')
    expect(debian.must('stat --format "%U %G %a" /var/lib/petstore /var/backups/petstore')).toBe(
      'petstore petstore 700\npetstore petstore 700\n',
    )
    expect(debian.must('stat --format "%U %a" /etc/petstore/petstore.env')).toBe('root 640\n')
    const enabled = debian.must('find /etc/systemd/system -name "petstore*"')
    expect(enabled).toContain('petstore.service')
    expect(enabled).toContain('petstore.socket')
    expect(enabled).not.toContain('timer')
  })

  test.skipIf(Bun.which('systemd-nspawn') === null)(
    'runs under systemd, and its timers can be enabled',
    () => {
      const output = debian.boot(`
      systemctl is-active petstore.service petstore.socket
      petstore health
      systemctl start petstore-backup.service petstore-prune.service
      systemctl is-failed petstore-backup.service petstore-prune.service
      systemctl is-enabled petstore-backup.timer petstore-prune.timer
      systemctl enable --now petstore-backup.timer petstore-prune.timer
      systemctl is-active petstore-backup.timer petstore-prune.timer
      systemctl restart petstore.service && petstore health
      systemctl show petstore.service --property=User --property=ProtectSystem
      systemctl disable --now petstore-backup.timer petstore-prune.timer`)
      expect(output.replaceAll(/^Created symlink.*\n|^Removed .*\n/gm, '')).toBe(
        [
          ...[
            'active',
            'active',
            'ready',
            'inactive',
            'inactive',
            'disabled',
            'disabled',
            'active',
            'active',
          ],
          ...['ready', 'User=petstore', 'ProtectSystem=strict', ''],
        ].join('\n'),
      )
      expect(readdirSync(join(debian.path, 'var/backups/petstore'))).toHaveLength(1)
      debian.must('rm /var/backups/petstore/*')
    },
  )

  test('says what it needs instead of crashing: /proc and glibc', () => {
    const start = (root: string) => {
      const { exitCode, stderr } = Bun.spawnSync([
        'chroot',
        root,
        '/bin/sh',
        '/usr/bin/petstore',
        '--version',
      ])
      return [exitCode, stderr.toString()]
    }
    debian.withoutProc(() => {
      expect(start(debian.path)).toEqual([1, expect.stringContaining('/proc is missing')])
    })
    // A system without glibc: a static shell only.
    const other = join(debian.path, 'other')
    debian.must('mkdir -p /other/bin /other/proc /other/usr/bin && cp /usr/bin/petstore /other/usr/bin')
    debian.must('for name in sh uname; do cp /bin/busybox /other/bin/$name; done')
    run(['mount', '--bind', '/proc', join(other, 'proc')])
    try {
      expect(start(other)).toEqual([1, expect.stringContaining('this system has no glibc')])
    } finally {
      run(['umount', join(other, 'proc')])
    }
  })

  test('serves as its user, and petstore-admin imports and creates a key', async () => {
    expect(debian.must('petstore-admin import - < /usr/share/doc/petstore/examples/pets.csv')).toContain(
      '17 pets added',
    )
    const key = debian
      .must('petstore-admin keys create --name "Owner" --owner --plan business 2> /dev/null')
      .trim()
    const port = freePort()
    asService(`petstore serve --port ${port} --metrics-port off > /tmp/log 2>&1 & echo $! > /tmp/pid`)
    debian.must(`petstore health --port ${port} --wait 60`)
    const response = await fetch(`http://127.0.0.1:${port}/v1/inventory`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(response.status).toBe(200)
    debian.must('kill $(cat /tmp/pid); while kill -0 $(cat /tmp/pid) 2> /dev/null; do sleep 0.1; done')
  })

  test('the jobs of the timers work as the user of the service', () => {
    asService(unitCommands('petstore-backup.service'))
    const [backup = ''] = readdirSync(join(debian.path, 'var/backups/petstore'))
    expect(backup).toMatch(/^petstore-\d{8}T\d{6}Z\.db$/)
    asService(unitCommands('petstore-prune.service'))
    debian.must(`petstore-admin restore - < /var/backups/petstore/${backup}`)
    expect(debian.must('petstore-admin doctor')).toContain('the database is intact')
  })

  test('an upgrade keeps changed settings and the data', () => {
    debian.must('echo STOP_GRACE_SECONDS=9 >> /etc/petstore/petstore.env')
    install(NEXT_VERSION)
    expect(debian.must('dpkg-query --show petstore').trim()).toBe(`petstore\t${NEXT_VERSION}`)
    expect(readFileSync(join(debian.path, 'etc/petstore/petstore.env'), 'utf8')).toContain(
      'STOP_GRACE_SECONDS=9',
    )
    expect(debian.must('petstore-admin export | wc --lines').trim()).toBe('18')
  })

  test('removing and purging it leaves the data', () => {
    debian.must('apt-get remove --yes petstore')
    expect(existsSync(join(debian.path, 'usr/bin/petstore'))).toBe(false)
    expect(existsSync(join(debian.path, 'etc/petstore/petstore.env'))).toBe(true)
    debian.must('apt-get purge --yes petstore')
    expect(existsSync(join(debian.path, 'etc/petstore'))).toBe(false)
    expect(debian.must('find /etc/systemd/system -name "petstore*"')).toBe('')
    expect(statSync(join(debian.path, 'var/lib/petstore/petstore.db')).size).toBeGreaterThan(0)
  })
})

/** Runs the instructions of a stage that build an image. The stages before it are given by name. */
function buildStage(
  root: DebianRoot,
  [, ...instructions]: readonly Instruction[],
  stages: ReadonlyMap<string, DebianRoot>,
): {
  readonly cwd: string
  readonly user: string
  readonly env: Record<string, string>
  readonly command: string[]
} {
  const image = { cwd: '/', user: 'root', env: {} as Record<string, string>, command: [] as string[] }
  for (const { name, args } of instructions) {
    switch (name) {
      case 'ARG':
      case 'VOLUME':
      case 'EXPOSE':
      case 'HEALTHCHECK':
        break
      case 'WORKDIR':
        image.cwd = args
        root.must(`mkdir -p '${args}'`)
        break
      case 'COPY':
        copyIntoImage(root, args, image.cwd, stages)
        break
      case 'RUN':
        root.must(args, image)
        break
      case 'ENV':
        Object.assign(image.env, readVariables(args))
        break
      case 'USER':
        image.user = args
        break
      case 'ENTRYPOINT':
      case 'CMD':
        image.command.push(...JSON.parse(args))
        break
      default:
        throw new Error(`the test does not know the instruction ${name} of the Dockerfile`)
    }
  }
  return image
}

function copyIntoImage(
  root: DebianRoot,
  args: string,
  cwd: string,
  stages: ReadonlyMap<string, DebianRoot>,
): void {
  const [, stage, source = '', target = ''] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(args) ?? []
  if (stage !== undefined) {
    const from = stages.get(stage)
    if (from === undefined) throw new Error(`the Dockerfile copies from the unknown stage ${stage}`)
    cpSync(join(from.path, source), join(root.path, target))
    return
  }
  if (source !== '.' || target !== '.') throw new Error(`the test does not know COPY ${args}`)
  const ignored = readFileSync(join(REPOSITORY, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((pattern) => `--exclude=${pattern.startsWith('**/') ? pattern.slice(3) : `./${pattern}`}`)
  const archive = join(folder, 'context.tar')
  run(
    [
      'tar',
      '--create',
      '--file',
      archive,
      '--anchored',
      ...ignored.filter((each) => each.includes('./')),
      '--no-anchored',
      ...ignored.filter((each) => !each.includes('./')),
      '.',
    ],
    REPOSITORY,
  )
  run(['tar', '--extract', '--file', archive, '--directory', join(root.path, cwd)])
}

/** The program of the build image, which the fresh Debian does not have. */
function installNode(root: DebianRoot): void {
  const node = run(['node', '--print', 'process.execPath']).trim()
  const npm = run(['sh', '-c', 'readlink -f "$(command -v npm)"'])
    .trim()
    .replace(/\/bin\/npm-cli\.js$/, '')
  cpSync(node, join(root.path, 'usr/local/bin/node'))
  cpSync(npm, join(root.path, 'usr/local/lib/node_modules/npm'), { recursive: true })
  root.must('ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm')
}

const engine = ['docker', 'podman'].find((name) => Bun.spawnSync(['sh', '-c', `${name} info`]).success)
if (engine === undefined)
  console.error('skipped: the image is not built, because neither docker nor podman runs here')
const hasNoNode = Bun.which('node') === null || Bun.which('npm') === null

test.skipIf(engine === undefined)('the image can be built and run', () => {
  run([engine ?? '', 'build', '--file', 'deploy/Dockerfile', '--tag', 'petstore-test', '.'], REPOSITORY)
  expect(run([engine ?? '', 'run', '--rm', 'petstore-test', '--version'])).toStartWith(VERSION)
})

test.skipIf(missing !== undefined || hasNoNode)(
  'the steps of the Dockerfile work in a fresh Debian',
  async () => {
    const [buildSteps = [], imageSteps = []] = readStages(
      readFileSync(join(REPOSITORY, 'deploy/Dockerfile'), 'utf8'),
    )
    const build = new DebianRoot('build')
    const image = new DebianRoot('image')
    try {
      installNode(build)
      buildStage(build, buildSteps, new Map())
      const { command, ...options } = buildStage(image, imageSteps, new Map([['build', build]]))
      expect(command).toEqual(['petstore', 'serve'])
      const env = { ...options.env, PORT: String(freePort()), METRICS_PORT: 'off' }
      const service = Bun.spawn({
        ...image.command(`exec ${command.join(' ')}`, { ...options, env }),
        stdout: 'ignore',
        stderr: 'pipe',
      })
      try {
        image.must('petstore health --wait 60', { ...options, env })
        expect(image.must('stat --format %U /data/petstore.db')).toBe('petstore\n')
      } finally {
        service.kill()
        await service.exited
      }
    } finally {
      build.remove()
      image.remove()
    }
  },
)
