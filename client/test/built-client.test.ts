import { beforeAll, expect, test } from 'bun:test'
import { chromium } from 'playwright-core'
import { buildClient, ROOT, run } from './support/built-client.ts'
import { CHROMIUM_FLAGS, chromiumPath } from './support/chromium.ts'
import { EXPECTED } from './support/exercise.mjs'
import { liveService, stopServicesAfterEach } from './support/live-service.ts'

stopServicesAfterEach()
beforeAll(buildClient, 60_000)

test('plain Node uses the built client against a live service', async () => {
  const service = await liveService({ realTime: true })
  const script = 'client/test/support/exercise-in-node.mjs'
  const { stdout, stderr } = await run(['node', script, `${service.address}/v1`, service.key])
  expect(stderr).toBe('')
  const { version, limits, ...outcome } = JSON.parse(stdout)
  expect(Number(/^v(\d+)/.exec(version)?.[1])).toBeGreaterThanOrEqual(20)
  expect(outcome).toEqual(EXPECTED)
  expect(limits.limit).toBe(1_000_000)
}, 30_000)

/** A name that is not this machine's: over plain HTTP a page from there lacks what browsers keep for secure ones. */
const SHOP = 'shop.test'

test('a page in Chromium that came over plain HTTP uses the built client against a live service', async () => {
  const service = await liveService({ realTime: true })
  const site = servePage(service.address, service.key)
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

/** The page, the built client and the service under one origin, as behind a reverse proxy. */
function servePage(serviceAddress: string, key: string) {
  const page = `<!doctype html><meta charset="utf-8"><title>Client</title><pre id="outcome"></pre>
<script type="module">
import * as petstore from '/client/dist/index.js'
import { exercise } from '/client/test/support/exercise.mjs'
const show = (text) => { document.querySelector('#outcome').textContent = text }
exercise(petstore, '/v1', '${key}').then((outcome) => show(JSON.stringify(outcome)), (error) => show(String(error.stack)))
</script>`
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url)
      if (pathname.startsWith('/v1/')) return fetch(new Request(serviceAddress + pathname + search, request))
      if (pathname.startsWith('/client/')) return new Response(Bun.file(ROOT + pathname.slice(1)))
      return new Response(page, { headers: { 'Content-Type': 'text/html' } })
    },
  })
}
