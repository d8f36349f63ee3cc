import type { HistoryPage } from '../../core/history.ts'
import { parseInt64 } from '../../core/int64.ts'
import type { HistoryEntry } from '../../core/inventory.ts'
import type { Store } from '../../core/store.ts'
import type { Connection } from './connection.ts'

interface HistoryRow {
  pet_id: bigint
  before: bigint
  after: bigint
  at: bigint
  key_id: string
}

interface NamedHistoryRow extends HistoryRow {
  id: bigint
  name: string | null
}

type HistoryVerbs = Pick<Store, 'listHistory' | 'listHistoryPage' | 'listRecentHistory'>

const HIGHEST_ID = 2n ** 63n - 1n

export function historyVerbs(connection: Connection): HistoryVerbs {
  return {
    listHistory: async (petId) => {
      const rows = await connection.run(
        (sql) => sql<HistoryRow[]>`
          SELECT pet_id, before, after, at, key_id FROM history WHERE pet_id = ${petId} ORDER BY id`,
      )
      return rows.map(toHistoryEntry)
    },

    listHistoryPage: async (petId, limit, cursor) => {
      const before = cursor === undefined ? HIGHEST_ID : parseInt64(cursor)
      if (before === undefined) return 'unknown_cursor'
      const rows = await connection.run(
        (sql) => sql<NamedHistoryRow[]>`
          SELECT history.id, pet_id, before, after, at, key_id, name
          FROM history LEFT JOIN keys ON keys.id = key_id
          WHERE pet_id = ${petId} AND history.id < ${before} ORDER BY history.id DESC LIMIT ${limit + 1}::bigint`,
      )
      return toPage(rows, limit)
    },

    // By id and not by transaction: ids are taken while the stock of the pet is locked, so they tell the order.
    listRecentHistory: async (limit, cursor) => {
      const before = cursor === undefined ? HIGHEST_ID : parseInt64(cursor)
      if (before === undefined) return 'unknown_cursor'
      const rows = await connection.run(
        (sql) => sql<NamedHistoryRow[]>`
          SELECT recent.*, name
          FROM (
            SELECT id, pet_id, before, after, at, key_id FROM history
            WHERE id < ${before} ORDER BY id DESC LIMIT ${limit + 1}::bigint
          ) AS recent LEFT JOIN keys ON keys.id = key_id ORDER BY recent.id DESC`,
      )
      return toPage(rows, limit)
    },
  }
}

/** Of one row more than asked for, where there is one: it tells that there is a next page. */
function toPage(rows: readonly NamedHistoryRow[], limit: number): HistoryPage {
  const entries = rows.slice(0, limit).map((row) => ({
    id: String(row.id),
    ...toHistoryEntry(row),
    keyName: row.name ?? row.key_id,
  }))
  return { entries, next: rows.length > limit ? entries.at(-1)?.id : undefined }
}

function toHistoryEntry(row: HistoryRow): HistoryEntry {
  return {
    petId: row.pet_id,
    before: Number(row.before),
    after: Number(row.after),
    at: Number(row.at),
    keyId: row.key_id,
  }
}
