import { HIGHEST_ID, type HistoryRow, pageOfRows, toHistoryEntry } from '../../core/stock/history.ts'
import { parseInt64 } from '../../core/values/int64.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'

type HistoryVerbs = Pick<Store, 'listHistory' | 'listHistoryPage' | 'listRecentHistory'>

export function historyVerbs(connection: Connection): HistoryVerbs {
  return {
    listHistory: async (petId) => {
      const rows = await connection.run(
        (sql) => sql<Omit<HistoryRow, 'id' | 'name'>[]>`
          SELECT pet_id, before, after, at, key_id FROM history WHERE pet_id = ${petId} ORDER BY id`,
      )
      return rows.map(toHistoryEntry)
    },

    listHistoryPage: async (petId, limit, cursor) => {
      const before = cursor === undefined ? HIGHEST_ID : parseInt64(cursor)
      if (before === undefined) return 'unknown_cursor'
      const rows = await connection.run(
        (sql) => sql<HistoryRow[]>`
          SELECT history.id, pet_id, before, after, at, key_id, name
          FROM history LEFT JOIN keys ON keys.id = key_id
          WHERE pet_id = ${petId} AND history.id < ${before} ORDER BY history.id DESC LIMIT ${limit + 1}::bigint`,
      )
      return pageOfRows(rows, limit)
    },

    listRecentHistory: async (limit, cursor) => {
      const before = cursor === undefined ? HIGHEST_ID : parseInt64(cursor)
      if (before === undefined) return 'unknown_cursor'
      const rows = await connection.run(
        (sql) => sql<HistoryRow[]>`
          SELECT recent.*, name
          FROM (
            SELECT id, pet_id, before, after, at, key_id FROM history
            WHERE id < ${before} ORDER BY id DESC LIMIT ${limit + 1}::bigint
          ) AS recent LEFT JOIN keys ON keys.id = key_id ORDER BY recent.id DESC`,
      )
      return pageOfRows(rows, limit)
    },
  }
}
