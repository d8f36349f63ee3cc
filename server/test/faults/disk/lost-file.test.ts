import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { petstore } from '../../cli/petstore.ts'
import { change, pet } from '../../store/plain-rows.ts'
import { addPets } from '../../support/add-pets.ts'
import { stockOf } from '../../support/whole-store.ts'
import { ALL_READ, FaultyShop } from './faulty-shop.ts'

setDefaultTimeout(120_000)

/** The reader worker answers these. It starts only with the first of them. */
const WORKER_READS = ['/inventory/history', '/inventory/search?q=pet']

let shop: FaultyShop
afterEach(() => shop.close())

const savedCopies = () =>
  readdirSync(shop.folder)
    .filter((name) => name.includes('.saved-'))
    .map((name) => join(shop.folder, name))

async function restoreAndCheck(): Promise<void> {
  const [copy = '', ...others] = savedCopies()
  expect(others).toEqual([])
  const env = { DATABASE_URL: shop.url }
  const start = await petstore(['serve', '--port', '0'], { env })
  expect([start.exitCode, start.stderr]).toEqual([1, expect.stringContaining(`petstore restore ${copy}`)])
  expect((await petstore(['restore', copy], { env })).exitCode).toBe(0)
  await shop.start()
  expect(await shop.violations()).toEqual([])
  expect((await shop.update()).status).toBe(200)
}

describe('when the database file is deleted while the service runs', () => {
  test('changes are refused, reads continue, and everything acknowledged is saved at once', async () => {
    shop = await FaultyShop.open()
    expect((await shop.update()).status).toBe(200)
    rmSync(shop.path)
    for (let sent = 0; sent < 3; sent++) {
      expect(await shop.update()).toMatchObject({
        status: 503,
        body: { message: expect.stringContaining('was deleted or replaced, so nothing can be changed') },
      })
    }
    await shop.untilLogged(`everything was saved to ${savedCopies()[0]}: stop the service`)
    expect(await shop.reads()).toEqual(ALL_READ)
    for (const path of WORKER_READS) {
      const headers = { Authorization: `Bearer ${shop.key}` }
      expect([path, (await fetch(`${shop.address}/v1${path}`, { headers })).status]).toEqual([path, 200])
    }
    expect(JSON.stringify(await (await fetch(`${shop.address}/readyz`)).json())).toContain('was deleted')
    expect(existsSync(shop.path)).toBe(false)
    // Even a kill loses nothing.
    await shop.kill()
    await restoreAndCheck()
  })

  test('a stop saves everything', async () => {
    shop = await FaultyShop.open()
    expect((await shop.update()).status).toBe(200)
    rmSync(shop.path)
    expect((await shop.stop()).join('\n')).toContain('everything was saved to')
    await restoreAndCheck()
  })

  test('the end of an idle store saves everything', async () => {
    shop = await FaultyShop.closed()
    const store = openSqliteStore(shop.path, { exclusive: true })
    rmSync(shop.path)
    await store.close()
    await restoreAndCheck()
  })

  test('a database that replaces it is not changed', async () => {
    shop = await FaultyShop.closed()
    const other = join(shop.folder, 'other.db')
    const env = { DATABASE_URL: `sqlite:${other}` }
    expect((await petstore(['migrate'], { env })).exitCode).toBe(0)
    await shop.start()
    expect((await shop.update()).status).toBe(200)
    renameSync(other, shop.path)
    expect((await shop.update()).status).toBe(503)
    await shop.stop()
    expect(savedCopies()).toHaveLength(1)
    expect(existsSync(`${shop.path}-wal`)).toBe(false)
    const replacing = openSqliteStore(shop.path)
    expect([await stockOf(replacing), await replacing.findDamage()]).toEqual([[], []])
    await replacing.close()
  })

  test('the copy is in the temporary folder if the folder of the database is gone, too', async () => {
    shop = await FaultyShop.closed()
    const folder = join(shop.folder, 'data')
    const losses: string[] = []
    const store = openSqliteStore(join(folder, 'petstore.db'), {
      exclusive: true,
      onFileLost: ({ message }) => losses.push(message),
    })
    await addPets(store, [pet(1n, 1)])
    rmSync(folder, { recursive: true })
    writeFileSync(folder, 'not a folder')
    const temporary = join(shop.folder, 'temporary')
    mkdirSync(temporary)
    const before = Bun.env.SQLITE_TMPDIR
    Bun.env.SQLITE_TMPDIR = temporary
    try {
      await expect(store.changeStock([change(1n, 2)])).rejects.toThrow('was deleted or replaced')
      await store.close()
    } finally {
      if (before === undefined) delete Bun.env.SQLITE_TMPDIR
      else Bun.env.SQLITE_TMPDIR = before
    }
    const [copy = ''] = readdirSync(temporary)
    expect(losses).toEqual([expect.stringContaining(`everything was saved to ${join(temporary, copy)}`)])
  })
})
