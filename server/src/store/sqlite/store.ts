import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { LimitLedger } from '../../core/limits/rate-windows.ts'
import { latestChangeAt } from '../health.ts'
import { historyMethods } from '../history.ts'
import { answerMethods } from '../idempotency.ts'
import { findKey, keyMethods } from '../keys.ts'
import { ledgerStore, usageMethods } from '../limits.ts'
import type { OpenOptions } from '../opening.ts'
import { orderMethods } from '../orders.ts'
import { petMethods } from '../pets.ts'
import type { RowSource, StoreClock } from '../sql.ts'
import type { Store } from '../store.ts'
import { contentMethods, transferMethods } from '../transfer.ts'
import { webhookMethods } from '../webhooks.ts'
import { Reader, searchMethods, workerAddress } from '../workers.ts'
import { backUp, requireOpenable } from './backup.ts'
import { Connection } from './connection.ts'
import { lockForServing, newWritePause, realPathOf } from './database-files.ts'
import { damageAtStart, findDamage, readinessCheck } from './health.ts'
import { openImport } from './import.ts'
import { logMethods } from './log.ts'
import { migrate } from './migrations.ts'
import type { SqliteReaderData } from './reader-worker.ts'
import { stockMethods } from './stock.ts'

/** Opens or creates the file at `givenPath`, and migrates its tables unless the options forbid it. */
export function openSqliteStore(givenPath: string, options: Partial<OpenOptions> = {}): Store {
  // If the given path is a symbolic link, SQLite keeps the write-ahead log next to the real file.
  const path = realPathOf(givenPath)
  const { clock: now = Date.now } = options
  const clock: StoreClock = { nowSql: (placeholder) => placeholder, processTime: now }
  requireOpenable(path)
  let lock: ReturnType<typeof lockForServing> | undefined
  let openedConnection: Connection | undefined
  try {
    // The lock is taken before the file is opened, because another process may be serving or replacing the file.
    if (options.exclusive === true) {
      mkdirSync(dirname(path), { recursive: true })
      lock = lockForServing(path)
    }
    openedConnection = Connection.open(path)
    migrate(openedConnection.database, options.tables ?? 'migrate')
    if (lock !== undefined) {
      openedConnection.flushInBackground(options.onFlushFailure ?? (() => {}), options.checkpointAfterChanges)
    }
  } catch (error) {
    lock?.close()
    openedConnection?.database.close()
    throw error
  }
  const connection = openedConnection
  connection.disableLockWait()
  const damage = options.exclusive === true ? damageAtStart(path) : undefined
  const ping = readinessCheck(connection, [givenPath, `${path}-wal`], damage)
  const log = logMethods(connection)
  const reader = new Reader(
    () =>
      new Worker(workerAddress('store/sqlite/reader-worker.ts'), {
        workerData: { path, startSignal: options.readerStartSignal } satisfies SqliteReaderData,
      }),
    // The worker may have read commits that are not flushed yet, so its answers wait for the flush.
    { deliver: (answer) => connection.read(() => answer) },
  )
  // Looking up a key or the revision of a webhook does not wait for the disk. This is safe: a new key is returned to its owner
  // only after the flush. A lookup may see a revoked key or a changed webhook before the flush. Then the key is refused, or
  // the deliveries stop, a moment too early, which does no harm.
  const unflushedSource: RowSource = {
    rows: (text, ...values) => connection.rowsUnflushed(text, ...values),
  }
  // These methods may examine many log rows, so the worker runs them.
  const { listRecentHistory, listPetEdits } = historyMethods(reader)
  return {
    clock: now,
    ...stockMethods(connection, now),
    ...answerMethods(connection),
    ...log,
    ...webhookMethods(connection, log, {
      log: { source: 'log', position: 'id' },
      unflushedSource,
    }),
    ...historyMethods(connection),
    listRecentHistory,
    listPetEdits,
    ...petMethods(connection, now),
    ...searchMethods(reader, clock),
    ...orderMethods(connection, clock),
    ...keyMethods(connection),
    findKey: (hash) => findKey(unflushedSource, hash),
    ...usageMethods(connection),
    openLimits: (limitClock, burstMs) => LimitLedger.open(ledgerStore(connection), limitClock, burstMs),
    ...transferMethods(connection, clock, () => openImport(connection, clock)),
    ...contentMethods(connection),
    backupTo: (backupPath) => backUp(connection, backupPath),
    writePause: newWritePause(path),
    findDamage: () => findDamage(connection),
    latestChangeAt: () => latestChangeAt(connection),
    findWrongSettings: async () => [],
    ping,
    close: async () => {
      await reader.close()
      await connection.close()
      lock?.close()
    },
  }
}
