import { Database } from 'bun:sqlite'
import { beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { restoreSqlite } from '../../src/store/sqlite/backup.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { addPets } from '../support/add-pets.ts'
import { createOrder } from '../support/orders.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { stockOf } from '../support/whole-store.ts'
import { change, pet } from './plain-rows.ts'

const BACKED_UP = 5
/** The quantity that only the write-ahead log of the killed database contains. */
const LATEST = 9

let folder: string
let path: string
let backup: string
/**
 * A backup, and a database with later commits whose process was killed: the last ones are only in its
 * write-ahead log.
 */
beforeEach(async () => {
  folder = temporaryFolder()
  path = join(folder, 'petstore.db')
  backup = join(folder, 'backup.db')
  const running = join(folder, 'running.db')
  const store = openSqliteStore(running)
  await addPets(store, [pet(1n, BACKED_UP)])
  await store.backupTo(backup)
  await store.changeStock([change(1n, LATEST)])
  for (const ending of ['', '-wal', '-shm']) copyFileSync(running + ending, path + ending)
  await store.close()
  rmSync(running)
})

test('an order id assigned after the backup is not assigned again', async () => {
  const order = createOrder([1n, 1])
  const idIn = async (file: string) => {
    const store = openSqliteStore(file)
    await store.changeStock([order])
    await store.close()
    const [row] = new Database(file).query<{ id: number }, []>('SELECT max(id) AS id FROM orders').all()
    return row?.id ?? 0
  }
  const given = await idIn(path)
  restoreSqlite(backup, path)
  expect(await idIn(path)).toBeGreaterThan(given)
})

async function quantityIn(file: string): Promise<number | undefined> {
  const store = openSqliteStore(file, { tables: 'require_current_tables' })
  try {
    expect(await store.findDamage()).toEqual([])
    return (await stockOf(store))[0]?.quantity
  } finally {
    await store.close()
  }
}

const contents = () =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => !name.endsWith('-serving') && name !== 'petstore.db-shm')
      .map((name) => [name, Bun.hash(readFileSync(join(folder, name)))]),
  )

describe('a restore', () => {
  test('after a kill -9 returns the content of the backup, and keeps the database with its write-ahead log', async () => {
    const before = contents()
    const { replaced = '', hasOlderTables } = restoreSqlite(backup, path)
    expect(hasOlderTables).toBe(false)
    expect(replaced).toMatch(/petstore\.db\.replaced-\d{8}T\d{6}Z$/)
    const after = contents()
    expect(after['backup.db']).toBe(before['backup.db'])
    expect(await quantityIn(path)).toBe(BACKED_UP)
    // Restoring the replaced database brings it back, up to its last commit.
    restoreSqlite(replaced, path)
    expect(await quantityIn(path)).toBe(LATEST)
    expect(contents()).toMatchObject({
      'backup.db': before['backup.db'],
      [replaced.slice(folder.length + 1)]: before['petstore.db'],
      [`${replaced.slice(folder.length + 1)}-wal`]: before['petstore.db-wal'],
    })
  })

  test('several in one second keep each replaced database', async () => {
    const kept = [1, 2, 3].map(() => restoreSqlite(backup, path).replaced)
    expect(new Set(kept).size).toBe(3)
    for (const file of kept) expect(existsSync(file ?? '')).toBe(true)
  })

  test('creates a missing database, private to its owner, whatever the permissions of the backup', async () => {
    chmodSync(backup, 0o644)
    const fresh = join(folder, 'new', 'petstore.db')
    expect(restoreSqlite(backup, fresh).replaced).toBeUndefined()
    expect(statSync(fresh).mode & 0o777).toBe(0o600)
    expect(await quantityIn(fresh)).toBe(BACKED_UP)
  })

  test('keeps the permissions, and follows a symbolic link', async () => {
    chmodSync(path, 0o640)
    const link = join(folder, 'link.db')
    symlinkSync(path, link)
    restoreSqlite(backup, link)
    expect([statSync(path).mode & 0o777, await quantityIn(path)]).toEqual([0o640, BACKED_UP])
  })

  test('of a database behind a symbolic link includes its write-ahead log', async () => {
    const link = join(folder, 'link.db')
    symlinkSync(path, link)
    const target = join(folder, 'target.db')
    restoreSqlite(link, target)
    expect(await quantityIn(target)).toBe(LATEST)
    const store = openSqliteStore(path, { exclusive: true })
    expect(() => restoreSqlite(link, target)).toThrow('stop it first')
    await store.close()
  })

  test('is refused while the database is served', () => {
    const store = openSqliteStore(path, { exclusive: true })
    const before = contents()
    expect(() => restoreSqlite(backup, path)).toThrow(
      `serves this database (pid ${process.pid}); stop it first`,
    )
    expect(contents()).toEqual(before)
    return store.close()
  })
})

