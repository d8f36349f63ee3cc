import type { HistoryPage, PruneLimit } from '../core/stock/history.ts'
import type { HistoryStore } from '../core/stock/stock-store.ts'
import { parseInt64 } from '../core/values/int64.ts'
import { IS_OF_ENTRY, purposeOf } from './log-rows.ts'
import type { SqlDatabase } from './sql.ts'

interface HistoryRow {
  readonly id: bigint
  readonly pet_id: bigint
  readonly before: bigint
  readonly after: bigint
  readonly at: bigint
  readonly key_id: string
  readonly name: string | null
  readonly reason: string | null
  readonly reference: string | null
}

/** Above every id that a row can have: where the newest changes are asked for. */
const HIGHEST_ID = 2n ** 63n - 1n
const COLUMNS = 'id, pet_id, before, after, at, key_id, reason, reference'

/** From a row on, the pet's rows back to its first one, until so many changes are among them. */
const CHAIN = `
  WITH RECURSIVE chain (${COLUMNS}, kind, previous, wanted) AS (
    SELECT ${COLUMNS}, kind, previous, CAST($2 AS BIGINT) - CASE kind WHEN 'change' THEN 1 ELSE 0 END
    FROM log WHERE id = $1
    UNION ALL
    SELECT log.id, log.pet_id, log.before, log.after, log.at, log.key_id, log.reason, log.reference,
      log.kind, log.previous,
      wanted - CASE log.kind WHEN 'change' THEN 1 ELSE 0 END
    FROM chain JOIN log ON log.id = chain.previous WHERE wanted > 0
  )
  SELECT chain.id, pet_id, before, after, at, key_id, reason, reference, name
  FROM chain LEFT JOIN keys ON keys.id = key_id WHERE kind = 'change' ORDER BY chain.id DESC`

/** The pet's latest row. Of one that is gone, or that came with many, it is found among those of its entry. */
const LATEST = `
  SELECT coalesce(
    (SELECT last_change FROM stock WHERE pet_id = $1),
    (SELECT max(id) FROM log WHERE pet_id = $1 AND ${IS_OF_ENTRY})) AS id`

export function historyVerbs(
  database: SqlDatabase,
): Pick<HistoryStore, 'listHistoryPage' | 'listRecentHistory' | 'countPrunable'> {
  return {
    listHistoryPage: async (petId, limit, cursor) => {
      const after = cursor === undefined ? undefined : parseInt64(cursor)
      if (cursor !== undefined && after === undefined) return 'unknown_cursor'
      // The cursor is the last entry of the page before.
      const [from] = await (after === undefined
        ? database.rows<{ id: bigint | null }>(LATEST, petId)
        : database.rows<{ id: bigint | null }>(
            'SELECT previous AS id FROM log WHERE id = $1 AND pet_id = $2',
            after,
            petId,
          ))
      if (from === undefined || from.id === null) return { entries: [], next: undefined }
      return toPage(await database.rows<HistoryRow>(CHAIN, from.id, limit + 1), limit)
    },

    listRecentHistory: async (limit, cursor) => {
      const before = cursor === undefined ? HIGHEST_ID : parseInt64(cursor)
      if (before === undefined) return 'unknown_cursor'
      const rows = await database.rows<HistoryRow>(
        `SELECT recent.*, name FROM (
          SELECT ${COLUMNS} FROM log WHERE kind = 'change' AND id < $1 ORDER BY id DESC LIMIT CAST($2 AS BIGINT)
        ) AS recent LEFT JOIN keys ON keys.id = key_id ORDER BY recent.id DESC`,
        before,
        limit + 1,
      )
      return toPage(rows, limit)
    },

    countPrunable: async (limit) => {
      const [text, value] = prunableIds(limit, '')
      const [row] = await database.rows<{ prunable: bigint; total: bigint }>(
        `SELECT count(*) AS prunable, (SELECT count(*) FROM log) AS total FROM (${text}) AS old`,
        value,
      )
      return { prunable: Number(row?.prunable ?? 0), total: Number(row?.total ?? 0) }
    },
  }
}

/** Selects the ids of those of the oldest rows that may go: none behind one that may not. `$1` is the value. */
export function prunableIds(limit: PruneLimit, oldest: string): [text: string, value: number] {
  const [which, value] =
    'before' in limit
      ? ['id < coalesce((SELECT min(id) FROM oldest WHERE at >= $1), 9223372036854775807)', limit.before]
      : ['id <= (SELECT id FROM log ORDER BY id DESC LIMIT 1 OFFSET $1)', limit.keep]
  return [
    `WITH oldest AS MATERIALIZED (SELECT id, at FROM log ORDER BY id ${oldest}) SELECT id FROM oldest WHERE ${which}`,
    value,
  ]
}

/** Of one row more than asked for, where there is one: it tells that there is a next page. */
function toPage(rows: readonly HistoryRow[], limit: number): HistoryPage {
  const entries = rows.slice(0, limit).map((row) => ({
    id: String(row.id),
    petId: row.pet_id,
    before: Number(row.before),
    after: Number(row.after),
    at: Number(row.at),
    keyId: row.key_id,
    keyName: row.name ?? row.key_id,
    ...purposeOf(row),
  }))
  return { entries, next: rows.length > limit ? entries.at(-1)?.id : undefined }
}
