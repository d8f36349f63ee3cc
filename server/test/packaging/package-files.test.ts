import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  buildDebianPackage,
  linkedFiles,
  listFiles,
  writeDebianFolder,
  writeTarballFolder,
} from '../../scripts/package-files.ts'
import { VERSION } from '../../src/core/values/version.ts'

setDefaultTimeout(120_000)

/** The size of the executable does not matter for the other files, and a small one is packed faster. */
const EXECUTABLE = '/bin/true'
const UNITS = 'usr/lib/systemd/system'

let folder: string
let debian: string
let tarball: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-package-'))
  debian = join(folder, 'debian')
  tarball = join(folder, 'tarball')
  writeDebianFolder(debian, EXECUTABLE)
  writeTarballFolder(tarball, EXECUTABLE)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (command: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], {
    env: { PATH: Bun.env.PATH ?? '', LANG: 'C.UTF-8', ...env },
  })
  return { exitCode, output: `${stdout}${stderr}` }
}

const isMissing = (program: string) => Bun.which(program) === null

test('the Debian package has the program, its units, settings, manual pages and completions', () => {
  const files = listFiles(debian)
  for (const path of [
    'etc/petstore/petstore.env',
    'usr/bin/petstore',
    'usr/lib/petstore/petstore',
    `${UNITS}/petstore.service`,
    `${UNITS}/petstore.socket`,
    `${UNITS}/petstore-backup.timer`,
    `${UNITS}/petstore-prune.timer`,
    'usr/sbin/petstore-admin',
    'usr/share/bash-completion/completions/petstore',
    'usr/share/fish/vendor_completions.d/petstore.fish',
    'usr/share/man/man1/petstore.1.gz',
    'usr/share/zsh/vendor-completions/_petstore',
    'usr/share/doc/petstore/examples/pets.csv',
  ]) {
    expect(files).toContain(path)
  }
  const mode = (path: string) => statSync(join(debian, path)).mode & 0o777
  expect([mode('etc/petstore/petstore.env'), mode('usr/bin/petstore'), mode('DEBIAN/postinst')]).toEqual([
    0o640, 0o755, 0o755,
  ])
  expect(readFileSync(join(debian, 'DEBIAN/conffiles'), 'utf8')).toBe('/etc/petstore/petstore.env\n')
  expect(readFileSync(join(debian, 'DEBIAN/control'), 'utf8')).toContain(`\nVersion: ${VERSION}\n`)
})

test('both packages contain every file that their documents link to', () => {
  for (const documents of [join(debian, 'usr/share/doc/petstore'), tarball]) {
    const missing = listFiles(documents).flatMap((path) =>
      linkedFiles(path, documents).filter((target) => !existsSync(join(documents, target))),
    )
    expect(missing).toEqual([])
  }
})

// Where systemd is installed but never booted, as in a container, `verify` cannot work.
test.skipIf(isMissing('systemd-analyze') || !existsSync('/run/systemd'))(
  'systemd accepts the units and rates their exposure below 3',
  () => {
    // The trailing colon adds the units of the system.
    const environment = { SYSTEMD_COLORS: '0', SYSTEMD_UNIT_PATH: `${join(debian, UNITS)}:` }
    const services = ['petstore.service', 'petstore-backup.service', 'petstore-prune.service']
    for (const unit of [...services, 'petstore.socket', 'petstore-backup.timer', 'petstore-prune.timer']) {
      const { output } = run(['systemd-analyze', 'verify', '--man=no', unit], environment)
      const problems = output.split('\n').filter((line) => line.includes('petstore'))
      // The program is not installed here.
      expect(problems.filter((line) => !line.includes('/usr/bin/petstore is not executable'))).toEqual([])
    }
    for (const unit of services) {
      const { exitCode, output } = run(
        ['systemd-analyze', 'security', '--offline=true', '--threshold=30', `--root=${debian}`, unit],
        { SYSTEMD_COLORS: '0' },
      )
      expect([exitCode, output]).toEqual([0, expect.stringContaining(`exposure level for ${unit}`)])
    }
  },
)

test.skipIf(isMissing('dpkg-deb') || isMissing('lintian'))('lintian finds no error or warning', () => {
  const name = buildDebianPackage(debian, folder)
  const { exitCode, output } = run(['lintian', '--allow-root', '--fail-on=error,warning', join(folder, name)])
  expect([output, exitCode]).toEqual(['', 0])
})
