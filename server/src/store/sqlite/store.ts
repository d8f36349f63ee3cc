import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { LimitLedger } from '../../core/limits/rate-windows.ts'
import { adjustmentMethods } from '../adjustments.ts'
import { historyMethods } from '../history.ts'
import { answerMethods } from '../idempotency.ts'
import { findKey, keyMethods } from '../keys.ts'
import { ledgerStore } from '../limits.ts'
import type { OpenOptions } from '../opening.ts'
import { orderMethods } from '../orders.ts'
import { petMethods } from '../pets.ts'
import { reportMethods } from '../reports.ts'
import type { RowSource, SqlDatabase, StoreClock } from '../sql.ts'
import { bootId, clockMethods, SAVED_OFFSET, SteadyClock } from '../steady-clock.ts'
import type { Store } from '../store.ts'
import { contentMethods, transferMethods } from '../transfer.ts'
import { webhookMethods } from '../webhooks.ts'
import { Reader, type ReaderWorker, searchMethods, workerAddress } from '../workers.ts'
import { backUp, requireOpenable, saveLostDatabase, takeOver } from './backup.ts'
import { Connection, type Disk } from './connection.ts'
import { lockForServing, realPathOf } from './database-files.ts'
import { toSqlite } from './dialect.ts'
import { damageAtStart, findDamage, readinessCheck } from './health.ts'
import { importMethods } from './import.ts'
import { logMethods } from './log.ts'
import { LogBackup } from './log-backup.ts'
import { migrate } from './migrations.ts'
import type { SqliteReaderData } from './read-connection.ts'
import { stockMethods } from './stock.ts'

interface SqliteOptions extends Partial<OpenOptions> {
  // Ports that tests replace.
  readonly disk?: Disk
  readonly startReader?: (data: SqliteReaderData) => ReaderWorker
}

/** Opens or creates the file at `givenPath`, and migrates its tables unless the options forbid it. */
export function openSqliteStore(givenPath: string, options: SqliteOptions = {}): Store {
  // If the given path is a symbolic link, SQLite keeps the write-ahead log next to the real file.
  const path = realPathOf(givenPath)
  requireOpenable(path, options.exclusive)
  /** The path at which new connections find the contents: that of a copy if the file is gone. */
  let readablePath = path
  const { connection, lock, backup } = openFile(path, options, (copy) => {
    readablePath = copy
  })
  const steadyClock = openSteadyClock(connection)
  const { clock: now = () => steadyClock.followTime(Date.now()) } = options
  const clock: StoreClock = { nowSql: (placeholder) => placeholder, processTime: now, isCredible: () => true }
  connection.disableLockWait()
  const damage = options.exclusive === true ? damageAtStart(path) : undefined
  const ping = readinessCheck(connection, [givenPath, `${path}-wal`], damage)
  const log = logMethods(connection)
  const { startReader = startReaderWorker } = options
  const reader = new Reader(
    () => startReader({ path: readablePath, startSignal: options.readerStartSignal }),
    // The worker may have read commits that are not flushed yet, so its answers wait for the flush.
    { deliver: (answer) => connection.read(() => answer) },
  )
  // Looking up a key does not wait for the disk. This is safe: a new key is returned to its owner only after the flush. A lookup
  // may see a revoked key before the flush. Then the key is refused a moment too early, which does no harm.
  const unflushedSource: RowSource = {
    rows: (text, ...values) => connection.rowsUnflushed(text, ...values),
  }
  const readerSource: Pick<SqlDatabase, 'rows' | 'dialect'> = {
    dialect: connection.dialect,
    rows: (text, ...values) => reader.rows(text, ...values),
  }
  // These methods may examine many log rows, so the worker runs them.
  const { listRecentHistory, listPetEdits } = historyMethods(reader)
  const orders = orderMethods(connection, clock)
  // A search by customer or time may examine many orders, and the availability of 1,000 pets has as many lookups.
  const { listOrders: searchOrders, listAvailability } = orderMethods(readerSource, clock)
  return {
    clock: now,
    ...stockMethods(connection, now),
    ...answerMethods(connection),
    ...log,
    ...webhookMethods(connection, log, { log: { source: 'log', position: 'id' } }),
    ...historyMethods(connection),
    ...adjustmentMethods(reader),
    listRecentHistory,
    listPetEdits,
    ...petMethods(connection),
    ...searchMethods(reader, clock),
    ...orders,
    listAvailability,
    listOrders: (filter, limit) => {
      const isSearch = (filter.customer ?? filter.since ?? filter.until) !== undefined
      return (isSearch ? searchOrders : orders.listOrders)(filter, limit)
    },
    ...reportMethods(readerSource),
    ...keyMethods(connection),
    findKey: (hash) => findKey(unflushedSource, hash),
    openLimits: (limitClock) => LimitLedger.open(ledgerStore(connection), limitClock),
    ...transferMethods(connection, clock),
    ...importMethods(connection, now),
    ...contentMethods(connection),
    backupTo: (backupPath) => backUp(connection, backupPath),
    findDamage: () => findDamage(connection),
    ...clockMethods(connection, options.clock === undefined ? steadyClock : undefined, 'this machine'),
    findWrongSettings: async () => [],
    ping,
    finishErasures: () => connection.finishErasures(),
    backup: backup?.log,
    close: async () => {
      await reader.close()
      await connection.close()
      backup?.close()
      lock?.close()
    },
  }
}

