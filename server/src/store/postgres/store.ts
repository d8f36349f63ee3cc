import { Worker } from 'node:worker_threads'
import { SharedLimits } from '../../core/limits/limit-keepers.ts'
import { historyVerbs } from '../history.ts'
import { answerVerbs } from '../idempotency.ts'
import { keyMethods } from '../keys.ts'
import { usageVerbs } from '../limits.ts'
import type { TablesMode } from '../opening.ts'
import { orderVerbs } from '../orders.ts'
import { petVerbs } from '../pets.ts'
import { searchVerbs } from '../search.ts'
import type { Store } from '../store.ts'
import { contentVerbs, transferVerbs } from '../transfer.ts'
import { webhookVerbs } from '../webhooks.ts'
import { Reader, workerAddress } from '../workers.ts'
import { Connection } from './connection.ts'
import { type PostgresSettings, sessionSettings } from './connection-options.ts'
import { findDroppedSettings, inspectionVerbs, ReadinessCheck } from './health.ts'
import { openImport } from './import.ts'
import { sharedLimitStore } from './limits.ts'
import { logVerbs } from './log.ts'
import { findNewerTables, migrate } from './migrations.ts'
import type { PostgresReaderStart } from './reader-worker.ts'
import { stockVerbs } from './stock.ts'
import { DatabaseClock, readStoreTime, storeClock } from './store-clock.ts'

export type { PostgresSettings } from './connection-options.ts'

const HOW_TO_BACK_UP =
  'back up PostgreSQL with its own tools: pg_dump --format=custom --file=FILE "$DATABASE_URL"'

export const DEFAULT_POSTGRES_SETTINGS: PostgresSettings = {
  poolSize: 10,
  connectTimeoutSeconds: 5,
  statementTimeoutSeconds: 10,
}

/** Opens the database at `url` and migrates its tables unless `tables` forbids it. */
export async function openPostgresStore(
  url: string,
  settings: PostgresSettings,
  tables: TablesMode = 'make',
): Promise<Store> {
  const connection = new Connection(url, settings, findNewerTables)
  let now = settings.clock
  let databaseClock: DatabaseClock | undefined
  try {
    await connection.connect()
    await migrate(connection, tables)
    if (now === undefined) {
      databaseClock = await DatabaseClock.open(connection)
      now = databaseClock.now
    }
  } catch (error) {
    await connection.close()
    throw error
  }
  const clock = storeClock(settings.clock)
  const log = logVerbs(connection)
  const readiness = new ReadinessCheck(connection)
  const reader = new Reader(() => {
    const { clock: _, ...copied } = settings
    const workerData: PostgresReaderStart = { url, settings: { ...copied, poolSize: 1 } }
    return new Worker(workerAddress('store/postgres/reader-worker.ts'), { workerData })
  })
  return {
    clock: now,
    ...stockVerbs(connection, clock),
    ...answerVerbs(connection),
    ...log,
    ...webhookVerbs(connection, log, {
      log: { from: 'log_places JOIN log ON id = log_id', place: 'place' },
      lease: { owner: `${process.pid} ${crypto.randomUUID()}`, clock },
    }),
    ...historyVerbs(connection),
    ...petVerbs(connection, now),
    ...searchVerbs(reader, clock),
    ...orderVerbs(connection, clock),
    ...keyMethods(connection, () => readStoreTime(connection, settings.clock)),
    ...usageVerbs(connection),
    openLimits: async (_clock, burstMs) =>
      new SharedLimits(sharedLimitStore(connection, settings.clock), burstMs),
    ...transferVerbs(connection, clock, () => openImport(connection, clock)),
    ...contentVerbs(connection),
    backupTo: () => Promise.reject(new Error(HOW_TO_BACK_UP)),
    ...inspectionVerbs(connection),
    ping: () => readiness.run(),
    findWrongSettings: () => findDroppedSettings(connection, sessionSettings(settings)),
    close: async () => {
      databaseClock?.close()
      await readiness.close()
      await reader.close()
      await connection.close()
    },
  }
}
