import { HIGHEST_ID, type HistoryRow, pageOfRows, toHistoryEntry } from '../../core/stock/history.ts'
import { parseInt64 } from '../../core/values/int64.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'
import type { LateStock } from './late-stock.ts'

type HistoryVerbs = Pick<Store, 'listHistory' | 'listHistoryPage' | 'listRecentHistory'>

/** What stands for no limit. */
const ALL = Number.MAX_SAFE_INTEGER

/** The history of a pet is a chain from its latest change back to its first. */
export function historyVerbs(connection: Connection, late: LateStock): HistoryVerbs {
  const { database } = connection
  const inStock = database.query<{ last_change: bigint | null }, [bigint]>(
    'SELECT last_change FROM stock WHERE pet_id = ?',
  )
  const removed = database.query<{ last_change: bigint }, [bigint]>(
    'SELECT last_change FROM removed_stock WHERE pet_id = ?',
  )
  const one = database.query<{ previous: bigint | null }, [bigint, bigint]>(
    'SELECT previous FROM history WHERE id = ? AND pet_id = ?',
  )
  const chain = database.query<HistoryRow, [bigint | number | null, number]>(`
    WITH RECURSIVE chain (id, more) AS (
      SELECT ?1, ?2
      UNION ALL
      SELECT history.previous, more - 1 FROM chain JOIN history USING (id) WHERE more > 1
    )
    SELECT history.id, pet_id, before, after, at, key_id, name
    FROM chain JOIN history USING (id) LEFT JOIN keys ON keys.id = key_id ORDER BY history.id DESC
  `)
  const recent = database.query<HistoryRow, [bigint, number]>(`
    SELECT history.id, pet_id, before, after, at, key_id, name
    FROM history LEFT JOIN keys ON keys.id = key_id WHERE history.id < ? ORDER BY history.id DESC LIMIT ?
  `)
  const latestOf = (petId: bigint) => {
    const known = late.latestChangeOf(petId)
    const latest = known === undefined ? inStock.get(petId)?.last_change : known
    return latest ?? removed.get(petId)?.last_change ?? null
  }

  return {
    listHistory: (petId) =>
      connection.read(() => chain.all(latestOf(petId), ALL).map(toHistoryEntry).reverse()),

    listHistoryPage: (petId, limit, cursor) =>
      connection.read(() => {
        const after = cursor === undefined ? undefined : parseInt64(cursor)
        if (cursor !== undefined && after === undefined) return 'unknown_cursor'
        // The cursor is the last entry of the page before.
        const from = after === undefined ? latestOf(petId) : (one.get(after, petId)?.previous ?? null)
        return pageOfRows(chain.all(from, limit + 1), limit)
      }),

    listRecentHistory: (limit, cursor) =>
      connection.read(() => {
        const before = cursor === undefined ? HIGHEST_ID : parseInt64(cursor)
        return before === undefined ? 'unknown_cursor' : pageOfRows(recent.all(before, limit + 1), limit)
      }),
  }
}
