import type { ImportDatabase, ImportTables } from '../import-tables.ts'
import type { LongSession, StoreClock } from '../sql.ts'
import { type Connection, LOG_END } from './connection.ts'
import { decisionWriter } from './stock.ts'

export async function openImport(connection: Connection, clock: StoreClock): Promise<ImportDatabase> {
  const session = await connection.openLongSession()
  await session.run('PRAGMA temp_store = FILE')
  // The cache of 32 MiB is large enough that SQLite writes each page only once.
  await session.run('PRAGMA cache_size = -32768')
  // An import writes each pet before its stock and removes nothing, so it cannot break a foreign key. Without the checks,
  // it holds the lock for less time.
  await session.run('PRAGMA foreign_keys = OFF')
  const writeDecision = decisionWriter(session)
  return {
    session,
    dialect: connection.dialect,
    clock,
    apply: (tables, write) =>
      tables.kind.isKeyedByPet
        ? compareThenApply(tables, write)
        : session.writeInTransaction(async () => {
            await tables.compareAll()
            return write()
          }),
    writeDecision: async (decision) => writeDecision(decision, session.logEnd().position + 1n),
  }
}

/**
 * Compares all rows without a lock. The transaction then compares only the pets that, according to the log, have changed in
 * the meantime.
 */
async function compareThenApply<Value, Result>(
  tables: ImportTables<Value>,
  write: () => Promise<Result>,
): Promise<Result> {
  const { session } = tables
  const [endBefore] = await session.rows<{ position: bigint }>(LOG_END)
  await tables.compareAll()
  const result = await session.writeInTransaction(async () => {
    await markChangedPets(tables, endBefore?.position)
    await tables.compareTouched()
    return write()
  })
  await shrinkWriteAheadLog(session)
  return result
}

/**
 * Marks the pets that have log rows after `position`, so that they are compared again. If the log may not name every changed
 * pet, marks every pet of the import.
 */
async function markChangedPets<Value>(
  tables: ImportTables<Value>,
  position: bigint | undefined,
): Promise<void> {
  const { session } = tables
  const [end] = await session.rows<{ pruned: bigint }>(LOG_END)
  if (position !== undefined && end !== undefined && position >= end.pruned) {
    await tables.markTouched('SELECT DISTINCT pet_id FROM log WHERE id > $1', position)
    // A row without a pet id (of a category or a relist) may stand for changes of any pet.
    const [rowWithoutPet] = await session.rows('SELECT 1 FROM touched WHERE id IS NULL')
    if (rowWithoutPet === undefined) return
  }
  await tables.markTouched('SELECT id FROM sorted')
}

/** A large commit leaves a large write-ahead log. If other connections are reading it, it keeps its size for now. */
async function shrinkWriteAheadLog(session: LongSession): Promise<void> {
  try {
    await session.run('PRAGMA wal_checkpoint(PASSIVE)')
    await session.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // The import is already on disk. Later commits reuse the space of the write-ahead log.
  }
}
