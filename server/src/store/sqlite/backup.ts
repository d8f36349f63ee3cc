import { Database } from 'bun:sqlite'
import { closeSync, openSync, readSync, truncateSync } from 'node:fs'
import type { Connection } from './connection.ts'
import { isLocked, troubleText } from './failures.ts'
import { createPrivateFile } from './private-file.ts'

/** Marks the file as a backup, in its header: so it is known before anything opens it, which might change it. */
const BACKUP_ID = 0x50736261
/** Where a SQLite file holds the number that PRAGMA application_id sets. */
const APPLICATION_ID_OFFSET = 68

export async function backUp(connection: Connection, path: string): Promise<void> {
  createPrivateFile(path, { mustBeNew: true })
  // `read` runs this again if the database is locked.
  await connection.read(() => {
    try {
      connection.database.run('VACUUM INTO ?', [path])
    } catch (error) {
      if (isLocked(error)) {
        // SQLite refuses to write into a file that is not empty.
        truncateSync(path)
        throw error
      }
      // The copy may be on another disk than the database.
      throw new Error(`no copy was made: ${troubleText(error, path)}`, { cause: error })
    }
  })
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
