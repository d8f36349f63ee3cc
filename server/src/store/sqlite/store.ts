import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { LimitLedger } from '../../core/limits/limit-keepers.ts'
import { contentVerbs } from '../contents.ts'
import { exportVerbs } from '../export.ts'
import { historyVerbs } from '../history.ts'
import { answerVerbs } from '../idempotency.ts'
import { keyVerbs } from '../keys.ts'
import { ledgerStore, usageVerbs } from '../limits.ts'
import type { OpenOptions } from '../opening.ts'
import { orderVerbs } from '../orders.ts'
import { petVerbs } from '../pets.ts'
import { Reader } from '../reader.ts'
import { searchVerbs } from '../search.ts'
import type { SqlDatabase } from '../sql.ts'
import type { Store } from '../store.ts'
import { webhookVerbs } from '../webhooks.ts'
import { workerAddress } from '../worker-address.ts'
import { backUp } from './backup.ts'
import { Connection } from './connection.ts'
import { stageAdjustment, stageCategories, stageOrders, stagePets } from './import.ts'
import { inspectionVerbs } from './inspection.ts'
import { logVerbs } from './log.ts'
import { migrate } from './migrations.ts'
import type { SqliteReaderStart } from './reader-worker.ts'
import { damageAtStart, readinessCheck } from './readiness.ts'
import { requireUsable } from './restore.ts'
import { lockForServing } from './serve-lock.ts'
import { stockVerbs } from './stock.ts'
import { writePause } from './write-pause.ts'

/** Opens the file at `path`, and makes it if there is none; its tables are brought up to date unless told otherwise. */
export function openSqliteStore(path: string, options: Partial<OpenOptions> = {}): Store {
  const { clock: now = Date.now } = options
  const clock = { sql: (given: string) => given, given: now }
  requireUsable(path)
  let lock: ReturnType<typeof lockForServing> | undefined
  let opened: Connection | undefined
  try {
    // Before the file is touched: an older program may serve it, or a restore put another one in its place.
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
    // The worker may have seen commits that are not on disk yet: what it read is a read of this connection too.
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
    ...keyVerbs(connection),
    findKey: keyVerbs(unflushed(connection)).findKey,
    ...usageVerbs(connection),
    openLimits: (clock, burstMs) => LimitLedger.open(ledgerStore(connection), clock, burstMs),
    stagePets: () => stagePets(connection),
    stageCategories: () => stageCategories(connection),
    stageOrders: () => stageOrders(connection, clock),
    stageAdjustment: () => stageAdjustment(connection),
    ...exportVerbs(connection, clock),
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
 * The database with unflushed commits. To admit a request by it is right: a new key is given to its owner once it is
 * flushed, and a key that was just revoked may be refused a moment too early. So no request waits for the disk here.
 */
function unflushed(connection: Connection): SqlDatabase {
  return {
    dialect: connection.dialect,
    rows: (text, ...values) => connection.rowsUnflushed(text, ...values),
    commit: (statements, durability) => connection.commit(statements, durability),
    longSession: () => connection.longSession(),
  }
}
