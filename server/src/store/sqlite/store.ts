import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { LimitLedger } from '../../core/limits/limit-keepers.ts'
import { historyVerbs } from '../history.ts'
import { answerVerbs } from '../idempotency.ts'
import { keyMethods } from '../keys.ts'
import { ledgerStore, usageVerbs } from '../limits.ts'
import type { OpenOptions } from '../opening.ts'
import { orderVerbs } from '../orders.ts'
import { petVerbs } from '../pets.ts'
import { searchVerbs } from '../search.ts'
import type { SqlDatabase } from '../sql.ts'
import type { Store } from '../store.ts'
import { contentVerbs, transferVerbs } from '../transfer.ts'
import { webhookVerbs } from '../webhooks.ts'
import { Reader, workerAddress } from '../workers.ts'
import { backUp, requireUsable } from './backup.ts'
import { Connection } from './connection.ts'
import { lockForServing, writePause } from './database-files.ts'
import { damageAtStart, inspectionVerbs, readinessCheck } from './health.ts'
import { openImport } from './import.ts'
import { logVerbs } from './log.ts'
import { migrate } from './migrations.ts'
import type { SqliteReaderStart } from './reader-worker.ts'
import { stockVerbs } from './stock.ts'

/** Opens the file at `path`, or creates it, and migrates its tables unless the options say otherwise. */
export function openSqliteStore(path: string, options: Partial<OpenOptions> = {}): Store {
  const { clock: now = Date.now } = options
  const clock = { sql: (given: string) => given, given: now }
  requireUsable(path)
  let lock: ReturnType<typeof lockForServing> | undefined
  let opened: Connection | undefined
  try {
    // Lock before the file is touched: another process may be serving or replacing it.
    if (options.exclusive === true && path !== ':memory:') {
      mkdirSync(dirname(path), { recursive: true })
      lock = lockForServing(path)
    }
    opened = Connection.open(path)
    migrate(opened.database, options.tables ?? 'make')
    if (lock !== undefined) {
      opened.flushInBackground(options.onFlushFailure ?? (() => {}), options.checkpointAfterChanges)
    }
  } catch (error) {
    lock?.close()
    opened?.database.close()
    throw error
  }
  const connection = opened
  connection.stopBlocking()
  const damage = options.exclusive === true ? damageAtStart(path) : undefined
  const ping = readinessCheck(connection, path, damage)
  const log = logVerbs(connection)
  const reader = new Reader(
    () =>
      new Worker(workerAddress('store/sqlite/reader-worker.ts'), {
        workerData: {
          path,
          ...(options.readerGate === undefined ? {} : { gate: options.readerGate }),
        } satisfies SqliteReaderStart,
      }),
    // The worker may have read commits that are not flushed yet, so its results wait like reads of this connection.
    (answer) => connection.read(() => answer),
  )
  return {
    clock: now,
    ...stockVerbs(connection, now),
    ...answerVerbs(connection),
    ...log,
    ...webhookVerbs(connection, log, { log: { from: 'log', place: 'id' } }),
    ...historyVerbs(connection),
    listRecentHistory: historyVerbs(reader).listRecentHistory,
    ...petVerbs(connection, now),
    ...searchVerbs(reader, clock),
    ...orderVerbs(connection, clock),
    ...keyMethods(connection),
    findKey: keyMethods(unflushed(connection)).findKey,
    ...usageVerbs(connection),
    openLimits: (clock, burstMs) => LimitLedger.open(ledgerStore(connection), clock, burstMs),
    ...transferVerbs(connection, clock, () => openImport(connection, clock)),
    ...contentVerbs(connection),
    backupTo: (path) => backUp(connection, path),
    writePause: writePause(path),
    ...inspectionVerbs(connection),
    findWrongSettings: async () => [],
    ping,
    close: async () => {
      await reader.close()
      await connection.close()
      lock?.close()
    },
  }
}

/**
 * Reads commits without waiting for their flush, so that looking up a key does not wait for the disk. A new key is
 * returned to its owner after the flush, and refusing a revoked key a moment too early does no harm.
 */
function unflushed(connection: Connection): SqlDatabase {
  return {
    dialect: connection.dialect,
    rows: (text, ...values) => connection.rowsUnflushed(text, ...values),
    commit: (statements, durability) => connection.commit(statements, durability),
    longSession: () => connection.longSession(),
  }
}
