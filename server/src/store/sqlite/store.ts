import { LimitLedger } from '../../core/limits/rate-windows.ts'
import { contentVerbs } from '../contents.ts'
import { exportVerbs } from '../export.ts'
import { historyVerbs } from '../history.ts'
import { answerVerbs } from '../idempotency.ts'
import { keyVerbs } from '../keys.ts'
import { usageVerbs } from '../limits.ts'
import type { OpenOptions } from '../opening.ts'
import { orderVerbs } from '../orders.ts'
import { petVerbs } from '../pets.ts'
import type { Store } from '../store.ts'
import { backUp } from './backup.ts'
import { Connection } from './connection.ts'
import { stageOrders, stagePets } from './import.ts'
import { inspectionVerbs } from './inspection.ts'
import { ledgerStore } from './limits.ts'
import { logVerbs } from './log.ts'
import { migrate } from './migrations.ts'
import { lockForServing } from './serve-lock.ts'
import { stockVerbs } from './stock.ts'

/** Opens the file at `path`, and makes it if there is none; its tables are brought up to date unless told otherwise. */
export function openSqliteStore(path: string, options: Partial<OpenOptions> = {}): Store {
  const { clock: now = Date.now } = options
  const clock = { sql: (given: string) => given, given: now }
  const connection = Connection.open(path)
  let lock: ReturnType<typeof lockForServing> | undefined
  try {
    // Before the tables are touched: an older program may serve them.
    if (options.exclusive === true && path !== ':memory:') lock = lockForServing(path)
    migrate(connection.database, options.tables ?? 'make')
  } catch (error) {
    lock?.close()
    connection.database.close()
    throw error
  }
  connection.stopBlocking()
  // Not a bare SELECT 1, which would answer without a look at the file.
  const anyChange = connection.database.query('SELECT 1 FROM log LIMIT 1')
  return {
    ...stockVerbs(connection, now),
    ...answerVerbs(connection),
    ...logVerbs(connection),
    ...historyVerbs(connection),
    ...petVerbs(connection),
    ...orderVerbs(connection, clock),
    ...keyVerbs(connection),
    ...usageVerbs(connection),
    openLimits: (clock) => LimitLedger.open(ledgerStore(connection), clock),
    stagePets: () => stagePets(connection),
    stageOrders: () => stageOrders(connection, clock),
    ...exportVerbs(connection, clock),
    ...contentVerbs(connection),
    backupTo: (path) => backUp(connection, path),
    ...inspectionVerbs(connection),
    ping: () => connection.read(() => void anyChange.get()),
    close: async () => {
      await connection.close()
      lock?.close()
    },
  }
}
