import { LimitLedger } from '../../core/limits/limit-ledger.ts'
import { keyVerbs } from '../keys.ts'
import { usageVerbs } from '../limits.ts'
import { orderVerbs } from '../orders.ts'
import type { Store } from '../store.ts'
import { Connection } from './connection.ts'
import { contentVerbs } from './contents.ts'
import { exchangeVerbs } from './exchange.ts'
import { historyVerbs } from './history.ts'
import { inspectionVerbs } from './inspection.ts'
import { LateStock } from './late-stock.ts'
import { ledgerStore } from './limits.ts'
import { migrate } from './migrations.ts'
import { petVerbs } from './pets.ts'
import { stockVerbs } from './stock.ts'
import { stockChangeVerbs } from './stock-changes.ts'
import { stockEventVerbs } from './stock-events.ts'

/** Opens the file at `path`, makes it if there is none, and brings its tables up to date. */
export function openSqliteStore(path: string, options: { readonly mostLate?: number } = {}): Store {
  const connection = Connection.open(path)
  migrate(connection.database)
  connection.stopBlocking()
  const late = new LateStock(connection, options.mostLate)
  // Not a bare SELECT 1, which would answer without a look at the file.
  const anyChange = connection.database.query('SELECT 1 FROM history LIMIT 1')
  return {
    version: () => connection.version(),
    ...stockVerbs(connection, late),
    ...historyVerbs(connection, late),
    ...stockChangeVerbs(connection, late),
    ...stockEventVerbs(connection),
    ...petVerbs(connection),
    ...orderVerbs(connection),
    ...keyVerbs(connection, { order: 'rowid' }),
    ...usageVerbs(connection),
    openLimits: (clock) => LimitLedger.open(ledgerStore(connection), clock),
    ...exchangeVerbs(connection),
    ...contentVerbs(connection),
    ...inspectionVerbs(connection),
    ping: () => connection.read(() => void anyChange.get()),
    close: async () => connection.close(),
  }
}
