import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { petstore } from './petstore.ts'
import { serve } from './running-petstore.ts'

const folder = mkdtempSync(join(tmpdir(), 'petstore-health-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('petstore health reports whether the service is ready, and can wait for it', async () => {
  const port = String(freePort())
  const { address, stop } = await serve(['--demo', '--port', port], { cwd: folder })
  expect(await petstore(['health', '--port', port])).toEqual({ exitCode: 0, stdout: 'ready\n', stderr: '' })
  await stop()
  const { exitCode, stderr } = await petstore(['health', '--port', port])
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(`petstore: not ready: nothing answers at ${address}; start the service`),
  ])
  const waiting = petstore(['health', '--port', port, '--wait', '60'])
  const again = await serve(['--demo', '--port', port], { cwd: folder })
  expect((await waiting).stdout).toBe('ready\n')
  await again.stop()
})

test('petstore health does not use a proxy, which cannot reach this machine', async () => {
  const { address, stop } = await serve(['--demo'], { cwd: folder })
  const requests: string[] = []
  using proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      requests.push(url)
      return new Response('no route', { status: 502 })
    },
  })
  const variables = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy']
  const env = Object.fromEntries(variables.map((name) => [name, `http://127.0.0.1:${proxy.port}`]))
  const { exitCode, stderr } = await petstore(['health', '--port', new URL(address).port], { env })
  expect([exitCode, stderr, requests]).toEqual([0, '', []])
  await stop()
})

test('the example pets can be imported', async () => {
  const file = join(import.meta.dir, '../../../examples/pets.csv')
  const { exitCode, stdout } = await petstore(['import', file], { cwd: folder })
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('17 pets added, 0 changed')])
})
