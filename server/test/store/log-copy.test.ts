import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { restoreSqlite } from '../../src/store/sqlite/backup.ts'
import { openBackupFolder } from '../../src/store/sqlite/backup-folder.ts'
import { LogCopy } from '../../src/store/sqlite/log-copy.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { memoryFolder } from '../support/memory-folder.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { change, pet } from './plain-rows.ts'

setDefaultTimeout(60_000)

/** Short, so that the log is restarted often. */
const MAX_LOG_BYTES = 100_000

let folder: string
let store: Store | undefined
const path = () => join(folder, 'petstore.db')
const backup = () => join(folder, 'backup')
const restored = () => join(folder, 'restored.db')

beforeEach(() => {
  folder = temporaryFolder(memoryFolder())
  mkdirSync(backup())
})
afterEach(async () => {
  await store?.close()
  store = undefined
})

async function openShop(): Promise<Store> {
  store = openSqliteStore(path(), { exclusive: true, backupFolder: backup(), maxLogBytes: MAX_LOG_BYTES })
  if ((await store.countPets()) === 0) await addPets(store, [pet(1n, 0)])
  return store
}

let quantity = 0
async function update(times: number): Promise<void> {
  for (let made = 0; made < times; made++) {
    await store?.changeStock([change(1n, ++quantity)])
    // The answers of the worker arrive in later turns of the event loop.
    if (made % 5 === 0) await Bun.sleep(1)
  }
}

/** A copy that is running already may have begun before the last commit. */
async function copyAll(): Promise<void> {
  await store?.backup?.copy()
  await store?.backup?.copy()
}

async function copyWithSnapshot(): Promise<void> {
  await until(async () => {
    await store?.backup?.copy()
    return readdirSync(backup()).some((name) => name.endsWith('.db'))
  })
}

const namesEndingIn = (end: string) =>
  readdirSync(backup())
    .filter((name) => name.endsWith(end))
    .sort()

function restoredQuantity(): number | undefined {
  restoreSqlite(backup(), restored())
  const database = new Database(restored(), { readonly: true })
  try {
    const integrity = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check').get()
    expect(integrity?.integrity_check).toBe('ok')
    return database.query<{ quantity: number }, []>('SELECT quantity FROM stock').get()?.quantity
  } finally {
    database.close()
  }
}

