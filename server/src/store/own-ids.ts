import { IS_OF_PET } from './log-rows.ts'
import type { OwnIds } from './sql.ts'

/**
 * Callers and imports may bring any id; above this one they do not push up what is given to new ones. From here on as many
 * again fit a double, which is what most callers read ids as: whoever brings the highest leaves room.
 */
const MAX_OWN_ID = 2 ** 52

/**
 * How many ids are left out after a failover, a recovery to a point in time or the restore of a backup, since ids may have
 * been given that this database does not know of. 100,000,000 orders are a day at 1,000 a second, and it can happen
 * 45,000,000 times before ids leave the range of a double.
 */
export const ID_STEP = 100_000_000

export const OWN_IDS: readonly OwnIds[] = ['orders', 'pets', 'categories']

/** Of those in a column that push the ids of new ones up. */
export const isOwnId = (column: string) => `${column} BETWEEN 1 AND ${MAX_OWN_ID}`

/** Of those that are there, and of pets that the log tells of: whoever got such an id would get that history with it. */
export function highestId(table: OwnIds): string {
  const there = `SELECT max(id) AS id FROM ${table} WHERE ${isOwnId('id')}`
  const told = `SELECT max(pet_id) FROM log WHERE ${IS_OF_PET} AND ${isOwnId('pet_id')}`
  return `SELECT max(id) AS highest FROM (${table === 'pets' ? `${there} UNION ALL ${told}` : there}) AS own`
}

/** The highest of these that pushes the ids of new ones up, where there is one. */
export function highestOwn(ids: readonly bigint[]): [] | [highest: bigint] {
  const own = ids.filter((id) => id >= 1n && id <= BigInt(MAX_OWN_ID))
  return own.length === 0 ? [] : [own.reduce((most, id) => (id > most ? id : most))]
}
