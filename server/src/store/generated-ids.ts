import type { GeneratedIdTable } from '../core/transfer/copy.ts'
import { IS_PET_EDIT } from './log-rows.ts'
import { type Dialect, type Statement, statement } from './sql.ts'

/**
 * New rows get ids above the highest existing id, but callers and imports may choose any id. Ids above this limit are
 * ignored when the highest id is determined, so that generated ids stay in the range that a double represents exactly: most
 * callers parse ids as doubles.
 */
const MAX_GENERATED_ID = 2 ** 52

/**
 * How many ids are skipped after a failover, a point-in-time recovery or the restore of a backup, because the database may
 * not know the latest generated ids. 1,000 orders per second need fewer ids in a day. Ids can be skipped 45,000,000 times
 * before they reach MAX_GENERATED_ID.
 */
export const SKIPPED_ID_COUNT = 100_000_000

/** A condition: the id in the column is in the range of generated ids, so new generated ids have to be above it. */
const isInGeneratedRangeSql = (column: string) => `${column} BETWEEN 1 AND ${MAX_GENERATED_ID}`

/** Selects the highest existing id. Includes removed pets, which are in the log: a new pet must not get their history. */
export function highestIdSql(table: GeneratedIdTable): string {
  const existing = `SELECT max(id) AS id FROM ${table} WHERE ${isInGeneratedRangeSql('id')}`
  const logged = `SELECT max(pet_id) FROM log WHERE ${IS_PET_EDIT} AND ${isInGeneratedRangeSql('pet_id')}`
  const ids = table === 'pets' ? `${existing} UNION ALL ${logged}` : existing
  return `SELECT max(id) AS highest FROM (${ids}) AS ids`
}

/** Statements that make generated ids start above these ids. */
export function advanceIdsStatements(
  { advanceIds }: Dialect,
  table: GeneratedIdTable,
  ids: Iterable<bigint>,
): Statement[] {
  const highest = highestGeneratedId(ids)
  return highest === 0n ? [] : [statement(advanceIds(table), highest)]
}

/** The highest of the ids that is in the range of generated ids; 0 if none is. */
export function highestGeneratedId(ids: Iterable<bigint>): bigint {
  let highest = 0n
  for (const id of ids) if (id > highest && id <= MAX_GENERATED_ID) highest = id
  return highest
}
