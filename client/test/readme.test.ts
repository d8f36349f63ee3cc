import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serve } from '../../server/test/cli/running-petstore.ts'
import { freePort } from '../../server/test/support/free-port.ts'
import { METHODS } from '../src/resources.ts'
import { buildClient, ROOT, run } from './support/built-client.ts'
import { startClient } from './support/live-service.ts'
import { startReceiver } from './support/receiver-process.ts'

const readme = await Bun.file(`${ROOT}client/README.md`).text()
const code = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, block = '']) => block).join('\n')
const [, receiver = ''] = /```ts receiver\.ts\n(.*?)```/s.exec(readme) ?? []
/** Next to the built client, in a folder that git ignores and from which its name resolves. */
const path = `${ROOT}client/dist/readme-examples.ts`
const receiverPath = `${ROOT}client/dist/readme-receiver.ts`
afterAll(() => [path, receiverPath].map((made) => rmSync(made, { force: true })))
test('both READMEs name every method', async () => {
  const pythonRows = (await Bun.file(`${ROOT}client-python/README.md`).text()).split('\n')
  const rows = readme.split('\n').filter((row) => row.startsWith('| `'))
  const isMissing = (method: string) => {
    const [resource = '', name = ''] = method.split('.')
    const pythonName = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const isInRow = rows.some((row) => row.includes(`\`${resource}.`) && row.includes(`.${name}`))
    const pythonRow = pythonRows.find((row) => row.startsWith(`| \`client.${resource}\` |`))
    return !isInRow || !pythonRow?.includes(`\`${pythonName}\``)
  }
  expect(Object.values(METHODS).filter(isMissing)).toEqual([])
})

test('the examples of the README run in order against the demo, and print what their comments say', async () => {
  await buildClient()
  const folder = mkdtempSync(join(tmpdir(), 'petstore-readme-'))
  const demo = await serve(['--demo'], { cwd: folder })
  try {
    await Bun.write(path, code.replaceAll('http://127.0.0.1:8080', demo.address))
    const { stdout, stderr } = await run([process.execPath, path])
    expect(stderr).toBe('')
    const promised = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)/g)].map(([, text]) => text)
    expect(normal(stdout)).toBe(normal(promised.join('\n')))
  } finally {
    await demo.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}, 120_000)

test('the receiver of the README runs as printed, accepts deliveries and refuses other requests', async () => {
  await buildClient()
  await Bun.write(receiverPath, receiver)
  const { client } = await startClient({}, { realTime: true, settings: { webhookPrivateAddresses: 'on' } })
  const port = freePort()
  const url = `http://127.0.0.1:${port}/hooks`
  const { id, secret } = await client.webhooks.create({ url, kinds: ['stock.changed'] })
  const running = await startReceiver([process.execPath, receiverPath], port, secret)
  try {
    await client.inventory.set(9007199254740993n, { quantity: 3 })
    expect(await running.lines(1)).toEqual(['9007199254740993n 3'])
    const refused = await fetch(url, { method: 'POST', body: '{"type":"stock.changed"}' })
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('the header webhook-id is missing'),
    ])
    const { delivered, status } = await client.webhooks.test(id)
    expect([delivered, status]).toEqual([true, 204])
  } finally {
    await running.stop()
  }
}, 120_000)

test('the examples of the README compile against the built declarations', async () => {
  await buildClient()
  await Bun.write(path, code)
  await Bun.write(receiverPath, receiver)
  const options = [
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--lib',
    'es2022,dom',
  ]
  const compile = ['node_modules/.bin/tsc', '--ignoreConfig', ...options]
  const runs = await Promise.all([
    run([...compile, '--types', '', path]),
    run([...compile, '--types', 'node', '--skipLibCheck', receiverPath]),
  ])
  expect(runs.map(({ stdout }) => stdout)).toEqual(['', ''])
}, 120_000)

/** Bun prints an object on several lines, which is on one line in the README. */
function normal(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll(', }', ' }').trim()
}
