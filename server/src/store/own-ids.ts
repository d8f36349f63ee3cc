import type { OwnIds } from './sql.ts'

/** Callers and imports may bring any id; above this one they do not push up what is given to new ones. */
const MAX_OWN_ID = 2 ** 53 - 1

export const OWN_IDS: readonly OwnIds[] = ['orders', 'pets', 'categories']

/** Of those in a column that push the ids of new ones up. */
export const isOwnId = (column: string) => `${column} BETWEEN 1 AND ${MAX_OWN_ID}`

export const highestId = (table: OwnIds) => `SELECT max(id) AS highest FROM ${table} WHERE ${isOwnId('id')}`

/** The highest of these that pushes the ids of new ones up, where there is one. */
export function highestOwn(ids: readonly bigint[]): [] | [highest: bigint] {
  const own = ids.filter((id) => id >= 1n && id <= BigInt(MAX_OWN_ID))
  return own.length === 0 ? [] : [own.reduce((most, id) => (id > most ? id : most))]
}
