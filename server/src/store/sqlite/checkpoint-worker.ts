import { Database } from 'bun:sqlite'

declare const self: Worker

let database: Database | undefined
/** The pages of the log that had been copied at the end of the previous step. */
let copiedBefore = 0

/** Checkpoints the database at `path`, or closes the database if there is no path. */
self.onmessage = ({ data: path }: MessageEvent<string | undefined>) => {
  let copiedPages = 0
  try {
    if (path === undefined) database?.close()
    else {
      database ??= open(path)
      copiedPages = checkpoint(database)
    }
  } catch {
    // The next checkpoint copies the rest of the log.
  }
  self.postMessage(copiedPages)
}

/** Returns the number of pages that were copied, except for a log that was restarted and is longer than before. */
function checkpoint(database: Database): number {
  const query = database.query<{ checkpointed: number }, []>('PRAGMA wal_checkpoint(PASSIVE)')
  const checkpointed = query.get()?.checkpointed ?? 0
  const copiedPages = checkpointed < copiedBefore ? checkpointed : checkpointed - copiedBefore
  copiedBefore = checkpointed
  return copiedPages
}

function open(path: string): Database {
  const opened = new Database(path, { readwrite: true, create: false })
  // With FULL, a checkpoint flushes both the log and the database.
  opened.run('PRAGMA synchronous = FULL')
  opened.run('PRAGMA busy_timeout = 1000')
  return opened
}
