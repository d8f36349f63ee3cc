import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { missingShim, throughDisk } from '../../support/disk-shim.ts'
import { until } from '../../support/until.ts'
import { FaultyShop } from './faulty-shop.ts'

setDefaultTimeout(120_000)

/** Reads of the database: they see the unflushed change, and must not return it. */
const READS = [
  '/inventory/1/history',
  '/inventory/history',
  '/catalog/history',
  '/inventory/1/availability',
  '/inventory/search?q=pet',
  '/pets/1',
  '/catalog',
  '/categories',
  '/store/orders',
  '/webhooks',
] as const

const missing = await missingShim()
if (missing !== undefined) console.log(`skipped: ${missing}`)

let shop: FaultyShop
afterEach(() => shop.close())

const stop = (name: string) => writeFileSync(join(shop.folder, name), '')
const resume = (name: string) => rmSync(join(shop.folder, name))

async function open(): Promise<void> {
  shop = await FaultyShop.closed()
  const [holds, fails] = [join(shop.folder, 'hold'), join(shop.folder, 'fail')]
  shop.through = await throughDisk({ DISK_HOLDS_IF: holds, DISK_FAILS_IF: fails })
  await shop.start()
}

async function call(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
  const headers = { Authorization: `Bearer ${shop.key}`, 'Content-Type': 'application/json' }
  const response = await fetch(`${shop.address}/v1${path}`, { ...init, headers })
  return { status: response.status, body: await response.json() }
}

const setTo = (quantity: number, petId = 1) =>
  call(`/inventory/${petId}`, { method: 'PATCH', body: JSON.stringify({ quantity }) })

/** Opens a shop whose next commit is flushed outside the event loop, which a read since the last commit ensures. */
async function openWithReader(): Promise<void> {
  await open()
  // The first commit of a write-ahead log flushes its header.
  expect((await setTo(5)).status).toBe(200)
  expect(await quantityOf(1)).toBe(5)
}

async function quantityOf(petId: number): Promise<number | undefined> {
  const list = (await call('/inventory')).body as { petId: number; quantity: number }[]
  return list.find((item) => item.petId === petId)?.quantity
}

/** The names of the calls that have been answered by now. */
function answered(calls: Readonly<Record<string, Promise<unknown>>>): string[] {
  const names: string[] = []
  for (const [name, promise] of Object.entries(calls)) {
    promise.then(
      () => names.push(name),
      () => {},
    )
  }
  return names
}

describe.skipIf(missing !== undefined)('while a commit is being flushed', () => {
  test('lists and entries return the state before it, and no other response shows it', async () => {
    await openWithReader()
    stop('hold')
    const update = setTo(77)
    // Another commit is collected meanwhile, and replays wait as well.
    const next = setTo(78, 2)
    const adjustment = { reason: 'received', changes: [{ petId: 3, delta: 1 }] }
    const repeated = call('/inventory/adjustments', { method: 'POST', body: JSON.stringify(adjustment) })
    // Another connection to the file sees the commit once it is written.
    await until(() => shop.lastQuantityInFile(1) === 77)
    const reads = Object.fromEntries(READS.map((path) => [path, call(path)]))
    const names = answered({ update, next, repeated, ...reads })
    for (let turn = 0; turn < 20; turn++) {
      expect(await quantityOf(1)).toBe(5)
      expect((await call('/inventory/1')).body).toMatchObject({ quantity: 5 })
    }
    expect(names).toEqual([])
    resume('hold')
    expect((await update).status).toBe(200)
    expect(await quantityOf(1)).toBe(77)
    for (const path of READS) expect((await reads[path])?.status).toBe(200)
    expect([(await next).status, (await repeated).status]).toEqual([200, 200])
  })

  test('a command that reads it flushes it first, and shows none of it if that fails', async () => {
    await openWithReader()
    stop('hold')
    const update = setTo(77)
    await until(() => shop.lastQuantityInFile(1) === 77)
    const through = await throughDisk({ DISK_FAILS_IF: join(shop.folder, 'hold') })
    const { exitCode, stdout } = await shop.command(['export'], { through })
    expect([exitCode, stdout]).toEqual([1, expect.not.stringContaining('77')])
    resume('hold')
    expect((await update).status).toBe(200)
    expect((await shop.command(['export'], { through })).stdout).toContain('77')
  })
})

describe.skipIf(missing !== undefined)('when a flush fails', () => {
  test('nothing unflushed is acknowledged, the service ends, and the next start determines what was made', async () => {
    await openWithReader()
    stop('hold')
    const update = setTo(77)
    const later = setTo(78, 2)
    await until(() => shop.lastQuantityInFile(1) === 77)
    const read = call('/inventory/1/history')
    stop('fail')
    resume('hold')
    const refused = {
      status: 503,
      body: {
        code: 'service_unavailable',
        message: expect.stringContaining('may or may not have been made'),
      },
    }
    expect(await update).toMatchObject(refused)
    expect(await later).toMatchObject(refused)
    expect(await read).toMatchObject(refused)
    expect(await shop.exitCode()).toBe(1)
    resume('fail')
    await shop.start()
    expect(await quantityOf(1)).toBe(77)
    expect((await setTo(79)).status).toBe(200)
  })
})
