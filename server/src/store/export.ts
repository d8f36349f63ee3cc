import type { TransferStore } from '../core/transfer/transfer-store.ts'
import { ORDER_PLAN, PET_PLAN, type PlainRow } from './import-plan.ts'
import type { SqlDatabase } from './sql.ts'

export function exportVerbs(database: SqlDatabase): Pick<TransferStore, 'exportPets' | 'exportOrders'> {
  return {
    exportPets: () =>
      pages(
        database,
        'SELECT id, name, category_id, status, quantity FROM pets JOIN stock ON stock.pet_id = pets.id ORDER BY id',
        PET_PLAN.toValue,
      ),
    exportOrders: () =>
      pages(
        database,
        'SELECT id, pet_id, quantity, ship_date, complete FROM orders ORDER BY id',
        ORDER_PLAN.toValue,
      ),
  }
}

/** All rows that `select` gives, page by page, of one moment. */
async function* pages<Value>(
  database: SqlDatabase,
  select: string,
  toValue: (row: PlainRow, prefix: '') => Value,
): AsyncGenerator<Value[]> {
  const session = await database.longSession()
  try {
    await session.beginRead()
    for await (const rows of session.batches<PlainRow>(select)) yield rows.map((row) => toValue(row, ''))
  } finally {
    await session.close()
  }
}
