import { Database } from 'bun:sqlite'
import { closeSync, openSync, writeSync } from 'node:fs'
import { userInfo } from 'node:os'

const GARBAGE = 0xa5

/** Holds the lock of a database until it is closed, like a process with a long write. */
export function lockedFile(path: string): Database {
  const database = new Database(path)
  database.run('PRAGMA busy_timeout = 5000')
  database.run('BEGIN EXCLUSIVE')
  return database
}

/** Overwrites the first page of a table, like a failing disk. */
export function damageTable(path: string, table: string): void {
  const database = new Database(path, { readonly: true })
  const root = database
    .query<{ rootpage: number }, [string]>('SELECT rootpage FROM sqlite_schema WHERE name = ?')
    .get(table)?.rootpage
  const size = database.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size
  database.close()
  if (root === undefined || size === undefined) throw new Error(`there is no table ${table}`)
  overwrite(path, (root - 1) * size, size)
}

export function overwrite(path: string, from: number, length: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, new Uint8Array(length).fill(GARBAGE), 0, length, from)
  closeSync(file)
}

/** Starts a program that respects file permissions: root ignores them, unless it drops that capability. */
export const BOUND_BY_RIGHTS: readonly string[] =
  userInfo().uid === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : []
