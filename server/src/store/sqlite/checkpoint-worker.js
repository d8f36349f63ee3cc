// Plain JavaScript, because the executable embeds this file as it is. See checkpointer.ts.
import { Database } from 'bun:sqlite'

let database

addEventListener('message', ({ data: path }) => {
  if (path === undefined) {
    database?.close()
    postMessage({})
    return
  }
  try {
    if (database === undefined) {
      database = new Database(path, { readwrite: true, create: false })
      // A checkpoint flushes both the log and the database.
      database.run('PRAGMA synchronous = FULL')
      database.run('PRAGMA busy_timeout = 1000')
    }
    database.query('PRAGMA wal_checkpoint(PASSIVE)').get()
    postMessage({})
  } catch (error) {
    postMessage({ error: String(error) })
  }
})
