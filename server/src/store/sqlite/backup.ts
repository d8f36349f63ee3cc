import { Database } from 'bun:sqlite'
import { closeSync, openSync, readSync } from 'node:fs'
import type { Connection } from './connection.ts'
import { isLocked, troubleText } from './failures.ts'
import { createPrivateFile } from './private-file.ts'

/** Marks the file as a backup, in its header: so it is known before anything opens it, which might change it. */
const BACKUP_ID = 0x50736261
/** Where a SQLite file holds the number that PRAGMA application_id sets. */
const APPLICATION_ID_OFFSET = 68

export function backUp(connection: Connection, path: string): Promise<void> {
  return connection.read(() => {
    createPrivateFile(path, { mustBeNew: true })
    try {
      connection.database.run('VACUUM INTO ?', [path])
    } catch (error) {
      // The disk of the copy may be another than that of the database.
      throw isLocked(error)
        ? error
        : new Error(`no copy was made: ${troubleText(error, path)}`, { cause: error })
    }
    const copy = new Database(path)
    try {
      copy.run(`PRAGMA application_id = ${BACKUP_ID}`)
      const damage = integrityProblem(copy)
      if (damage !== undefined) {
        throw new Error(`the copy is damaged: ${damage}; petstore doctor checks the database`)
      }
    } finally {
      copy.close()
    }
  })
}

export function isBackup(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const mark = Buffer.alloc(4)
    return readSync(file, mark, 0, 4, APPLICATION_ID_OFFSET) === 4 && mark.readUInt32BE() === BACKUP_ID
  } finally {
    closeSync(file)
  }
}

/** What is wrong with the pages of the file; `undefined` where it is whole. */
export function integrityProblem(database: Database): string | undefined {
  const found = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()
  return found?.integrity_check === 'ok' ? undefined : (found?.integrity_check ?? 'it cannot be checked')
}
