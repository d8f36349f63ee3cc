import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../../server/src/core/values/version.ts'
import { runProgram } from '../../server/test/support/run-program.ts'
import { TestService } from '../../server/test/support/test-service.ts'
import { missingPackage } from '../../wire/test/debian-package.ts'

setDefaultTimeout(120_000)

const PYTHON = '/usr/bin/python3'
const PACKAGE = join(import.meta.dir, '..')

const missing = (await missingPackage('python3', PYTHON)) ?? (await missingPackage('python3-pip', 'pip3'))
if (missing !== undefined) {
  if ((Bun.env.CI ?? '') !== '') throw new Error(`CI must run the tests of the Python client: ${missing}`)
  console.warn(`SKIPPED: the tests of the Python client: ${missing}`)
}

let service: TestService
let folder: string

beforeAll(async () => {
  service = await TestService.start({ realTime: true, settings: { webhookPrivateAddresses: 'on' } })
  folder = mkdtempSync(join(tmpdir(), 'petstore-python-'))
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const testPython = test.skipIf(missing !== undefined)

testPython('the installed client passes its Python tests on a live service', async () => {
  const installed = join(folder, 'installed')
  // pip writes into the sources.
  const sources = join(folder, 'sources')
  cpSync(PACKAGE, sources, { recursive: true })
  // Without build isolation pip uses Debian's setuptools instead of a download.
  const install = ['install', '--quiet', '--no-index', '--no-build-isolation', '--target', installed, sources]
  expect(await runProgram([PYTHON, '-m', 'pip', ...install], { cwd: folder })).toMatchObject({ exitCode: 0 })

  const { secret: smallKey } = await service.createKey('free', { limits: { perMinute: 5, perDay: 1_000 } })
  const env = {
    PYTHONPATH: installed,
    PYTHONDONTWRITEBYTECODE: '1',
    PETSTORE_URL: `${service.address}/v1`,
    PETSTORE_KEY: service.key,
    PETSTORE_SMALL_KEY: smallKey,
  }
  const unittest = ['-m', 'unittest', 'discover', '--start-directory', import.meta.dir]
  // Not in the folder of the sources: Python would import them instead of the installed package.
  const { exitCode, stdout, stderr } = await runProgram([PYTHON, ...unittest], { cwd: folder, env })
  if (exitCode !== 0) throw new Error(stdout + stderr)
})

test('the Python client has the version of the program', async () => {
  const project = await Bun.file(join(PACKAGE, 'pyproject.toml')).text()
  expect(/^version = "(.*)"$/m.exec(project)?.[1]).toBe(VERSION)
})
