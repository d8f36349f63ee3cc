import { SharedLimits } from '../../core/limits/shared-limits.ts'
import { contentVerbs } from '../contents.ts'
import { exportVerbs } from '../export.ts'
import { historyVerbs } from '../history.ts'
import { answerVerbs } from '../idempotency.ts'
import { keyVerbs } from '../keys.ts'
import { usageVerbs } from '../limits.ts'
import type { TablesMode } from '../opening.ts'
import { orderVerbs } from '../orders.ts'
import { petVerbs } from '../pets.ts'
import type { Store } from '../store.ts'
import { Connection, type PostgresSettings } from './connection.ts'
import { stageOrders, stagePets } from './import.ts'
import { inspectionVerbs } from './inspection.ts'
import { sharedLimitStore } from './limits.ts'
import { logVerbs } from './log.ts'
import { migrate } from './migrations.ts'
import { stockVerbs } from './stock.ts'
import { readStoreTime, storeClock } from './store-clock.ts'

export type { PostgresSettings } from './connection.ts'

const HOW_TO_BACK_UP =
  'a PostgreSQL database is backed up with its own tools: pg_dump --format=custom --file=FILE "$DATABASE_URL"'

export const DEFAULT_POSTGRES_SETTINGS: PostgresSettings = {
  poolSize: 10,
  connectTimeoutSeconds: 5,
  statementTimeoutSeconds: 10,
}

/** Opens the database at `url`; its tables are brought up to date unless told otherwise. */
export async function openPostgresStore(
  url: string,
  settings: PostgresSettings,
  tables: TablesMode = 'make',
): Promise<Store> {
  const connection = new Connection(url, settings)
  try {
    await migrate(connection, tables)
  } catch (error) {
    await connection.close()
    throw error
  }
  const clock = storeClock(settings.clock)
  return {
    ...stockVerbs(connection, clock),
    ...answerVerbs(connection),
    ...logVerbs(connection),
    ...historyVerbs(connection),
    ...petVerbs(connection),
    ...orderVerbs(connection, clock),
    ...keyVerbs(connection, () => readStoreTime(connection, settings.clock)),
    ...usageVerbs(connection),
    openLimits: async () => new SharedLimits(sharedLimitStore(connection, settings.clock)),
    stagePets: () => stagePets(connection),
    stageOrders: () => stageOrders(connection, clock),
    ...exportVerbs(connection, clock),
    ...contentVerbs(connection),
    backupTo: () => Promise.reject(new Error(HOW_TO_BACK_UP)),
    ...inspectionVerbs(connection),
    // Not a bare SELECT 1, which would answer on a database that has lost its tables.
    ping: async () => {
      await connection.run((sql) => sql`SELECT 1 FROM log LIMIT 1`)
    },
    close: () => connection.close(),
  }
}
