import type { ImportedCategory } from '../../core/catalog/category.ts'
import type { ImportedPet } from '../../core/catalog/pet.ts'
import type { OrderRow } from '../../core/orders/order.ts'
import type { StagedAdjustment } from '../../core/transfer/staged-adjustment.ts'
import type { StagedImport } from '../../core/transfer/staged-import.ts'
import { AdjustmentTables } from '../import-adjustment.ts'
import { CategoryImport } from '../import-categories.ts'
import { OrderImport } from '../import-orders.ts'
import { PetImport } from '../import-pets.ts'
import type { LongSession, StoreClock } from '../sql.ts'
import type { Connection } from './connection.ts'
import { decisionWriter } from './decision.ts'
import { LOG_END } from './dialect.ts'

/**
 * What is staged is compared with the store without a lock. What differs is written in one transaction, which first
 * compares again what others have changed since: the log tells.
 */
export async function stagePets(connection: Connection): Promise<StagedImport<ImportedPet>> {
  const session = await importSession(connection)
  // Each pet is written right before its stock, and nothing is removed: no need to look for it again under the lock.
  await session.run('PRAGMA foreign_keys = OFF')
  return PetImport.create(session, connection.dialect, (pets, options) =>
    apply(session, pets.tables, options.signal, async () => {
      const refused = await pets.refuseOrLeaveOut(options)
      await pets.write('NOT is_fresh', options)
      return pets.finish(options, refused)
    }),
  )
}

/** Likewise, with what is decided in place of what is compared. */
export async function stageAdjustment(connection: Connection): Promise<StagedAdjustment> {
  const session = await importSession(connection)
  return AdjustmentTables.create(session, connection.dialect, (tables, options) =>
    apply(session, tables, options.signal, () => tables.write(options)),
  )
}

export async function stageOrders(
  connection: Connection,
  clock: StoreClock,
): Promise<StagedImport<OrderRow>> {
  const session = await importSession(connection)
  const write = decisionWriter(session.database)
  return OrderImport.create(session, {
    ...{ dialect: connection.dialect, clock },
    write: async (decision, lastChangeOf) => write(decision, lastChangeOf),
  })
}

export async function stageCategories(connection: Connection): Promise<StagedImport<ImportedCategory>> {
  return CategoryImport.create(await importSession(connection), connection.dialect)
}

async function importSession(connection: Connection): Promise<Connection> {
  const session = await connection.longSession()
  await session.run('PRAGMA temp_store = FILE')
  // Enough that a page is written once, and not each time that it is touched.
  await session.run('PRAGMA cache_size = -32768')
  return session
}

interface ComparedTables {
  compareAll(): Promise<void>
  compareTouched(): Promise<void>
}

async function apply<Result>(
  session: LongSession,
  tables: ComparedTables,
  signal: AbortSignal | undefined,
  write: () => Promise<Result>,
): Promise<Result> {
  const [before] = await session.rows<{ position: bigint }>(LOG_END)
  await tables.compareAll()
  signal?.throwIfAborted()
  const result = await session.writeInSteps(async () => {
    await findTouched(session, before?.position)
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
