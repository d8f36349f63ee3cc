import { Worker } from 'node:worker_threads'
import { SharedLimits } from '../../core/limits/shared-limits.ts'
import { SECOND } from '../../core/values/clock.ts'
import { adjustmentMethods } from '../adjustments.ts'
import { historyMethods } from '../history.ts'
import { answerMethods } from '../idempotency.ts'
import { keyMethods } from '../keys.ts'
import type { TablesMode } from '../opening.ts'
import { orderMethods } from '../orders.ts'
import { petMethods } from '../pets.ts'
import { reportMethods } from '../reports.ts'
import { LOAD_TIMEOUT_MS } from '../search.ts'
import { clockMethods } from '../steady-clock.ts'
import type { Store } from '../store.ts'
import { contentMethods, transferMethods } from '../transfer.ts'
import { webhookMethods } from '../webhooks.ts'
import { Reader, SEARCH_BUDGET_MS, searchMethods, workerAddress } from '../workers.ts'
import { Connection } from './connection.ts'
import { type PostgresSettings, sessionSettings } from './connection-options.ts'
import { findDamage, findWrongSettings, ReadinessCheck } from './health.ts'
import { importMethods } from './import.ts'
import { sharedLimitStore } from './limits.ts'
import { logMethods } from './log.ts'
import { migrate } from './migrations.ts'
import type { PostgresReaderData } from './reader-worker.ts'
import { stockMethods } from './stock.ts'
import { type DatabaseClock, openDatabaseClock, steadyStoreClock, storeClock } from './store-clock.ts'

const BACKUP_ADVICE =
  'back up PostgreSQL with its own tools: pg_dump --format=custom --file=FILE "$DATABASE_URL"'

export const DEFAULT_POSTGRES_SETTINGS: PostgresSettings = {
  poolSize: 10,
  // An address that has not answered by then is unreachable; the next host is tried.
  connectTimeoutSeconds: 5,
  // Longer than the statements of a busy server, and short enough to answer within the deadline of a request.
  statementTimeoutSeconds: 10,
}

/** Opens the database at `url` and migrates its tables unless `tables` forbids it. */
export async function openPostgresStore(
  url: string,
  settings: PostgresSettings,
  tables: TablesMode = 'migrate',
): Promise<Store> {
  const connection = new Connection(url, settings)
  let clock = settings.clock
  let databaseClock: DatabaseClock | undefined
  try {
    await connection.connect()
    await migrate(connection, tables)
    if (clock === undefined) {
      databaseClock = await openDatabaseClock(connection)
      clock = databaseClock.steadyClock.now
    }
  } catch (error) {
    await connection.close()
    throw error
  }
  // Without a clock of a test, statements read the clock of the database themselves. Limits and leases follow each of its jumps.
  const databaseTime = storeClock(settings.clock)
  const sqlClock = databaseClock === undefined ? databaseTime : steadyStoreClock(databaseClock.steadyClock)
  const log = logMethods(connection)
  const readiness = new ReadinessCheck(connection)
  const startWorker = () => {
    // The clock is a function, which cannot be sent to a worker.
    const { clock: _, ...workerSettings } = settings
    const workerData: PostgresReaderData = { url, settings: { ...workerSettings, poolSize: 1 } }
    return new Worker(workerAddress('store/postgres/reader-worker.ts'), { workerData })
  }
  const reader = new Reader(startWorker, { maxSilenceMs: maxSearchMs(settings) })
  return {
    clock,
    ...stockMethods(connection, sqlClock),
    ...answerMethods(connection),
    ...log,
    ...webhookMethods(connection, log, {
      log: { source: 'log_places JOIN log ON id = abs(log_id)', position: 'place' },
      lease: { owner: `${process.pid} ${crypto.randomUUID()}`, clock: databaseTime },
    }),
    ...historyMethods(connection),
    ...adjustmentMethods(connection),
    ...petMethods(connection),
    ...searchMethods(reader, sqlClock),
    ...orderMethods(connection, sqlClock),
    ...reportMethods(connection),
    ...keyMethods(connection),
    openLimits: async () => new SharedLimits(sharedLimitStore(connection, databaseTime)),
    ...transferMethods(connection, sqlClock),
    ...importMethods(connection, sqlClock),
    ...contentMethods(connection),
    backupTo: () => Promise.reject(new Error(BACKUP_ADVICE)),
    findDamage: () => findDamage(connection),
    ping: () => readiness.run(),
    finishErasures: async () => {},
    backup: undefined,
    ...clockMethods(connection, databaseClock?.steadyClock, 'the database server'),
    findWrongSettings: () => findWrongSettings(connection, sessionSettings(settings)),
    close: async () => {
      databaseClock?.close()
      await readiness.close()
      await reader.close()
      await connection.close()
    },
  }
}

/**
 * If searches are pending and the worker answers none of them for this time, it is replaced. The time is the sum of the timeouts
 * for connecting, for one statement, for loading the index and for searching it.
 */
function maxSearchMs({ connectTimeoutSeconds, statementTimeoutSeconds }: PostgresSettings): number {
  const serverMs = (connectTimeoutSeconds + statementTimeoutSeconds) * SECOND
  return serverMs + LOAD_TIMEOUT_MS + SEARCH_BUDGET_MS
}
