import type { Store } from '../../core/store.ts'
import { Connection } from './connection.ts'
import { inspectionVerbs } from './inspection.ts'
import { keyVerbs } from './keys.ts'
import { limitVerbs } from './limits.ts'
import { migrate } from './migrations.ts'
import { orderVerbs } from './orders.ts'
import { petVerbs } from './pets.ts'
import { stockVerbs } from './stock.ts'

/** Opens the file at `path`, makes it if there is none, and brings its tables up to date. */
export function openSqliteStore(path: string): Store {
  const connection = Connection.open(path)
  migrate(connection.database)
  connection.stopBlocking()
  return {
    ...stockVerbs(connection),
    ...petVerbs(connection),
    ...orderVerbs(connection),
    ...keyVerbs(connection),
    ...limitVerbs(connection),
    ...inspectionVerbs(connection),
    close: async () => connection.close(),
  }
}
