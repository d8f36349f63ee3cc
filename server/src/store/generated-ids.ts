import { IS_PET_ROW } from './log-rows.ts'
import type { GeneratedIdTable } from './sql.ts'

/**
 * New rows get ids above the highest existing id, but callers and imports may choose any id. Ids above this limit are
 * ignored when the highest id is determined, so that generated ids stay in the range that a double represents exactly: most
 * callers parse ids as doubles.
 */
const MAX_GENERATED_ID = 2 ** 52

/**
 * How many ids are skipped after a failover, a point-in-time recovery or the restore of a backup, because ids may have been
 * generated that this database does not know. 100,000,000 orders are a day at 1,000 per second, and this can happen
 * 45,000,000 times before ids reach the limit.
 */
export const ID_STEP = 100_000_000

export const GENERATED_ID_TABLES: readonly GeneratedIdTable[] = ['orders', 'pets', 'categories']

/** Whether generated ids have to be above this id. */
export function isGeneratedId(id: bigint): boolean {
  return id >= 1n && id <= BigInt(MAX_GENERATED_ID)
}

/** The same condition in SQL. */
export const isGeneratedIdSql = (column: string) => `${column} BETWEEN 1 AND ${MAX_GENERATED_ID}`

/** Selects the highest existing id. Pets of the log count too: a new pet with the id of a removed pet would get its history. */
export function highestIdSql(table: GeneratedIdTable): string {
  const existing = `SELECT max(id) AS id FROM ${table} WHERE ${isGeneratedIdSql('id')}`
  const logged = `SELECT max(pet_id) FROM log WHERE ${IS_PET_ROW} AND ${isGeneratedIdSql('pet_id')}`
  const ids = table === 'pets' ? `${existing} UNION ALL ${logged}` : existing
  return `SELECT max(id) AS highest FROM (${ids}) AS ids`
}

/** The highest of these ids that generated ids have to be above. */
export function highestGeneratedId(ids: readonly bigint[]): bigint | undefined {
  let highest: bigint | undefined
  for (const id of ids) {
    if (isGeneratedId(id) && (highest === undefined || id > highest)) highest = id
  }
  return highest
}
