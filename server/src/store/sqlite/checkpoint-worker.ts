import { Database } from 'bun:sqlite'

declare const self: Worker

let database: Database | undefined

/** Runs a checkpoint of the database at `path`; without a path, closes the database. */
self.onmessage = ({ data: path }: MessageEvent<string | undefined>) => {
  try {
    if (path === undefined) database?.close()
    else {
      database ??= open(path)
      database.query('PRAGMA wal_checkpoint(PASSIVE)').get()
    }
  } catch {
    // The next checkpoint copies the rest.
  }
  self.postMessage(undefined)
}

function open(path: string): Database {
  const opened = new Database(path, { readwrite: true, create: false })
  // With FULL, a checkpoint flushes both the log and the database.
  opened.run('PRAGMA synchronous = FULL')
  opened.run('PRAGMA busy_timeout = 1000')
  return opened
}