test('SQLite alone restores it: a snapshot, and then each log as its write-ahead log', async () => {
  await openShop()
  await copyWithSnapshot()
  await update(300)
  await copyAll()
  const [snapshot = ''] = namesEndingIn('.db')
  cpSync(join(backup(), snapshot), restored())
  for (const log of namesEndingIn('.wal')) {
    cpSync(join(backup(), log), `${restored()}-wal`)
    const database = new Database(restored())
    database.run('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
  }
  const database = new Database(restored())
  expect(database.query('SELECT quantity FROM stock').get()).toEqual({ quantity })
  database.close()
})

test('commits of another process are copied, whatever it checkpoints', async () => {
  await openShop()
  await copyWithSnapshot()
  const other = new Database(path())
  for (let round = 0; round < 20; round++) {
    quantity++
    other.run('UPDATE stock SET quantity = ?', [quantity])
    other.run('PRAGMA wal_checkpoint(TRUNCATE)')
    if (round % 3 === 0) await copyAll()
  }
  await copyAll()
  expect(restoredQuantity()).toBe(quantity)
  // The mark has kept the log from being restarted, or every restart was copied.
  expect(namesEndingIn('.db')).toHaveLength(1)
  other.close()
})

test('a start continues with a new snapshot, and the earlier run can still be restored', async () => {
  await openShop()
  await copyWithSnapshot()
  await update(50)
  await store?.close()
  expect(restoredQuantity()).toBe(quantity)
  const before = Date.now()
  const quantityBefore = quantity
  await Bun.sleep(2)
  await openShop()
  await update(50)
  await copyWithSnapshot()
  await until(async () => {
    await store?.backup?.copy()
    return namesEndingIn('.db').length === 2
  })
  expect(restoredQuantity()).toBe(quantity)
  restoreSqlite(backup(), restored(), before)
  const database = new Database(restored())
  expect(database.query('SELECT quantity FROM stock').get()).toEqual({ quantity: quantityBefore })
  database.close()
})

describe('while the folder is missing', () => {
  const away = () => join(folder, 'away')
  async function failingCopy(): Promise<void> {
    const failure = await store?.backup?.copy().catch((error: Error) => error.message)
    expect(failure).toContain(`cannot copy the database to ${backup()}`)
  }

  test('the log is kept, and copied when the folder is back', async () => {
    await openShop()
    await copyWithSnapshot()
    await update(10)
    renameSync(backup(), away())
    await update(60)
    await failingCopy()
    const age = store?.backup?.ageMs ?? 0
    renameSync(away(), backup())
    await copyAll()
    expect(store?.backup?.ageMs).toBeLessThan(age)
    expect(restoredQuantity()).toBe(quantity)
    expect(namesEndingIn('.db')).toHaveLength(1)
  })

  test('the log stays within a bound, and a new snapshot follows the gap', async () => {
    await openShop()
    await copyWithSnapshot()
    renameSync(backup(), away())
    await update(1_500)
    await failingCopy()
    expect(statSync(`${path()}-wal`).size).toBeLessThan(12 * MAX_LOG_BYTES)
    expect(existsSync(backup())).toBe(false)
    renameSync(away(), backup())
    await until(async () => {
      await copyAll()
      return namesEndingIn('.db').length === 2
    })
    await update(10)
    await copyAll()
    expect(restoredQuantity()).toBe(quantity)
  })
})

describe('a damaged folder', () => {
  function flipByte(name: string): void {
    const bytes = readFileSync(join(backup(), name))
    const middle = bytes.length >> 1
    bytes[middle] = (bytes[middle] ?? 0) ^ 1
    writeFileSync(join(backup(), name), bytes)
  }

  test('with a damaged log is refused', async () => {
    await openShop()
    await copyWithSnapshot()
    await update(400)
    await copyAll()
    flipByte(namesEndingIn('.wal')[0] ?? '')
    expect(() => restoreSqlite(backup(), restored())).toThrow('.wal is damaged; --at restores')
  })

  test('with a damaged snapshot is restored from the one before it', async () => {
    await openShop()
    await copyWithSnapshot()
    await update(5)
    await store?.close()
    await openShop()
    await until(async () => {
      await store?.backup?.copy()
      return namesEndingIn('.db').length === 2
    })
    flipByte(namesEndingIn('.db')[1] ?? '')
    const { rebuilt } = restoreSqlite(backup(), restored())
    expect(rebuilt?.notes.join()).toContain('is damaged, so an earlier snapshot was used')
    expect(restoredQuantity()).toBe(quantity)
  })
})

test('a snapshot is not completed if the copy was given up while the folder did not answer', async () => {
  const database = new Database(path())
  database.run('PRAGMA journal_mode = WAL')
  database.run('CREATE TABLE stock (quantity INTEGER)')
  const databaseFile = openSync(path(), 'r')
  const written = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const folderOfBackup = openBackupFolder(backup())
  const logCopy = new LogCopy({
    databasePath: path(),
    databaseFile,
    folder: {
      ...folderOfBackup,
      write: async (name, bytes, position) => {
        if (name.endsWith('.partial')) {
          written.resolve()
          await answer.promise
        }
        await folderOfBackup.write(name, bytes, position)
      },
    },
  })
  const copying = logCopy.copy().catch((error: Error) => error.message)
  await written.promise
  logCopy.discard()
  database.run('INSERT INTO stock VALUES (1)')
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  answer.resolve()
  expect(await copying).toBe('the log has become too long')
  expect(namesEndingIn('.db')).toEqual([])
  expect(await logCopy.copy()).toBe(true)
  logCopy.close()
  database.close()
  closeSync(databaseFile)
})
