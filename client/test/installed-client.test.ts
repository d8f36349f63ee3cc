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

const folder = mkdtempSync(join(tmpdir(), 'petstore-client-'))
let project = ''
beforeAll(async () => {
  project = await installClient(folder)
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(['node', process.execPath])(
  'an empty project in %s uses the installed tarball against a live service',
  async (runtime) => {
    const service = await TestService.start({ realTime: true, settings: { webhookPrivateAddresses: 'on' } })
    const { stdout, stderr } = await inProject([
      runtime,
      'exercise-installed.mjs',
      `${service.address}/v1`,
      service.key,
    ])
    expect(stderr).toBe('')
    const { version, limits, delivered, refused, ...outcome } = JSON.parse(stdout)
    expect(Number(/^v(\d+)/.exec(version)?.[1])).toBeGreaterThanOrEqual(20)
    expect(outcome).toEqual(EXPECTED)
    expect(delivered).toEqual({ type: 'stock.changed', petId: '9007199254740993', after: 3 })
    expect(refused).toMatch(/^no complete response from 127\.0\.0\.1:PORT: .*ECONNREFUSED/)
    expect(limits.limit).toBe(1_000_000)
  },
  30_000,
)

test('its types match its methods, with either module resolution of TypeScript', async () => {
  await Bun.write(
    `${project}/typed.ts`,
    `import { type InventoryItem, isPetstoreError, PetstoreClient } from '@petstore/client'
const client: PetstoreClient = new PetstoreClient({ baseUrl: '/v1', apiKey: 'k' })
const { items }: { items: readonly InventoryItem[] } = await client.inventory.list()
const petId: bigint | undefined = items[0]?.petId
// @ts-expect-error: an id is not a number
const wrong: number | undefined = items[0]?.petId
const texts = new PetstoreClient({ baseUrl: '/v1', apiKey: 'k', ids: 'string' })
for await (const order of texts.orders.list({ petId: '5' })) order.petId satisfies string
const created: string = (await texts.pets.create({ name: 'Rex', categoryId: 1 })).id
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
