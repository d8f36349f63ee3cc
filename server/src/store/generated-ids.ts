import { IS_PET_ROW } from './log-rows.ts'
import type { GeneratedIdTable } from './sql.ts'

/**
 * New rows get ids above the highest existing one, but callers and imports may choose any id. Ids above this limit do not
 * count, so that generated ids stay in the range of a double, which most callers parse them as.
 */
const MAX_GENERATED_ID = 2 ** 52

/**
 * How many ids are skipped after a failover, a point-in-time recovery or the restore of a backup, because ids may have been
 * generated that this database does not know. 100,000,000 orders are a day at 1,000 per second, and this can happen
 * 45,000,000 times before ids leave the range of a double.
 */
export const ID_STEP = 100_000_000

export const GENERATED_ID_TABLES: readonly GeneratedIdTable[] = ['orders', 'pets', 'categories']

/** Whether an id in this column counts for generated ids. */
export const isGeneratedIdSql = (column: string) => `${column} BETWEEN 1 AND ${MAX_GENERATED_ID}`

/** The highest existing id. The pets of the log count too: a new pet with such an id would inherit their history. */
export function highestIdSql(table: GeneratedIdTable): string {
  const existing = `SELECT max(id) AS id FROM ${table} WHERE ${isGeneratedIdSql('id')}`
  const logged = `SELECT max(pet_id) FROM log WHERE ${IS_PET_ROW} AND ${isGeneratedIdSql('pet_id')}`
  return `SELECT max(id) AS highest FROM (${table === 'pets' ? `${existing} UNION ALL ${logged}` : existing}) AS own`
}

/** The highest of these ids that counts for generated ids, if there is one. */
export function highestGeneratedId(ids: readonly bigint[]): [] | [highest: bigint] {
  const own = ids.filter((id) => id >= 1n && id <= BigInt(MAX_GENERATED_ID))
  return own.length === 0 ? [] : [own.reduce((most, id) => (id > most ? id : most))]
}
