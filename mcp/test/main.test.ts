import { expect, setDefaultTimeout, test } from 'bun:test'
import { runProgram } from '../../server/test/support/run-program.ts'
import { MAIN } from './support/connections.ts'

setDefaultTimeout(120_000)

const URL_AND_KEY = { PETSTORE_URL: 'http://127.0.0.1:1/v1', PETSTORE_KEY: 'k' }

test.each([
  ['no address', { PETSTORE_URL: '' }, [], 'PETSTORE_URL is not set'],
  ['no address but a word', { PETSTORE_URL: 'shop' }, [], 'PETSTORE_URL must be an address, got "shop"'],
  ['no key', { PETSTORE_KEY: '' }, [], 'PETSTORE_KEY is not set'],
  ['an unknown option', {}, ['--prt', '80'], "Unknown option '--prt'"],
  ['a port that does not exist', {}, ['--http', '--port', '70000'], '70000'],
])('with %s, it ends with a message and the usage', async (_, env, args, message) => {
  const { exitCode, stdout, stderr } = await runProgram([process.execPath, MAIN, ...args], {
    cwd: import.meta.dir,
    env: { ...URL_AND_KEY, ...env },
  })
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toContain(message)
  expect(stderr).toContain('Usage: petstore-mcp')
})

test('it ends when the agent closes its standard input', async () => {
  const program = Bun.spawn([process.execPath, MAIN], {
    env: URL_AND_KEY,
    stdio: [new Blob(['']), 'pipe', 'inherit'],
  })
  expect(await program.exited).toBe(0)
  expect(await new Response(program.stdout).text()).toBe('')
})
