import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { petstore } from '../../cli/petstore.ts'
import { until } from '../../support/until.ts'
import { FaultyShop } from './faulty-shop.ts'
import {
  canMount,
  FILLED_TO_THE_END,
  fillDisk,
  limitFileSize,
  limitGrowth,
  mountSmallDisk,
  unmount,
} from './full-disk.ts'
import { damageTable, lockedFile } from './spoilt-file.ts'

setDefaultTimeout(120_000)

let shop: FaultyShop
afterEach(() => shop.close())

const readyStatus = async () => (await fetch(`${shop.address}/readyz`)).status
const problem = async () => {
  await until(async () => (await readyStatus()) === 503)
  const response = await fetch(`${shop.address}/readyz`)
  return JSON.stringify(await response.json())
}
const check = () => petstore(['check'], { env: { DATABASE_URL: shop.url } })

describe('/readyz and petstore check on SQLite', () => {
  test('find a write lock that another process holds', async () => {
    shop = await FaultyShop.open()
    const other = lockedFile(shop.path)
    expect(await problem()).toContain('another process holds')
    const { exitCode, stdout } = await check()
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('another process holds')])
    other.close()
    await until(async () => (await readyStatus()) === 200)
  })

  test('find a deleted write-ahead log; a stop saves what was in it', async () => {
    shop = await FaultyShop.open()
    expect((await shop.update()).status).toBe(200)
    rmSync(`${shop.path}-wal`)
    expect(await problem()).toContain(`${shop.path}-wal was deleted or replaced`)
    const { exitCode, stdout } = await check()
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(`${shop.path}-wal was deleted`)])
    expect((await shop.update()).status).toBe(200)
    await shop.stop()
    await shop.start()
    expect(await shop.violations()).toEqual([])
  })

  test('find a page that was damaged before the start, while the rest is served', async () => {
    shop = await FaultyShop.closed()
    damageTable(shop.path, 'orders')
    await shop.start()
    expect(await problem()).toContain('damaged when the service started')
    expect((await shop.update()).status).toBe(200)
  })

  test.skipIf(process.platform !== 'linux')('find that files may not grow', async () => {
    shop = await FaultyShop.open()
    expect((await shop.update()).status).toBe(200)
    limitGrowth(shop.pid, shop.path, 3_000)
    await until(async () => (await shop.update()).status === 503)
    expect(await problem()).toContain('cannot be written')
    limitFileSize(shop.pid, 'unlimited')
    await until(async () => (await readyStatus()) === 200)
  })

  test.skipIf(!canMount())('find a full disk, which is logged once and then counted', async () => {
    let folder = ''
    shop = await FaultyShop.open((made) => {
      folder = made
      mountSmallDisk(made, 2)
    }, FILLED_TO_THE_END)
    try {
      const filler = fillDisk(folder)
      await until(async () => (await shop.update()).status === 503)
      expect(await problem()).toContain('the disk is full')
      const { exitCode, stdout } = await check()
      expect([exitCode, stdout]).toEqual([1, expect.stringContaining('the disk is full')])
      for (let sent = 0; sent < 20; sent++) expect((await shop.update()).status).toBe(503)
      filler.free()
      await until(async () => (await readyStatus()) === 200)
      const lines = await shop.stop()
      const failures = lines.filter(
        (line) => line.includes('"message":"failure"') && line.includes('updateInventory'),
      )
      expect(failures).toHaveLength(1)
      expect(lines.filter((line) => line.includes('failure repeated')).join()).toMatch(/"times":2\d/)
    } finally {
      unmount(folder)
    }
  })
})
