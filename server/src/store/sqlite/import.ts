import type { StockedPet } from '../../core/catalog/pet.ts'
import type { OrderRow } from '../../core/orders/order.ts'
import type { StagedImport } from '../../core/transfer/staged-import.ts'
import { OrderImport } from '../order-import.ts'
import { PetImport } from '../pet-import.ts'
import type { LongSession } from '../sql.ts'
import type { StoreClock } from '../store-clock.ts'
import type { Connection } from './connection.ts'
import { decisionWriter } from './decision.ts'
import { LOG_END } from './log-end.ts'

/**
 * What is staged is compared with the store without a lock. What differs is written in one transaction, which first
 * compares again what others have changed since: the log tells.
 */
export async function stagePets(connection: Connection): Promise<StagedImport<StockedPet>> {
  const session = await importSession(connection)
  // Each pet is written right before its stock, and nothing is removed: no need to look for it again under the lock.
  await session.run('PRAGMA foreign_keys = OFF')
  return PetImport.create(session, connection.dialect, async (pets, options) => {
    const [before] = await session.rows<{ position: bigint }>(LOG_END)
    await pets.tables.compareAll()
    options.signal?.throwIfAborted()
    const counts = await session.writeInSteps(async () => {
      await findTouched(session, before?.position)
      await pets.tables.compareTouched()
      await pets.write('NOT is_fresh', options)
      return pets.finish(options)
    })
    await shrinkWriteAheadLog(session)
    return counts
  })
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

async function importSession(connection: Connection): Promise<Connection> {
  const session = await connection.longSession()
  await session.run('PRAGMA temp_store = FILE')
  // Enough that a page is written once, and not each time that it is touched.
  await session.run('PRAGMA cache_size = -32768')
  return session
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
