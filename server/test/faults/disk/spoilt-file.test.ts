import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { petstore } from '../../cli/petstore.ts'
import { until } from '../../support/until.ts'
import { ALL_READ, FaultyShop, SHOP_IDS, UNAVAILABLE, type UpdateAnswer } from './faulty-shop.ts'
import { BOUND_BY_RIGHTS, damageTable, lockedFile, overwrite } from './spoilt-file.ts'

setDefaultTimeout(120_000)

/** The promised maximum wait for a lock. */
const LOCK_PATIENCE_MS = 5_000

/** Waiting for a lock takes time, so this runs alongside the other tests. */
let lockedShop: FaultyShop
let lockedOut: Promise<{ updates: UpdateAnswer[]; late: UpdateAnswer; reads: unknown }>
beforeAll(async () => {
  lockedShop = await FaultyShop.open()
  lockedOut = lockOut(lockedShop)
  // The test that awaits it reports the failure.
  lockedOut.catch(() => {})
})
afterAll(() => lockedShop.close())

async function lockOut(shop: FaultyShop) {
  const other = lockedFile(shop.path)
  // One after the other, so that each has its own commit.
  const waiting: Promise<UpdateAnswer>[] = []
  for (const petId of [...SHOP_IDS, ...SHOP_IDS]) {
    waiting.push(shop.update(petId))
    await Bun.sleep(10)
  }
  const reads = await shop.reads()
  const updates = await Promise.all(waiting)
  // If nobody has met the lock for a second, which happens on a stalled machine, the next write waits again.
  let late = await shop.update()
  while (late.ms >= LOCK_PATIENCE_MS - 500) late = await shop.update()
  await until(async () => (await shop.readiness()).includes('another process holds'))
  other.close()
  return { updates, late, reads }
}

describe('a file', () => {
  let shop: FaultyShop
  beforeEach(async () => {
    shop = await FaultyShop.closed()
  })
  afterEach(() => shop.close())

  const check = (through: readonly string[] = []) =>
    petstore(['check'], { env: { DATABASE_URL: shop.url }, through })

  test('that is not writable: reads continue, updates are refused, and check says what to do', async () => {
    chmodSync(shop.path, 0o400)
    await shop.start(BOUND_BY_RIGHTS)
    expect(await shop.update()).toMatchObject(UNAVAILABLE)
    expect(await shop.reads()).toEqual(ALL_READ)
    await shop.untilLogged('give the service write permission for the file')
    const { exitCode, stdout } = await check(BOUND_BY_RIGHTS)
    expect([exitCode, stdout]).toEqual([
      1,
      expect.stringContaining('is not writable, so the service answers every update'),
    ])
    chmodSync(shop.path, 0o600)
    await shop.kill()
    await shop.start(BOUND_BY_RIGHTS)
    expect((await shop.update()).status).toBe(200)
    expect(await shop.violations()).toEqual([])
  })

  test('that is damaged in one place while it is served: the rest continues, and check finds it', async () => {
    await shop.start()
    // Otherwise the list would see in the index that the table is empty, without reading it.
    for (const part of ['orders', 'orders_by_state']) damageTable(shop.path, part)
    expect(await shop.reads()).toEqual({ ...ALL_READ, '/store/orders': 503 })
    expect((await shop.update()).status).toBe(200)
    await shop.untilLogged('the file is damaged: stop the service and restore the last backup')
    const { exitCode, stdout } = await check()
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('✗ part of the database is damaged')])
    expect(stdout).toContain('restore the last backup: petstore restore BACKUP')
  })

  test('that was damaged before the start: /readyz says so, while the rest is served', async () => {
    damageTable(shop.path, 'orders')
    await shop.start()
    await until(async () => (await shop.readiness()).includes('damaged when the service started'))
    expect((await shop.update()).status).toBe(200)
  })

  test('whose write-ahead log is deleted: /readyz and check say so, and a stop saves what was in it', async () => {
    await shop.start()
    expect((await shop.update()).status).toBe(200)
    rmSync(`${shop.path}-wal`)
    const problem = `${shop.path}-wal was deleted`
    await until(async () => (await shop.readiness()).includes(problem))
    const { exitCode, stdout } = await check()
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(problem)])
    expect((await shop.update()).status).toBe(200)
    await shop.stop()
    await shop.start()
    expect(await shop.violations()).toEqual([])
  })

  test('that is damaged in its stock or its header: the start fails, and it serves after a restore', async () => {
    const backup = join(shop.folder, 'backup.db')
    const env = { DATABASE_URL: shop.url }
    expect((await petstore(['backup', backup], { env })).exitCode).toBe(0)
    damageTable(shop.path, 'stock')
    await expectRefusedStart('database disk image is malformed')
    overwrite(shop.path, 0, 100)
    await expectRefusedStart('file is not a database')
    expect((await petstore(['restore', backup], { env })).exitCode).toBe(0)
    await shop.start()
    expect((await shop.update()).status).toBe(200)
    expect(await shop.violations()).toEqual([])
  })

  async function expectRefusedStart(reason: string): Promise<void> {
    const refused = await petstore(['serve', '--port', '0'], { env: { DATABASE_URL: shop.url } })
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining(reason)])
    expect(refused.stderr).toContain('the last backup')
    expect(refused.stderr.trimEnd().split('\n')).toHaveLength(1)
    const { exitCode, stdout } = await check()
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('petstore restore BACKUP')])
  }
})

describe('a file that another process holds locked', () => {
  test('updates are refused in time, later ones at once, reads continue, and updates succeed once the lock is gone', async () => {
    const { updates, late, reads } = await lockedOut
    for (const answer of updates) expect(answer).toMatchObject(UNAVAILABLE)
    expect(Math.max(...updates.map(({ ms }) => ms))).toBeGreaterThan(LOCK_PATIENCE_MS - 500)
    expect(late).toMatchObject(UNAVAILABLE)
    expect(reads).toEqual(ALL_READ)
    await until(async () => (await lockedShop.readiness()).startsWith('200'))
    expect((await lockedShop.update()).status).toBe(200)
    expect(await lockedShop.violations()).toEqual([])
  })

  test('petstore check names the lock', async () => {
    const other = lockedFile(lockedShop.path)
    const { exitCode, stdout } = await lockedShop.command(['check'])
    other.close()
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('another process holds')])
  })

  test('for a moment only: updates wait for it', async () => {
    const other = lockedFile(lockedShop.path)
    const waiting = lockedShop.update()
    expect(await Promise.race([waiting, Bun.sleep(100)])).toBeUndefined()
    other.close()
    expect((await waiting).status).toBe(200)
    expect(await lockedShop.violations()).toEqual([])
  })
})
