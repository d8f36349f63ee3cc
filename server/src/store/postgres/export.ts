import type { TransferStore } from '../../core/transfer/transfer-store.ts'
import { type Connection, LONG_READ } from './connection.ts'
import { PostgresStagedImport } from './import.ts'
import { ORDER_PLAN, PET_PLAN, type PlainRow } from './import-plan.ts'

/** Rows that come in one piece. */
const BATCH = 5_000

export function transferVerbs(connection: Connection): TransferStore {
  return {
    stagePets: () => PostgresStagedImport.open(connection, PET_PLAN),
    stageOrders: () => PostgresStagedImport.open(connection, ORDER_PLAN),

    exportPets: () =>
      pages(
        connection,
        'SELECT id, name, category_id, status, quantity FROM pets JOIN stock ON stock.pet_id = pets.id ORDER BY id',
        (row) => PET_PLAN.toValue(row, ''),
      ),
    exportOrders: () =>
      pages(connection, 'SELECT id, pet_id, quantity, ship_date, complete FROM orders ORDER BY id', (row) =>
        ORDER_PLAN.toValue(row, ''),
      ),

    backupTo: () =>
      Promise.reject(
        new Error(
          'a PostgreSQL database is backed up with its own tools: pg_dump --format=custom --file=FILE "$DATABASE_URL"',
        ),
      ),
  }
}

/** All rows that `select` gives, batch by batch, of one moment. */
export async function* pages<Value>(
  connection: Connection,
  select: string,
  toValue: (row: PlainRow) => Value,
): AsyncGenerator<Value[]> {
  const session = await connection.session()
  try {
    await connection.guard(() => session.unsafe(LONG_READ))
    await connection.guard(() => session.unsafe(`DECLARE pages NO SCROLL CURSOR FOR ${select}`))
    for (;;) {
      const rows = await connection.guard(() => session.unsafe<PlainRow[]>(`FETCH ${BATCH} FROM pages`))
      if (rows.length > 0) yield rows.map(toValue)
      if (rows.length < BATCH) return
    }
  } finally {
    await session`ROLLBACK`.catch(() => {})
    await session.release()
  }
}
