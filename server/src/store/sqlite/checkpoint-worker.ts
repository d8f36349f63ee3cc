import { Database } from 'bun:sqlite'

declare const self: Worker

let database: Database | undefined

/** Checkpoints the database at `path`, or closes the database if there is no path. */
self.onmessage = ({ data: path }: MessageEvent<string | undefined>) => {
  try {
    if (path === undefined) database?.close()
    else {
      database ??= open(path)
      database.query('PRAGMA wal_checkpoint(PASSIVE)').get()
    }
  } catch {
    // The next checkpoint copies the rest of the log.
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
