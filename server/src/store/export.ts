import type { TransferStore } from '../core/transfer/transfer-store.ts'
import { ORDER_PLAN, PET_PLAN, type PlainRow } from './import-plan.ts'
import { isHoldOver } from './order-rows.ts'
import type { LongSession, SqlDatabase } from './sql.ts'
import type { StoreClock } from './store-clock.ts'

export function exportVerbs(
  database: SqlDatabase,
  clock: StoreClock,
): Pick<TransferStore, 'exportPets' | 'exportOrders'> {
  return {
    exportPets: () =>
      pages(
        database,
        async () =>
          'SELECT id, name, category_id, status, quantity FROM pets JOIN stock ON stock.pet_id = pets.id ORDER BY id',
        PET_PLAN.toValue,
      ),
    exportOrders: () =>
      pages(
        database,
        async (session) => {
          const text = `SELECT ${clock.sql('$1')} AS now`
          const [time] = await session.rows<{ now: bigint }>(text, clock.given())
          if (time === undefined) throw new Error('the database did not tell the time')
          return `SELECT id, pet_id, quantity, ship_date, state = 'complete' AS complete FROM orders
            WHERE state = 'complete' OR (state = 'open' AND (${isHoldOver(String(time.now))}) IS NOT TRUE) ORDER BY id`
        },
        ORDER_PLAN.toValue,
      ),
  }
}

/** All rows that `select` gives, page by page, of one moment. */
async function* pages<Value>(
  database: SqlDatabase,
  select: (session: LongSession) => Promise<string>,
  toValue: (row: PlainRow, prefix: '') => Value,
): AsyncGenerator<Value[]> {
  const session = await database.longSession()
  try {
    await session.beginRead()
    const text = await select(session)
    for await (const rows of session.batches<PlainRow>(text)) yield rows.map((row) => toValue(row, ''))
  } finally {
    await session.close()
  }
}
