import type { OpenOptions } from '../opening.ts'
import type { Store } from '../store.ts'
import { Connection } from './connection.ts'
import { contentVerbs } from './contents.ts'
import { exchangeVerbs } from './exchange.ts'
import { historyVerbs } from './history.ts'
import { inspectionVerbs } from './inspection.ts'
import { keyVerbs } from './keys.ts'
import { LateStock } from './late-stock.ts'
import { limitVerbs } from './limits.ts'
import { migrate } from './migrations.ts'
import { orderVerbs } from './orders.ts'
import { petVerbs } from './pets.ts'
import { lockForServing } from './serve-lock.ts'
import { stockVerbs } from './stock.ts'
import { stockChangeVerbs } from './stock-changes.ts'
import { stockEventVerbs } from './stock-events.ts'

/** Opens the file at `path`, and makes it if there is none; its tables are brought up to date unless told otherwise. */
export function openSqliteStore(
  path: string,
  options: Partial<OpenOptions> & { readonly mostLate?: number } = {},
): Store {
  const connection = Connection.open(path)
  let lock: ReturnType<typeof lockForServing> | undefined
  try {
    // Before the tables are touched: an older program may serve them.
    if (options.exclusive === true && path !== ':memory:') lock = lockForServing(path)
    migrate(connection.database, options.tables ?? 'make')
  } catch (error) {
    lock?.close()
    connection.close()
    throw error
  }
  connection.stopBlocking()
  const late = new LateStock(connection, options.mostLate)
  // Not a bare SELECT 1, which would answer without a look at the file.
  const anyChange = connection.database.query('SELECT 1 FROM history LIMIT 1')
  return {
    isShared: false,
    version: () => connection.version(),
    ...stockVerbs(connection, late),
    ...historyVerbs(connection, late),
    ...stockChangeVerbs(connection, late),
    ...stockEventVerbs(connection),
    ...petVerbs(connection),
    ...orderVerbs(connection),
    ...keyVerbs(connection),
    ...limitVerbs(connection),
    ...exchangeVerbs(connection),
    ...contentVerbs(connection),
    ...inspectionVerbs(connection),
    ping: () => connection.read(() => void anyChange.get()),
    close: async () => {
      connection.close()
      lock?.close()
    },
  }
}
