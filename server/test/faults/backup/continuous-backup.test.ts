import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { petstore, startPetstore } from '../../cli/petstore.ts'
import { serve } from '../../cli/running-petstore.ts'
import { until } from '../../support/until.ts'
import { canMount, fillDisk, mountSmallDisk, unmount } from '../disk/full-disk.ts'
import { DoomedShop, MAX_LOSS_MS } from './doomed-shop.ts'

setDefaultTimeout(120_000)

let shop: DoomedShop | undefined
afterEach(async () => {
  shop?.closeForCallers()
  await shop?.kill().catch(() => {})
  shop?.remove()
  shop = undefined
})

describe('petstore restore', () => {
  test('restores the folder of a backup to a file, says how far it came, and refuses a moment before it', async () => {
    shop = await DoomedShop.open()
    const opened = shop
    await until(() => opened.hasSnapshot())
    const updating = shop.update()
    await until(() => opened.acknowledged.length > 100)
    shop.closeForCallers()
    await updating
    await Bun.sleep(MAX_LOSS_MS)
    await shop.kill()
    const target = join(shop.folder, 'other.db')
    const { exitCode, stdout } = await petstore(['restore', shop.backup, target])
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringMatching(/Restored .*other\.db .*\nIts last change is number \d+, made at 20/),
    ])
    const tooEarly = await petstore(['restore', shop.backup, target, '--at', '1d'])
    expect([tooEarly.exitCode, tooEarly.stderr]).toEqual([
      1,
      expect.stringContaining('no intact snapshot from before that time; the oldest one is from 20'),
    ])
    const notAFolder = await petstore(['restore', target, '--at', '1d'])
    expect(notAFolder.exitCode).toBe(2)
  })
})

describe('the folder of the backup', () => {
  test.skipIf(!canMount())(
    'that is full is reported once and again when it recovers, while the service goes on; then nothing is lost',
    async () => {
      shop = await DoomedShop.open((folder) => mountSmallDisk(folder, 300))
      const opened = shop
      try {
        await until(() => opened.hasSnapshot())
        expect(await shop.readiness()).toEqual({ status: 'ready' })
        shop.pauseMs = 20
        const updating = shop.update()
        const filler = fillDisk(shop.backup)
        await until(async () => (await opened.readiness()).warnings !== undefined)
        expect(await shop.readiness()).toEqual({
          status: 'ready',
          warnings: [expect.stringMatching(/^the backup is \d+ s behind/)],
        })
        const before = shop.acknowledged.length
        await until(() => opened.acknowledged.length > before + 100)
        filler.free()
        await until(async () => (await opened.readiness()).warnings === undefined)
        const logged = () => {
          const lines = opened.output().split('\n')
          const ofBackup = lines.filter((line) => line.includes('"source":"backup"'))
          return ofBackup.map((line) => JSON.parse(line).message)
        }
        await until(() => logged().length > 1)
        expect(logged()).toEqual(['failure', 'recovered'])
        const lostAt = await shop.lose({ isKilledFirst: true })
        await updating
        shop.restore()
        expect(shop.lossMs(lostAt)).toBeLessThan(MAX_LOSS_MS)
      } finally {
        shop.closeForCallers()
        unmount(shop.backup)
      }
    },
  )

  test('belongs to one service: another one goes on without a backup, and says so', async () => {
    shop = await DoomedShop.open()
    const opened = shop
    await until(() => opened.hasSnapshot())
    const other = await serve(['--backup-to', shop.backup], {
      cwd: shop.folder,
      env: { DATABASE_URL: `sqlite:${join(shop.folder, 'other.db')}` },
    })
    await until(() => other.output().includes(`another process writes to ${opened.backup}`))
    await other.stop()
  })
})

describe('petstore follow', () => {
  test('keeps a file on another machine up to date, through restarts of the service, and petstore serve takes over', async () => {
    shop = await DoomedShop.open()
    const opened = shop
    const spare = join(shop.folder, 'spare.db')
    const follower = startPetstore(['follow', shop.backup, spare])
    const output = new Response(follower.stdout).text()
    await until(() => existsSync(spare))
    const refused = await petstore(['check', '--database-url', `sqlite:${spare}`])
    expect([refused.exitCode, refused.stdout + refused.stderr]).toEqual([
      1,
      expect.stringContaining('it follows a backup, so nothing else may change it'),
    ])
    const updating = shop.update()
    await until(() => opened.acknowledged.length > 100)
    await shop.kill()
    await shop.start()
    const before = shop.acknowledged.length
    await until(() => opened.acknowledged.length > before + 100)
    await Bun.sleep(MAX_LOSS_MS)
    const busy = await petstore(['serve', '--port', '0'], { env: { DATABASE_URL: `sqlite:${spare}` } })
    expect([busy.exitCode, busy.stderr]).toEqual([1, expect.stringContaining('another process')])
    const lostAt = await shop.lose({ isKilledFirst: true })
    await updating
    await Bun.sleep(MAX_LOSS_MS)
    follower.kill('SIGTERM')
    expect(await follower.exited).toBe(0)
    expect(await output).toContain(`${spare} follows ${shop.backup}.`)
    expect(shop.lossMs(lostAt, spare)).toBeLessThan(MAX_LOSS_MS)

    const started = await serve([], { cwd: shop.folder, env: { DATABASE_URL: `sqlite:${spare}` } })
    expect(existsSync(`${spare}-following`)).toBe(false)
    await started.stop()
    const check = await petstore(['check', '--database-url', `sqlite:${spare}`])
    expect([check.exitCode, check.stdout]).toEqual([0, expect.stringContaining('the database is intact')])
  })
})
