import type { StagedAdjustment } from '../../core/transfer/staged-adjustment.ts'
import type { StagedImport } from '../../core/transfer/staged-import.ts'
import { AdjustmentTables } from '../import-adjustment.ts'
import type { ImportPlan } from '../import-plan.ts'
import { ImportTables } from '../import-tables.ts'
import type { LongSession } from '../sql.ts'
import type { Connection } from './connection.ts'
import { LOG_END } from './stock.ts'

/**
 * What is staged is compared with the store without a lock. What differs is written in one transaction, which first
 * compares again what others have changed since: the log tells.
 */
export async function stageImport<Value>(
  connection: Connection,
  plan: ImportPlan<Value>,
): Promise<StagedImport<Value>> {
  const session = await sessionFor(connection)
  return ImportTables.create(session, plan, connection.dialect, (tables, options) =>
    apply(session, tables, { isLogged: plan.isLogged, signal: options.signal }, async () => {
      await tables.write('NOT is_fresh', options)
      return tables.finish(options)
    }),
  )
}

/** Likewise, with what is decided in place of what is compared. */
export async function stageAdjustment(connection: Connection): Promise<StagedAdjustment> {
  const session = await sessionFor(connection)
  return AdjustmentTables.create(session, connection.dialect, (tables, options) =>
    apply(session, tables, { isLogged: true, signal: options.signal }, () => tables.write(options)),
  )
}

async function sessionFor(connection: Connection): Promise<LongSession> {
  const session = await connection.longSession()
  await session.run('PRAGMA temp_store = FILE')
  // Enough that a page is written once, and not each time that it is touched.
  await session.run('PRAGMA cache_size = -32768')
  // Each pet is written right before its stock, and nothing is removed: no need to look for it again under the lock.
  await session.run('PRAGMA foreign_keys = OFF')
  return session
}

interface ComparedTables {
  compareAll(): Promise<void>
  compareTouched(): Promise<void>
}

async function apply<Result>(
  session: LongSession,
  tables: ComparedTables,
  { isLogged, signal }: { readonly isLogged: boolean; readonly signal: AbortSignal | undefined },
  write: () => Promise<Result>,
): Promise<Result> {
  const [before] = await session.rows<{ position: bigint }>(LOG_END)
  await tables.compareAll()
  signal?.throwIfAborted()
  const result = await session.writeInSteps(async () => {
    await findTouched(session, isLogged ? before?.position : undefined)
    await tables.compareTouched()
    return write()
  })
  await shrinkWriteAheadLog(session)
  return result
}

/** The pets in the log behind this position, or all, where no log can tell. */
async function findTouched(session: LongSession, position: bigint | undefined): Promise<void> {
  await session.run('DELETE FROM touched')
  const [end] = await session.rows<{ pruned: bigint }>(LOG_END)
  if (position !== undefined && end !== undefined && position >= end.pruned) {
    await session.run('INSERT INTO touched SELECT DISTINCT pet_id FROM log WHERE id > $1', position)
    const [relist] = await session.rows('SELECT 1 FROM touched WHERE id IS NULL')
    if (relist === undefined) return
  }
  await session.run('INSERT INTO touched SELECT id FROM sorted')
}

/** A big commit leaves a big write-ahead log. Where others are reading it, it stays, and is written over later. */
async function shrinkWriteAheadLog(session: LongSession): Promise<void> {
  try {
    await session.run('PRAGMA wal_checkpoint(PASSIVE)')
    await session.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // The import is on disk; this was housekeeping.
  }
}
