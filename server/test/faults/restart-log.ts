import { Database } from 'bun:sqlite'

/** Does a checkpoint of the database that is named, after which the write-ahead log starts again at its beginning. */
const database = new Database(process.argv[2])
database.run('PRAGMA busy_timeout = 5000')
database.run('PRAGMA wal_checkpoint(RESTART)')
database.close()
