import { Database } from 'bun:sqlite'
import type { Connection } from './connection.ts'
import { createPrivateFile } from './private-file.ts'

export function backUp(connection: Connection, path: string): Promise<void> {
  return connection.read(() => {
    createPrivateFile(path, { mustBeNew: true })
    connection.database.run('VACUUM INTO ?', [path])
    const copy = new Database(path)
    try {
      // Where it is served, it goes another way than the original: cursors of that one mean nothing in it.
      for (const text of connection.dialect.newIdentity) copy.run(text)
      const found = copy.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()
      if (found?.integrity_check !== 'ok') {
        throw new Error(`the copy is damaged: ${found?.integrity_check}; petstore doctor checks the database`)
      }
    } finally {
      copy.close()
    }
  })
}
