import { SharedLimits } from '../../core/limits/shared-limits.ts'
import { keyVerbs } from '../keys.ts'
import { usageVerbs } from '../limits.ts'
import { orderVerbs } from '../orders.ts'
import type { Store } from '../store.ts'
import { Connection, type PostgresSettings } from './connection.ts'
import { contentVerbs } from './contents.ts'
import { exchangeVerbs } from './exchange.ts'
import { historyVerbs } from './history.ts'
import { inspectionVerbs } from './inspection.ts'
import { KnownLog } from './known-log.ts'
import { sharedLimitStore } from './limits.ts'
import { migrate } from './migrations.ts'
import { petVerbs } from './pets.ts'
import { stockVerbs } from './stock.ts'
import { stockChangeVerbs } from './stock-changes.ts'
import { stockEventVerbs } from './stock-events.ts'
import { StockWriter } from './stock-writer.ts'
import { readStoreTime } from './store-clock.ts'

export type { PostgresSettings } from './connection.ts'

export const DEFAULT_POSTGRES_SETTINGS: PostgresSettings = {
  poolSize: 10,
  connectTimeoutSeconds: 5,
  statementTimeoutSeconds: 10,
}

/** Opens the database at `url`, and brings its tables up to date. */
export async function openPostgresStore(url: string, settings: PostgresSettings): Promise<Store> {
  const connection = new Connection(url, settings)
  try {
    await migrate(connection)
  } catch (error) {
    await connection.close()
    throw error
  }
  const known = new KnownLog()
  const changes = stockChangeVerbs(connection, known)
  const writer = new StockWriter(connection, known, () => changes.loadStock(() => {}), settings.mostLate)
  return {
    // Only the database knows what other instances did.
    version: () => undefined,
    ...stockVerbs(connection, writer),
    ...historyVerbs(connection),
    ...changes,
    ...stockEventVerbs(connection),
    ...petVerbs(connection),
    ...orderVerbs(connection),
    ...keyVerbs(connection, {
      order: 'number',
      storeTime: () => readStoreTime(connection, settings.clock),
    }),
    ...usageVerbs(connection),
    openLimits: async () => new SharedLimits(sharedLimitStore(connection, settings.clock)),
    ...exchangeVerbs(connection),
    ...contentVerbs(connection),
    ...inspectionVerbs(connection),
    // Not a bare SELECT 1, which would answer on a database that has lost its tables.
    ping: async () => {
      await connection.run((sql) => sql`SELECT 1 FROM history LIMIT 1`)
    },
    close: () => connection.close(),
  }
}