describe('an interrupted restore', () => {
  /** The steps after the copy was made and checked. */
  const STEPS: readonly ((staged: string, replaced: string) => void)[] = [
    (staged) => renameSync(`${staged}.partial`, staged),
    (_, replaced) => renameSync(`${path}-wal`, `${replaced}-wal`),
    (_, replaced) => renameSync(`${path}-shm`, `${replaced}-shm`),
    (_, replaced) => renameSync(path, replaced),
  ]

  function breakOff(steps: number): void {
    const staged = `${path}.restoring`
    const aside = join(folder, 'aside.db')
    restoreSqlite(backup, aside)
    renameSync(aside, `${staged}.partial`)
    rmSync(`${aside}-serving`)
    const second = new Date(Math.floor(statSync(`${staged}.partial`).mtimeMs / 1_000) * 1_000)
    const time = second.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
    for (const step of STEPS.slice(0, steps)) step(staged, `${path}.replaced-${time}Z`)
  }

  test('before the copy is complete changes nothing, and the next restore works', async () => {
    writeFileSync(`${path}.restoring.partial`, 'the beginning of a copy')
    // The write-ahead log is intact and belongs to another database, so SQLite would apply it to the next copy.
    for (const ending of ['-wal', '-shm']) copyFileSync(path + ending, `${path}.restoring.partial${ending}`)
    restoreSqlite(backup, path)
    expect(await quantityIn(path)).toBe(BACKED_UP)
    expect(readdirSync(folder).filter((name) => name.includes('restoring'))).toEqual([])
    breakOff(0)
    expect(await quantityIn(path)).toBe(BACKED_UP)
  })

  const CASES = STEPS.flatMap((_, index) => [
    [index + 1, 'the backup', () => backup] as const,
    [index + 1, 'what it names', () => `${path}.restoring`] as const,
  ])
  test.each(CASES)(
    'after step %i is finished by restoring %s; nobody opens a partial state',
    async (steps, _, file) => {
      breakOff(steps)
      expect(() => openSqliteStore(path)).toThrow(`finish it with petstore restore ${path}.restoring`)
      const { replaced = '' } = restoreSqlite(file(), path)
      expect(await quantityIn(path)).toBe(BACKED_UP)
      const kept = join(folder, 'kept.db')
      restoreSqlite(replaced, kept)
      expect(await quantityIn(kept)).toBe(LATEST)
    },
  )
})

describe('a file that cannot be restored is refused before anything changes:', () => {
  const made = (sql: string) => {
    const database = new Database(join(folder, 'other.db'), { create: true })
    database.run(sql)
    database.close()
    return join(folder, 'other.db')
  }
  const changed = (change: (file: string) => void) => {
    const file = join(folder, 'other.db')
    copyFileSync(backup, file)
    change(file)
    return file
  }
  test.each<[string, () => string, string]>([
    ['none', () => join(folder, 'none.db'), 'none.db does not exist'],
    ['a folder', () => folder, 'is not the folder of a continuous backup'],
    ['an empty file', () => changed((file) => truncateSync(file)), 'is not a database of this program'],
    [
      'a text',
      () => changed((file) => writeFileSync(file, 'text '.repeat(999))),
      'is damaged or is not a database',
    ],
    [
      'a dump',
      () => changed((file) => writeFileSync(file, `PGDMP${'x'.repeat(999)}`)),
      'a dump of PostgreSQL',
    ],
    ['a part', () => changed((file) => truncateSync(file, 20 * 2_048)), 'is incomplete'],
    ['damage', () => changed((file) => spoil(file)), 'is damaged ('],
    [
      "another program's",
      () => made('CREATE TABLE notes (text); PRAGMA user_version = 1'),
      'not a database of this',
    ],
    ['a newer database', () => changed((file) => pragma(file, 'user_version = 99')), 'newer version (99)'],
    ['the database itself', () => path, 'is the database itself'],
  ])('%s', async (_, make, message) => {
    const file = make()
    const before = contents()
    expect(() => restoreSqlite(file, path)).toThrow(message)
    expect(contents()).toEqual(before)
    expect(await quantityIn(path)).toBe(LATEST)
  })

  function pragma(file: string, text: string): void {
    const database = new Database(file)
    database.run(`PRAGMA ${text}`)
    database.close()
  }

  /** In a page that only a full check reads. */
  function spoil(file: string): void {
    const database = new Database(file, { readonly: true })
    const found = database
      .query<{ rootpage: number }, []>("SELECT rootpage FROM sqlite_schema WHERE name = 'stock_by_status'")
      .get()
    database.close()
    const bytes = readFileSync(file)
    const end = (found?.rootpage ?? 0) * 2_048
    bytes.fill(0xa5, end - 2_048, end)
    writeFileSync(file, bytes)
  }
})

describe('a backup', () => {
  test('is never opened in place, and no file is created next to it', () => {
    const elsewhere = join(folder, 'backups')
    mkdirSync(elsewhere)
    const file = join(elsewhere, 'backup.db')
    copyFileSync(backup, file)
    const before = readFileSync(file)
    for (const options of [
      { exclusive: true },
      { tables: 'migrate' },
      { tables: 'require_current_tables' },
    ] as const) {
      expect(() => openSqliteStore(file, options)).toThrow(`petstore restore ${file} restores it`)
    }
    expect([readdirSync(elsewhere), readFileSync(file).equals(before)]).toEqual([['backup.db'], true])
  })

  test('copied over the database by hand is restored without the other write-ahead log', async () => {
    copyFileSync(backup, path)
    expect(() => openSqliteStore(path)).toThrow(`petstore restore ${path} restores it`)
    restoreSqlite(path, path)
    expect(await quantityIn(path)).toBe(BACKED_UP)
  })
})
