import type { ImportDatabase, ImportTables } from '../import-tables.ts'
import type { LongSession, StoreClock } from '../sql.ts'
import type { Connection } from './connection.ts'
import { decisionWriter } from './decision.ts'
import { LOG_END } from './dialect.ts'

export async function openImport(connection: Connection, clock: StoreClock): Promise<ImportDatabase> {
  const session = await connection.longSession()
  await session.run('PRAGMA temp_store = FILE')
  // Enough that each page is written once, and not after each change.
  await session.run('PRAGMA cache_size = -32768')
  // Each pet is written before its stock, and nothing is removed, so there is no need to check foreign keys under the lock.
  await session.run('PRAGMA foreign_keys = OFF')
  const writeDecision = decisionWriter(session.database)
  return {
    session,
    dialect: connection.dialect,
    clock,
    apply: (tables, write) =>
      tables.kind.hasPetIds
        ? applyComparedRows(tables, write)
        : session.writeInSteps(async () => {
            await tables.compareAll()
            return write()
          }),
    writeDecision: async (decision, lastChangeOf) => writeDecision(decision, lastChangeOf),
  }
}

/** Compares without a lock. In the transaction, only the pets that the log names since then are compared again. */
async function applyComparedRows<Value, Result>(
  tables: ImportTables<Value>,
  write: () => Promise<Result>,
): Promise<Result> {
  const { session } = tables
  const [before] = await session.rows<{ position: bigint }>(LOG_END)
  await tables.compareAll()
  const result = await session.writeInSteps(async () => {
    await markChangedPets(tables, before?.position)
    await tables.compareTouched()
    return write()
  })
  await shrinkWriteAheadLog(session)
  return result
}

/** Marks the pets in the log after this position as touched, or all rows if the log does not name them. */
async function markChangedPets<Value>(
  tables: ImportTables<Value>,
  position: bigint | undefined,
): Promise<void> {
  const { session } = tables
  const [end] = await session.rows<{ pruned: bigint }>(LOG_END)
  if (position !== undefined && end !== undefined && position >= end.pruned) {
    await tables.markTouched('SELECT DISTINCT pet_id FROM log WHERE id > $1', position)
    const [relist] = await session.rows('SELECT 1 FROM touched WHERE id IS NULL')
    if (relist === undefined) return
  }
  await tables.markTouched('SELECT id FROM sorted')
}

/** A big commit leaves a big write-ahead log. It stays if other connections read it, and is overwritten later. */
async function shrinkWriteAheadLog(session: LongSession): Promise<void> {
  try {
    await session.run('PRAGMA wal_checkpoint(PASSIVE)')
    await session.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // The import is on disk, and the log will be overwritten.
  }
}
