import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installationSteps, type Step } from '../../src/cli/commands/install-service.ts'
import { petstore } from './petstore.ts'
import { serve } from './running-petstore.ts'

const folder = mkdtempSync(join(tmpdir(), 'petstore-install-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const OPTIONS = {
  executable: '/root/petstore-1.0.0/petstore',
  host: '127.0.0.1',
  port: 8080,
  databaseUrl: 'sqlite:/var/lib/petstore/petstore.db',
  hasUser: false,
  hasSystemd: true,
  movesSocket: false,
  shellFiles: [],
}

const commandsOf = (steps: readonly Step[]) =>
  steps.flatMap((step) => (step.type === 'run' ? [step.command.join(' ')] : []))

const textOf = (steps: readonly Step[], path: string) =>
  steps.flatMap((step) => (step.type === 'write' && step.path.endsWith(path) ? [step.text] : [])).join()

test('install-service --dry-run shows every file and command but no password, and changes nothing', async () => {
  const { exitCode, stdout, stderr } = await petstore(['install-service', '--dry-run', '--port', '8085'], {
    env: { DATABASE_URL: 'postgres://shop:secret@db.example/petstore?sslmode=require&x=1' },
  })
  expect([exitCode, stderr]).toEqual([0, ''])
  for (const line of [
    'write  /etc/petstore/petstore.env (0640), unless it exists',
    "    DATABASE_URL='postgres:***@db.example/petstore?sslmode=require&x=1'",
    'write  /usr/local/sbin/petstore-admin (0755)',
    '    ListenStream=127.0.0.1:8085',
    '    ExecStart=/usr/local/bin/petstore serve',
    'write  /usr/local/share/man/man1/petstore.1 (0644)',
  ]) {
    expect(stdout).toContain(line)
  }
  expect(existsSync('/etc/systemd/system/petstore.service')).toBe(false)
})

test('it asks first, and configures the absolute path of the database', async () => {
  const unasked = await petstore(['install-service'])
  expect([unasked.exitCode, unasked.stderr]).toEqual([
    2,
    'petstore: there is no terminal to ask for confirmation; --yes installs without asking\n',
  ])
  const named = (database: string) => petstore(['install-service', '--dry-run', '--database-url', database])
  expect((await named('sqlite:data/shop.db')).stdout).toMatch(/DATABASE_URL='sqlite:\/.*\/data\/shop\.db'/)
  const quoted = await named("sqlite:/srv/the shop's.db")
  expect([quoted.exitCode, quoted.stderr]).toEqual([1, expect.stringContaining("must not contain '")])
})

test('existing files are kept or moved, and nothing is started without systemd', () => {
  expect(commandsOf(installationSteps(OPTIONS))[0]).toMatch(/^useradd --system .* petstore$/)
  expect(commandsOf(installationSteps({ ...OPTIONS, hasUser: true, hasSystemd: false }))).toEqual([
    'install -d -o petstore -g petstore -m 700 /var/lib/petstore',
    'chgrp petstore /etc/petstore/petstore.env',
  ])
  expect(commandsOf(installationSteps({ ...OPTIONS, hasUser: true, movesSocket: true })).slice(-4)).toEqual([
    'systemctl daemon-reload',
    'systemctl stop petstore.socket petstore.service',
    'systemctl enable petstore.socket petstore.service',
    'systemctl restart petstore.service',
  ])
  const upgrade = installationSteps({ ...OPTIONS, executable: '/usr/local/bin/petstore' })
  expect(upgrade.some((step) => step.type === 'copy')).toBe(false)
  expect(textOf(installationSteps({ ...OPTIONS, host: '::' }), '.socket')).toContain(
    'ListenStream=[::]:8080\n',
  )
})

test.skipIf(Bun.which('systemd-analyze') === null)(
  'systemd rates the exposure of the unit below 3.0',
  async () => {
    for (const step of installationSteps(OPTIONS))
      if (step.type === 'write') await Bun.write(folder + step.path, step.text)
    const { exitCode, stdout } = Bun.spawnSync(
      [
        'systemd-analyze',
        'security',
        '--offline=true',
        '--threshold=30',
        `--root=${folder}`,
        'petstore.service',
      ],
      { env: { LANG: 'C.UTF-8', SYSTEMD_COLORS: '0' } },
    )
    expect([
      exitCode,
      Number(/exposure level for petstore.service: ([\d.]+)/.exec(stdout.toString())?.[1]),
    ]).toEqual([0, expect.any(Number)])
  },
)

test('petstore health reports whether the service is ready, and can wait for it', async () => {
  const { address, stop } = await serve(['--demo'], { cwd: folder })
  const { port } = new URL(address)
  expect(await petstore(['health', '--port', port])).toEqual({ exitCode: 0, stdout: 'ready\n', stderr: '' })
  await stop()
  const { exitCode, stderr } = await petstore(['health', '--port', port])
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(`petstore: not ready: ${address} does not answer`),
  ])
  const waiting = petstore(['health', '--port', port, '--wait', '60'])
  const again = await serve(['--demo', '--port', port], { cwd: folder })
  expect((await waiting).stdout).toBe('ready\n')
  await again.stop()
})

test('the example pets can be imported', async () => {
  const file = join(import.meta.dir, '../../../examples/pets.csv')
  const { exitCode, stdout } = await petstore(['import', file], { cwd: folder })
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('17 pets added, 0 changed')])
})
