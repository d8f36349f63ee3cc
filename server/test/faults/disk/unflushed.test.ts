import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { missingShim, throughDisk } from '../../support/disk-shim.ts'
import { until } from '../../support/until.ts'
import { FaultyShop } from './faulty-shop.ts'

// What reads and other requests get meanwhile: test/sim.
setDefaultTimeout(120_000)

const missing = await missingShim()
if (missing !== undefined) console.log(`skipped: ${missing}`)

let shop: FaultyShop
afterEach(() => shop.close())

const stop = (name: string) => writeFileSync(join(shop.folder, name), '')
const resume = (name: string) => rmSync(join(shop.folder, name))

async function call(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
  const headers = { Authorization: `Bearer ${shop.key}`, 'Content-Type': 'application/json' }
  const response = await fetch(`${shop.address}/v1${path}`, { ...init, headers })
  return { status: response.status, body: await response.json() }
}

const setTo = (quantity: number) =>
  call('/inventory/1', { method: 'PATCH', body: JSON.stringify({ quantity }) })
const quantity = async () => ((await call('/inventory/1')).body as { quantity: number }).quantity

/** Opens a shop whose disk holds the flush of a commit that is in the file. Returns the request of that commit. */
async function openWithHeldFlush(): Promise<ReturnType<typeof setTo>[]> {
  shop = await FaultyShop.closed()
  const [holds, fails] = [join(shop.folder, 'hold'), join(shop.folder, 'fail')]
  shop.through = await throughDisk({ DISK_HOLDS_IF: holds, DISK_FAILS_IF: fails })
  await shop.start()
  // The first commit of a write-ahead log flushes its header.
  expect((await setTo(5)).status).toBe(200)
  // A commit after a read is flushed outside the event loop.
  expect(await quantity()).toBe(5)
  stop('hold')
  const update = setTo(77)
  await until(() => shop.lastQuantityInFile(1) === 77)
  // An array, because a promise would be awaited.
  return [update]
}

describe.skipIf(missing !== undefined)('while a commit is being flushed', () => {
  test('it is not acknowledged, and a command that reads it flushes it first, and shows none of it if that fails', async () => {
    const [update] = await openWithHeldFlush()
    const through = await throughDisk({ DISK_FAILS_IF: join(shop.folder, 'hold') })
    const { exitCode, stdout } = await shop.command(['export'], { through })
    expect([exitCode, stdout]).toEqual([1, expect.not.stringContaining('77')])
    expect([Bun.peek.status(update), await quantity()]).toEqual(['pending', 5])
    resume('hold')
    expect((await update)?.status).toBe(200)
    expect((await shop.command(['export'], { through })).stdout).toContain('77')
  })
})

describe.skipIf(missing !== undefined)('when a flush fails', () => {
  test('the service ends, and the next start determines what was made', async () => {
    const [update] = await openWithHeldFlush()
    stop('fail')
    resume('hold')
    expect((await update)?.body).toMatchObject({
      message: expect.stringContaining('may or may not have been made'),
    })
    expect(await shop.exitCode()).toBe(1)
    resume('fail')
    await shop.start()
    expect(await quantity()).toBe(77)
    expect((await setTo(79)).status).toBe(200)
  })
})
