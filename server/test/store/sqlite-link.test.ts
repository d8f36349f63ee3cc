import { beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { restoreSqlite } from '../../src/store/sqlite/backup.ts'
import { deletedWriteAheadLogOf } from '../../src/store/sqlite/database-files.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { addPets } from '../support/add-pets.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { change, pet } from './plain-rows.ts'

let folder: string
let path: string
let link: string
/** The link is relative, and the database does not exist yet. */
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder, 'data', 'petstore.db')
  mkdirSync(join(folder, 'data'))
  mkdirSync(join(folder, 'links'))
  link = join(folder, 'links', 'link.db')
  symlinkSync('../data/petstore.db', link)
})

describe('a database behind a symbolic link', () => {
  test('is created where the link points, and all its files are there', async () => {
    const store = openSqliteStore(link, { exclusive: true })
    await addPets(store, [pet(1n, 1)])
    expect(readdirSync(join(folder, 'links'))).toEqual(['link.db'])
    expect(readdirSync(join(folder, 'data')).sort()).toEqual(
      ['', '-serving', '-shm', '-wal'].map((suffix) => `petstore.db${suffix}`),
    )
    await store.close()
  })

  test('is served by one process, also if the file was missing when it started', async () => {
    const store = openSqliteStore(link, { exclusive: true })
    for (const name of [link, path]) {
      expect(() => openSqliteStore(name, { exclusive: true })).toThrow('another process serves this database')
    }
    await store.close()
  })

  test('is checkpointed in the background', async () => {
    const store = openSqliteStore(link, { exclusive: true, maxLogBytes: 8_192 })
    const before = readFileSync(path)
    await addPets(store, [pet(1n, 1)])
    await store.changeStock([change(1n, 2)])
    await until(() => !readFileSync(path).equals(before))
    await store.close()
  })

  test('has a write-ahead log whose deletion is noticed, but not reported while it exists', async () => {
    const store = openSqliteStore(link, { exclusive: true })
    await addPets(store, [pet(1n, 1)])
    await store.ping()
    expect(deletedWriteAheadLogOf(link)).toBeUndefined()
    rmSync(`${path}-wal`)
    expect(deletedWriteAheadLogOf(link)).toBe(`${path}-wal`)
    await expect(store.ping()).rejects.toThrow(`${path}-wal was deleted or replaced`)
    await store.close()
  })

  test('that existed before it was served has no deleted write-ahead log', async () => {
    await openSqliteStore(path).close()
    const store = openSqliteStore(link, { exclusive: true })
    expect(deletedWriteAheadLogOf(link)).toBeUndefined()
    await store.close()
  })

  test('is not ready after the link was changed to another file', async () => {
    const store = openSqliteStore(link, { exclusive: true })
    await store.ping()
    rmSync(link)
    symlinkSync('../data/other.db', link)
    await expect(store.ping()).rejects.toThrow(`${link} was deleted or replaced`)
    await store.close()
  })

  test('is restored where the link points if the file is missing', async () => {
    const backup = join(folder, 'backup.db')
    const store = openSqliteStore(join(folder, 'other.db'))
    await store.backupTo(backup)
    await store.close()
    restoreSqlite(backup, link)
    expect(readdirSync(join(folder, 'links'))).toEqual(['link.db'])
    expect(statSync(path).isFile()).toBe(true)
  })
})

test('a circle of symbolic links is refused', () => {
  const circle = join(folder, 'circle.db')
  symlinkSync('circle.db', circle)
  expect(() => openSqliteStore(circle, { exclusive: true })).toThrow()
})
