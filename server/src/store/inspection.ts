import { HAS_CROSSED, THRESHOLD } from './low-stock.ts'
import type { SqlDatabase } from './sql.ts'

/** What the tables must not say, and how the operator is told; each text counts what contradicts it. */
export interface Check {
  readonly text: string
  readonly tell: (found: bigint) => string
}

/** What contradicts itself was not written by us. */
export const CHECKS: readonly Check[] = [
  {
    text: 'SELECT count(*) AS found FROM pets WHERE NOT EXISTS (SELECT 1 FROM stock WHERE pet_id = pets.id)',
    tell: (pets) => `${pets} pets have no stock entry`,
  },
  {
    text: 'SELECT count(*) AS found FROM pets WHERE NOT EXISTS (SELECT 1 FROM categories WHERE id = pets.category_id)',
    tell: (pets) => `${pets} pets are of categories that are not there`,
  },
  {
    text: `SELECT count(*) AS found FROM stock JOIN pets ON pets.id = pet_id
        LEFT JOIN categories ON categories.id = category_id WHERE low_at IS DISTINCT FROM ${THRESHOLD}`,
    tell: (pets) => `the low-stock threshold of ${pets} pets is neither their own nor that of their category`,
  },
  {
    text: `SELECT count(*) AS found FROM stock WHERE ${HAS_CROSSED}`,
    tell: (pets) => `${pets} pets are marked as low and are not, or are low and not marked`,
  },
  {
    text: `SELECT count(*) AS found FROM stock JOIN log ON log.id = last_change
        WHERE log.after <> stock.quantity OR log.pet_id <> stock.pet_id`,
    tell: (pets) => `the stock of ${pets} pets is not what their history says`,
  },
  {
    text: `SELECT count(*) AS found FROM stock
        LEFT JOIN (SELECT pet_id, sum(quantity) AS held FROM orders WHERE state = 'open' GROUP BY pet_id) AS open_ones
          ON open_ones.pet_id = stock.pet_id
        WHERE reserved <> coalesce(held, 0)`,
    tell: (pets) => `what is reserved of ${pets} pets is not what their open orders hold`,
  },
  {
    text: `SELECT count(*) AS found FROM orders
        WHERE state = 'open' AND NOT EXISTS (SELECT 1 FROM stock WHERE stock.pet_id = orders.pet_id)`,
    tell: (orders) => `${orders} open orders are for pets that have no stock entry`,
  },
  {
    text: 'SELECT count(*) AS found FROM keys WHERE NOT EXISTS (SELECT 1 FROM key_secrets WHERE key_id = keys.id)',
    tell: (keys) => `${keys} keys have no secret`,
  },
]

/** The latest time that a change was recorded with. */
export async function latestChangeAt(database: SqlDatabase): Promise<number | undefined> {
  const [row] = await database.rows<{ at: bigint | null }>(`
    SELECT max(at) AS at FROM (
      SELECT at FROM log WHERE id = (SELECT max(id) FROM log) UNION ALL SELECT max(at) FROM audit
    ) AS latest`)
  return row === undefined || row.at === null ? undefined : Number(row.at)
}
