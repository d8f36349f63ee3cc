import { HAS_CROSSED, THRESHOLD } from './low-stock.ts'
import type { SqlDatabase } from './sql.ts'

/** An invariant of the tables. */
export interface Check {
  /** Counts the rows that violate the invariant, as `found`. */
  readonly text: string
  readonly describe: (found: bigint) => string
}

export const CHECKS: readonly Check[] = [
  {
    text: 'SELECT count(*) AS found FROM pets WHERE NOT EXISTS (SELECT 1 FROM stock WHERE pet_id = pets.id)',
    describe: (pets) => `pets without a stock entry: ${pets}`,
  },
  {
    text: 'SELECT count(*) AS found FROM pets WHERE NOT EXISTS (SELECT 1 FROM categories WHERE id = pets.category_id)',
    describe: (pets) => `pets whose category does not exist: ${pets}`,
  },
  {
    text: `SELECT count(*) AS found FROM stock JOIN pets ON pets.id = pet_id
        LEFT JOIN categories ON categories.id = category_id WHERE low_at IS DISTINCT FROM ${THRESHOLD}`,
    describe: (pets) =>
      `pets whose low-stock threshold is neither their own nor that of their category: ${pets}`,
  },
  {
    text: `SELECT count(*) AS found FROM stock WHERE ${HAS_CROSSED}`,
    describe: (pets) => `pets that are marked as low but are not, or are low but not marked: ${pets}`,
  },
  {
    text: `SELECT count(*) AS found FROM stock JOIN log ON log.id = last_change
        WHERE log.after <> stock.quantity OR log.pet_id <> stock.pet_id`,
    describe: (pets) => `pets whose stock differs from their history: ${pets}`,
  },
  {
    text: `SELECT count(*) AS found FROM stock
        LEFT JOIN (SELECT pet_id, sum(quantity) AS held FROM orders WHERE state = 'open' GROUP BY pet_id) AS open_orders
          ON open_orders.pet_id = stock.pet_id
        WHERE reserved <> coalesce(held, 0)`,
    describe: (pets) => `pets whose reserved units differ from their open orders: ${pets}`,
  },
  {
    text: `SELECT count(*) AS found FROM orders
        WHERE state = 'open' AND NOT EXISTS (SELECT 1 FROM stock WHERE stock.pet_id = orders.pet_id)`,
    describe: (orders) => `${orders} open orders are for pets that have no stock entry`,
  },
  {
    text: 'SELECT count(*) AS found FROM keys WHERE NOT EXISTS (SELECT 1 FROM key_secrets WHERE key_id = keys.id)',
    describe: (keys) => `${keys} keys have no secret`,
  },
]

export async function latestChangeAt(database: SqlDatabase): Promise<number | undefined> {
  const [row] = await database.rows<{ at: bigint | null }>(`
    SELECT max(at) AS at FROM (
      SELECT at FROM log WHERE id = (SELECT max(id) FROM log) UNION ALL SELECT max(at) FROM audit
    ) AS latest`)
  return row === undefined || row.at === null ? undefined : Number(row.at)
}
