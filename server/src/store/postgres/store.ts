import { historyVerbs } from '../history.ts'
import type { TablesMode } from '../opening.ts'
import { petVerbs } from '../pets.ts'
import type { Store } from '../store.ts'
import { Connection, type PostgresSettings } from './connection.ts'
import { contentVerbs } from './contents.ts'
import { transferVerbs } from './export.ts'
import { inspectionVerbs } from './inspection.ts'
import { keyVerbs } from './keys.ts'
import { limitVerbs } from './limits.ts'
import { logVerbs } from './log.ts'
import { migrate } from './migrations.ts'
import { orderVerbs } from './orders.ts'
import { petWriteVerbs } from './pets.ts'
import { requestCountVerbs } from './request-counts.ts'
import { stockVerbs } from './stock.ts'
import { storeClock } from './store-clock.ts'

export type { PostgresSettings } from './connection.ts'

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
  const clock = storeClock(settings.clock)
  try {
    await migrate(connection, tables)
  } catch (error) {
    await connection.close()
    throw error
  }
  return {
    isShared: true,
    ...stockVerbs(connection),
    ...logVerbs(connection),
    ...historyVerbs(connection),
    ...petVerbs(connection),
    ...petWriteVerbs(connection),
    ...orderVerbs(connection),
    ...keyVerbs(connection, clock),
    ...limitVerbs(connection, clock),
    ...requestCountVerbs(connection, settings.clock),
    ...transferVerbs(connection),
    ...contentVerbs(connection),
    ...inspectionVerbs(connection),
    // Not a bare SELECT 1, which would answer on a database that has lost its tables.
    ping: async () => {
      await connection.run((sql) => sql`SELECT 1 FROM log LIMIT 1`)
    },
    close: () => connection.close(),
  }
}