/** Opens the file, migrates its tables, and if it is served, locks it and flushes its commits in the background. */
function openFile(path: string, options: SqliteOptions, onSaved: (copy: string) => void) {
  let lock: ReturnType<typeof lockForServing> | undefined
  let connection: Connection | undefined
  try {
    // The lock is taken before the file is opened, because another process may be serving or replacing the file.
    if (options.exclusive === true) {
      mkdirSync(dirname(path), { recursive: true })
      lock = lockForServing(path)
    }
    connection = Connection.open(path)
    migrate(connection.database, options.tables ?? 'migrate')
    if (lock !== undefined) takeOver(connection.database, path)
    const backup = lock && serve(connection, path, options, onSaved)
    return { connection, lock, backup }
  } catch (error) {
    lock?.close()
    connection?.database.close()
    throw error
  }
}

/** Calls `onSaved` with the path of the copy when the file is lost and its contents were saved. */
function serve(
  connection: Connection,
  path: string,
  options: SqliteOptions,
  onSaved: (copy: string) => void,
) {
  const { startReader = startReaderWorker, backupFolder } = options
  const backup =
    backupFolder === undefined ? undefined : { folder: backupFolder, databaseFile: openSync(path, 'r') }
  const checkpointWorker = new Reader(() => startReader({ path, copiesLog: true, backup }))
  const log = backup && new LogBackup(checkpointWorker, backup.folder)
  connection.flushInBackground({
    disk: options.disk,
    onFlushFailure: options.onFlushFailure ?? (() => {}),
    onFileLost: async () => {
      const copy = await trySavingLostFile(connection, path, options.onFileLost ?? (() => {}))
      if (copy !== undefined) onSaved(copy)
      return copy !== undefined
    },
    checkpointWorker,
    maxLogBytes: options.maxLogBytes,
    minFreeBytes: options.minFreeBytes,
    backup: log,
  })
  return { log, close: () => backup && closeSync(backup.databaseFile) }
}

function startReaderWorker(workerData: SqliteReaderData): Worker {
  return new Worker(workerAddress('store/sqlite/reader-worker.ts'), { workerData })
}

/** Like `readSavedOffset`, but synchronous. */
function openSteadyClock({ database }: Connection): SteadyClock {
  const id = bootId()
  const query = database.query<{ offset_ms: bigint }, [string]>(toSqlite(SAVED_OFFSET))
  const row = id === undefined ? null : query.get(id)
  return new SteadyClock(Date.now(), row === null ? undefined : Number(row.offset_ms))
}

/** Returns the path of the copy; `undefined` if nothing could be saved. */
async function trySavingLostFile(
  connection: Connection,
  path: string,
  report: (loss: Error) => void,
): Promise<string | undefined> {
  const loss = `${path} was deleted or replaced while the service was running`
  try {
    const copy = await saveLostDatabase(connection, path)
    report(
      new Error(
        `${loss}; everything was saved to ${copy}: stop the service, then run petstore restore ${copy}`,
      ),
    )
    return copy
  } catch (error) {
    report(
      new Error(
        `${loss}, and its contents could not be saved: make room for a copy, then stop the service with SIGTERM`,
        {
          cause: error,
        },
      ),
    )
    return undefined
  }
}
