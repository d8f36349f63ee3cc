import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { backUp, isBackup } from '../../src/store/sqlite/backup.ts'
import { Connection } from '../../src/store/sqlite/connection.ts'
import { migrate } from '../../src/store/sqlite/migrations.ts'
import { lockedFile } from '../faults/disk/spoilt-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let folder: string
let connection: Connection
beforeEach(() => {
  folder = temporaryFolder()
  connection = Connection.open(join(folder, 'petstore.db'))
  migrate(connection.database, 'migrate')
  // Without a write-ahead log, a writer blocks readers.
  connection.database.run('PRAGMA journal_mode = DELETE')
  connection.disableLockWait()
})
afterEach(async () => {
  await connection.close()
})

test('a backup that meets a lock is made as soon as the lock is released', async () => {
  const path = join(folder, 'backup.db')
  const other = lockedFile(join(folder, 'petstore.db'))
  // The first attempt has failed by the time the call returns.
  const backup = backUp(connection, path)
  other.close()
  await backup
  expect(isBackup(path)).toBe(true)
  const copy = new Database(path, { readonly: true })
  expect(copy.query('SELECT count(*) AS pets FROM pets').get()).toEqual({ pets: 0 })
  copy.close()
})
