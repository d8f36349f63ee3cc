import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { linkedFiles, writePackage } from '../../scripts/package.ts'

setDefaultTimeout(120_000)

const UNITS = 'etc/systemd/system'
const SETTINGS = 'etc/petstore/petstore.env'

let folder: string
let tarball: string
let installed: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-package-'))
  tarball = join(folder, 'tarball')
  installed = join(folder, 'root')
  // The size of the executable does not matter for the other files.
  writePackage(tarball, '/bin/true')
  install()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (command: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], {
    env: { PATH: Bun.env.PATH ?? '', LANG: 'C.UTF-8', ...env },
  })
  return { exitCode, output: `${stdout}${stderr}` }
}

function install(): void {
  expect(run([join(tarball, 'install.sh')], { DESTDIR: installed })).toEqual({ exitCode: 0, output: '' })
}

test('install.sh puts the program, its units and settings in place', () => {
  const mode = (path: string) => statSync(join(installed, path)).mode & 0o777
  expect(
    [SETTINGS, 'usr/bin/petstore', 'usr/lib/petstore/petstore', 'usr/sbin/petstore-admin'].map(mode),
  ).toEqual([0o640, 0o755, 0o755, 0o755])
  expect(readdirSync(join(installed, UNITS)).sort()).toEqual([
    'petstore-.service.d',
    'petstore-backup.service',
    'petstore-backup.timer',
    'petstore-prune.service',
    'petstore-prune.timer',
    'petstore.service',
    'petstore.service.d',
    'petstore.socket',
    'petstore@.service',
    'petstore@.service.d',
  ])
})

test('an upgrade keeps the settings', () => {
  writeFileSync(join(installed, SETTINGS), 'PORT=81\n')
  install()
  expect(readFileSync(join(installed, SETTINGS), 'utf8')).toBe('PORT=81\n')
})

test('the tarball contains every file that its documents link to', () => {
  const pages = readdirSync(tarball, { recursive: true, encoding: 'utf8' })
  expect(pages).toContain('docs/install.md')
  const missing = pages.flatMap((path) =>
    linkedFiles(path, tarball).filter((target) => !existsSync(join(tarball, target))),
  )
  expect(missing).toEqual([])
})

// Where systemd is installed but never booted, as in a container, `verify` cannot work.
test.skipIf(Bun.which('systemd-analyze') === null || !existsSync('/run/systemd'))(
  'systemd accepts the units and rates their exposure below 3',
  () => {
    // The trailing colon adds the units of the system.
    const environment = { SYSTEMD_COLORS: '0', SYSTEMD_UNIT_PATH: `${join(installed, UNITS)}:` }
    const services = [
      'petstore.service',
      'petstore@1.service',
      'petstore-backup.service',
      'petstore-prune.service',
    ]
    for (const unit of [...services, 'petstore.socket', 'petstore-backup.timer', 'petstore-prune.timer']) {
      const { output } = run(['systemd-analyze', 'verify', '--man=no', unit], environment)
      const problems = output.split('\n').filter((line) => line.includes('petstore'))
      // The program is not installed here.
      expect(problems.filter((line) => !line.includes('/usr/bin/petstore is not executable'))).toEqual([])
    }
    for (const unit of services) {
      const { exitCode, output } = run(
        ['systemd-analyze', 'security', '--offline=true', '--threshold=30', `--root=${installed}`, unit],
        { SYSTEMD_COLORS: '0' },
      )
      expect([exitCode, output]).toEqual([0, expect.stringContaining(`exposure level for ${unit}`)])
    }
  },
)
