import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { missingPackage } from '../../wire/test/debian-package.ts'
import { checkWith, NotInstalled } from '../scripts/generators.ts'
import { runProgram } from './support/run-program.ts'
import { TestService } from './support/test-service.ts'

// npm downloads the generator.
setDefaultTimeout(600_000)

const ROOT = join(import.meta.dir, '..', '..')
const IS_CI = (Bun.env.CI ?? '') !== ''

let service: TestService

beforeAll(async () => {
  service = await TestService.start()
})

afterAll(() => service.stop())

test('openapi-typescript generates a client that compiles', async () => {
  try {
    await checkWith('openapi-typescript')
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error
    console.warn(`SKIPPED: ${error.message}`)
  }
})

test('the Python program of docs/clients.md runs', async () => {
  const missing = await missingPackage('python3')
  if (missing !== undefined) {
    if (IS_CI) throw new Error(missing)
    console.warn(`SKIPPED: ${missing}`)
    return
  }
  await service.setQuantity('1', '{"quantity": 4}')
  const program = await pythonProgram()
  const env = { PYTHONPATH: join(ROOT, 'client-python'), PYTHONDONTWRITEBYTECODE: '1' }
  expect(await runProgram(['/usr/bin/python3', '-c', program], { cwd: ROOT, env })).toEqual({
    exitCode: 0,
    stdout: '16\n',
    stderr: '',
  })
})

async function pythonProgram(): Promise<string> {
  const page = await Bun.file(join(ROOT, 'docs/clients.md')).text()
  const program = /```python\n(.*?)```/s.exec(page)?.[1]
  if (program === undefined) throw new Error('docs/clients.md has no program in Python')
  return program.replace('http://127.0.0.1:8080', service.address).replace('pst_demo_pro', service.key)
}
