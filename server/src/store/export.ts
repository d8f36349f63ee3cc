import { STOCKED_PET } from '../core/catalog/pet.ts'
import type { TransferStore } from '../core/transfer/transfer-store.ts'
import { CATEGORY_FIELDS, toCategory } from './catalog-rows.ts'
import { ORDER_PLAN, type PlainRow } from './import-plan.ts'
import { isExpiredSql } from './order-rows.ts'
import { rowReader, selectList } from './record-rows.ts'
import type { LongSession, SqlDatabase, StoreClock } from './sql.ts'

const toStockedPet = rowReader(STOCKED_PET)

export function exportVerbs(
  database: SqlDatabase,
  clock: StoreClock,
): Pick<TransferStore, 'exportPets' | 'exportCategories' | 'exportOrders'> {
  return {
    exportPets: () =>
      pages(
        database,
        async () =>
          `SELECT ${selectList(STOCKED_PET)} FROM pets JOIN stock ON stock.pet_id = pets.id ORDER BY id`,
        (row: object) => toStockedPet(row),
      ),
    exportCategories: () =>
      pages(
        database,
        async () => `SELECT ${CATEGORY_FIELDS} FROM categories ORDER BY id`,
        (row: object) => toCategory(row),
      ),
    exportOrders: () =>
      pages(
        database,
        async (session) => {
          const text = `SELECT ${clock.sql('$1')} AS now`
          const [time] = await session.rows<{ now: bigint }>(text, clock.given())
          if (time === undefined) throw new Error('the database did not tell the time')
          return `SELECT id, pet_id, quantity, ship_date, state = 'complete' AS complete FROM orders
            WHERE state = 'complete' OR (state = 'open' AND (${isExpiredSql(String(time.now))}) IS NOT TRUE) ORDER BY id`
        },
        (row: PlainRow) => ORDER_PLAN.toValue(row, ''),
      ),
  }
}

/** All rows that `select` gives, page by page, of one moment. */
async function* pages<Row, Value>(
  database: SqlDatabase,
  select: (session: LongSession) => Promise<string>,
  toValue: (row: Row) => Value,
): AsyncGenerator<Value[]> {
  const session = await database.longSession()
  try {
    await session.beginRead()
    const text = await select(session)
    for await (const rows of session.batches<Row>(text)) yield rows.map(toValue)
  } finally {
    await session.close()
  }
}
