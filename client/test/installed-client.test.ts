import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { TestService } from '../../server/test/support/test-service.ts'
import { ROOT, type Run, run } from './support/built-client.ts'
import { CHROMIUM_FLAGS, chromiumPath } from './support/chromium.ts'
import { EXPECTED } from './support/exercise.mjs'
import { installClient } from './support/installed-client.ts'
import { nodeVersion, supportedNode } from './support/node.ts'

const folder = mkdtempSync(join(tmpdir(), 'petstore-client-'))
let project = ''
beforeAll(async () => {
  project = await installClient(folder)
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('an empty project in Node 22 uses the installed tarball against a live service', async () => {
  const node = await supportedNode(join(folder, 'node'))
  if (node !== undefined) return exerciseIn(node)
  if ((Bun.env.CI ?? '') !== '')
    throw new Error('CI must run the client in Node 22, and npm could not install it')
  console.warn('SKIPPED: there is no Node 22, and npm could not install it')
}, 300_000)

test('and in Bun', () => exerciseIn(process.execPath), 60_000)

test.skipIf((await nodeVersion()) >= 22)(
  'an older Node gets an error that names the versions that the client needs',
  async () => {
    const { exitCode, stderr } = await inProject([
      'node',
      'exercise-installed.mjs',
      'http://127.0.0.1:1/v1',
      'k',
    ])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('@petstore/client needs Node 22')
  },
  60_000,
)

async function exerciseIn(runtime: string): Promise<void> {
  const service = await TestService.start({ realTime: true, settings: { webhookPrivateAddresses: 'on' } })
  const { stdout, stderr } = await inProject([
    runtime,
    'exercise-installed.mjs',
    `${service.address}/v1`,
    service.key,
  ])
  expect(stderr).toBe('')
  const { limits, delivered, refused, ...outcome } = JSON.parse(stdout)
  expect(outcome).toEqual(EXPECTED)
  expect(delivered).toEqual({ type: 'stock.changed', petId: '9007199254740993', after: 3 })
  expect(refused).toMatch(/^no complete response from 127\.0\.0\.1:PORT: .*ECONNREFUSED/)
  expect(limits.limit).toBe(1_000_000)
}

test('its types match its methods, with either module resolution of TypeScript', async () => {
  await Bun.write(
    `${project}/typed.ts`,
    `import { type InventoryItem, isPetstoreError, PetstoreClient } from '@petstore/client'
const client: PetstoreClient = new PetstoreClient({ baseUrl: '/v1', apiKey: 'k' })
const { items }: { items: readonly InventoryItem[] } = await client.inventory.list()
const petId: bigint | undefined = items[0]?.petId
// @ts-expect-error: an id is not a number
const wrong: number | undefined = items[0]?.petId
for await (const order of client.orders.list({ petId: 5 })) order.lines satisfies readonly { petId: bigint }[]
await client.orders.create({ lines: [{ petId: 5, quantity: 1 }, { barcode: '2000000010014', quantity: 2 }] })
// @ts-expect-error: DELETE cancels an order
await client.orders.update(1, { complete: false })
const created: bigint = (await client.pets.create({ name: 'Rex', categoryId: 1 })).id
// @ts-expect-error: the clock is not an option
new PetstoreClient({ baseUrl: '/v1', apiKey: 'k', clock: Date.now })
// @ts-expect-error: nor an argument
new PetstoreClient({ baseUrl: '/v1', apiKey: 'k' }, { clock: Date.now })
for await (const event of client.inventory.events()) if (event.type === 'change') petId === event.petId
export const exported = [wrong, created, isPetstoreError]
`,
  )
  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--types', '']
    const { stdout, exitCode } = await inProject([
      ...[`${ROOT}node_modules/.bin/tsc`, '--ignoreConfig', ...options],
      ...['--module', module, '--moduleResolution', resolution, 'typed.ts'],
    ])
    expect([stdout, exitCode]).toEqual(['', 0])
  }
}, 120_000)

function inProject(command: readonly string[]): Promise<Run> {
  return run(command, project)
}

/** A host name that is not localhost: over plain HTTP, browsers do not treat its pages as a secure context. */
const SHOP = 'shop.test'

test('a page in Chromium that was loaded over plain HTTP uses it from a bundle, against a live service', async () => {
  const service = await TestService.start({ realTime: true })
  const site = servePage(await bundle(service.key), service.address)
  const browser = await chromium.launch({
    executablePath: await chromiumPath(),
    args: [...CHROMIUM_FLAGS, `--host-resolver-rules=MAP ${SHOP} 127.0.0.1`],
  })
  try {
    const page = await browser.newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    await page.goto(`http://${SHOP}:${site.port}/`)
    expect(await page.evaluate(() => isSecureContext)).toBe(false)
    const text = await page.locator('#outcome:not(:empty)').textContent()
    expect(problems).toEqual([])
    const { limits, ...outcome } = JSON.parse(text ?? '')
    expect(outcome).toEqual(EXPECTED)
    expect(limits.limit).toBe(1_000_000)
  } finally {
    await browser.close()
    await site.stop(true)
  }
}, 600_000)

/** Bundles the installed client and the exercise into one script for browsers. */
async function bundle(key: string): Promise<string> {
  await Bun.write(
    `${project}/page.mjs`,
    `import * as petstore from '@petstore/client'
import { exercise } from './exercise.mjs'
const show = (text) => { document.querySelector('#outcome').textContent = text }
exercise(petstore, '/v1', '${key}').then((outcome) => show(JSON.stringify(outcome)), (error) => show(String(error.stack)))
`,
  )
  const { outputs } = await Bun.build({
    entrypoints: [`${project}/page.mjs`],
    target: 'browser',
    minify: true,
  })
  return (await outputs[0]?.text()) ?? ''
}

/** The page, its script and the service under one origin, as behind a reverse proxy. */
function servePage(script: string, serviceAddress: string) {
  const page =
    '<!doctype html><meta charset="utf-8"><title>Client</title><pre id="outcome"></pre><script type="module" src="/page.js"></script>'
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url)
      if (pathname.startsWith('/v1/')) return fetch(new Request(serviceAddress + pathname + search, request))
      return pathname === '/page.js'
        ? new Response(script, { headers: { 'Content-Type': 'text/javascript' } })
        : new Response(page, { headers: { 'Content-Type': 'text/html' } })
    },
  })
}
