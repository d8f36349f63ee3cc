import { Database } from 'bun:sqlite'

/** Runs a checkpoint of the named database, after which the write-ahead log restarts at its beginning. */
const database = new Database(process.argv[2])
database.run('PRAGMA busy_timeout = 5000')
database.run('PRAGMA wal_checkpoint(RESTART)')
database.close()
