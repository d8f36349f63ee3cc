import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { petstore } from '../../cli/petstore.ts'
import { until } from '../../support/until.ts'
import { ALL_READ, FaultyShop, UNAVAILABLE } from './faulty-shop.ts'
import {
  canMount,
  FILLED_TO_THE_END,
  fillDisk,
  limitFileSize,
  limitGrowth,
  mountSmallDisk,
  unmount,
} from './full-disk.ts'

setDefaultTimeout(120_000)

/** More than fits into the remaining space. */
const MAX_UPDATES = 500

let shop: FaultyShop
afterEach(() => shop.close())

async function updateUntilRefused(): Promise<void> {
  for (let sent = 0; sent < MAX_UPDATES; sent++) if ((await shop.update()).status !== 200) return
  throw new Error('no update was refused')
}

/** For any cause: updates are refused at once with the Error body, all reads continue, and /readyz names the problem. */
async function expectRefusals(problem: string): Promise<void> {
  for (let sent = 0; sent < 20; sent++) expect(await shop.update()).toMatchObject(UNAVAILABLE)
  await until(async () => (await shop.readiness()).includes(problem))
  expect(await shop.reads()).toEqual(ALL_READ)
  expect(await shop.violations()).toEqual([])
}

/** With free space, updates succeed again. */
async function expectRecovery(): Promise<void> {
  expect((await shop.update()).status).toBe(200)
  await until(async () => (await shop.readiness()).startsWith('200'))
  expect(await shop.violations()).toEqual([])
  await shop.kill()
  await shop.start()
  expect(await shop.violations()).toEqual([])
}

describe('when nothing more can be written', () => {
  test.skipIf(process.platform !== 'linux')(
    'because files may not grow: updates are refused, reads continue, nothing is lost, and it recovers',
    async () => {
      shop = await FaultyShop.open()
      expect((await shop.update()).status).toBe(200)
      limitGrowth(shop.pid, shop.path, 20_000)
      await updateUntilRefused()
      await shop.untilLogged(`check its free space (${shop.folder} (`)
      await expectRefusals('cannot be written')
      limitFileSize(shop.pid, 'unlimited')
      await expectRecovery()
    },
  )

  test.skipIf(!canMount())('because the disk is full: the same, and even a start succeeds', async () => {
    let folder = ''
    shop = await FaultyShop.open((made) => {
      folder = made
      mountSmallDisk(made, 2)
    }, FILLED_TO_THE_END)
    try {
      expect((await shop.update()).status).toBe(200)
      const filler = fillDisk(folder)
      await updateUntilRefused()
      await shop.untilLogged(`the disk is full: free some space in ${folder} (0.0 MB free)`)
      const env = { DATABASE_URL: shop.url }
      for (const args of [
        ['export', join(folder, 'pets.csv')],
        ['backup', join(folder, 'backup.db')],
      ]) {
        const { exitCode, stderr } = await petstore(args, { env })
        expect([exitCode, stderr]).toEqual([1, expect.stringContaining(` ${folder} `)])
        expect(stderr).toMatch(/\(\d\.\d MB free\)/)
      }
      await shop.kill()
      await shop.start()
      // The start has emptied the write-ahead log, which makes room for some updates.
      await updateUntilRefused()
      await expectRefusals('the disk is full')
      const { exitCode, stdout } = await shop.command(['check'])
      expect([exitCode, stdout]).toEqual([1, expect.stringContaining('the disk is full')])
      filler.free()
      await expectRecovery()
    } finally {
      unmount(folder)
    }
  })
})

test.skipIf(!canMount())(
  'while less than MIN_FREE_DISK_MEBIBYTES is free, changes get 503 with the reason, reads go on, and it recovers by itself',
  async () => {
    let folder = ''
    shop = await FaultyShop.open(
      (made) => {
        folder = made
        mountSmallDisk(made, 30)
      },
      { MIN_FREE_DISK_MEBIBYTES: '20' },
    )
    try {
      expect((await shop.update()).status).toBe(200)
      const filler = fillDisk(folder, 15 * 1024 * 1024)
      await until(async () => (await shop.update()).status === 503)
      for (let sent = 0; sent < 5; sent++) {
        const { status, body } = await shop.update()
        expect([status, body]).toEqual([
          503,
          expect.objectContaining({ message: expect.stringContaining('has less than 20 MiB free') }),
        ])
      }
      expect(await shop.reads()).toEqual(ALL_READ)
      await shop.untilLogged(`the disk is nearly full: free some space in ${folder} (`)
      const readiness = await fetch(`${shop.address}/readyz`)
      expect([readiness.status, await readiness.text()]).toEqual([503, expect.stringContaining('20 MiB')])
      filler.free()
      await until(async () => (await shop.update()).status === 200)
      expect(await shop.violations()).toEqual([])
      await until(async () => (await fetch(`${shop.address}/readyz`)).status === 200)
    } finally {
      unmount(folder)
    }
  },
)
