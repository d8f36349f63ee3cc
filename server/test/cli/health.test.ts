import { expect, test } from 'bun:test'
import { freePort } from '../support/free-port.ts'
import { petstore } from './petstore.ts'
import { runCommand } from './run-command.ts'

const health = (port: number, ...args: string[]) => runCommand(['health', '--port', String(port), ...args])

/** Answers `/readyz` like the service: with these statuses, of which the last is repeated. */
function service(port: number, ...statuses: number[]) {
  let answers = 0
  return Bun.serve({
    port,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      const status = new URL(url).pathname === '/readyz' ? (statuses[answers++] ?? statuses.at(-1)) : 404
      return new Response('the disk is full', { status: status ?? 200 })
    },
  })
}

test('petstore health reports whether the service is ready', async () => {
  const port = freePort()
  const ready = service(port, 200)
  expect(await health(port)).toEqual({ exitCode: 0, stdout: 'ready\n', stderr: '' })
  await ready.stop(true)
  expect(await health(port)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(
      `petstore: not ready: nothing answers at http://127.0.0.1:${port}; start the service`,
    ),
  })
  await using _ = service(port, 503)
  expect(await health(port)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('/readyz answered 503: the disk is full'),
  })
})

test('petstore health --wait tries again until the service is ready', async () => {
  await using starting = service(0, 503, 503, 200)
  expect(await health(starting.port ?? 0, '--wait', '600')).toEqual({
    exitCode: 0,
    stdout: 'ready\n',
    stderr: '',
  })
})

test('petstore health does not use a proxy, which cannot reach this machine', async () => {
  await using ready = service(0, 200)
  const requests: string[] = []
  await using proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      requests.push(url)
      return new Response('no route', { status: 502 })
    },
  })
  const variables = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy']
  const env = Object.fromEntries(variables.map((name) => [name, `http://127.0.0.1:${proxy.port}`]))
  const { exitCode, stderr } = await petstore(['health', '--port', String(ready.port)], { env })
  expect([exitCode, stderr, requests]).toEqual([0, '', []])
})
