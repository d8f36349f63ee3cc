import type { Reason } from '../core/stock/adjustment-fields.ts'
import type { HistoryFilter, HistoryPage, PruneLimit } from '../core/stock/history.ts'
import type { HistoryStore } from '../core/stock/stock-store.ts'
import { MAX_INT64, parseInt64 } from '../core/values/int64.ts'
import { IS_OF_PET, purposeOf } from './log-rows.ts'
import type { SqlDatabase, SqlValue } from './sql.ts'

interface HistoryRow {
  readonly id: bigint
  readonly pet_id: bigint
  readonly before: bigint
  readonly after: bigint
  readonly at: bigint
  readonly key_id: string
  readonly name: string | null
  readonly reason: Reason | null
  readonly reference: string | null
}

/** Above the id of every row. */
const HIGHEST_ID = MAX_INT64
/** Below the id of every row. */
const LOWEST_ID = 0n
const COLUMNS = 'id, pet_id, before, after, at, key_id, reason, reference'

/**
 * The limits of a page of filtered changes: the number of log rows that it examines, in total and in one step, and the time
 * after which it starts no further step.
 */
const WALK = { most: 100_000, step: 5_000, budgetMs: 35 }
/**
 * The clocks of instances may differ by this much, and a clock may be set back by this much. Otherwise log rows are in the
 * order of their times.
 */
const CLOCK_SKEW_MS = 300_000

/**
 * Bisects the log for the first id with a time of $1 or later; null if the log is empty. It probes the next row of a change
 * if there is one nearby, because rows of imported pets may have other times.
 */
const FIRST_ID_SINCE = `
  WITH RECURSIVE bisection (low, high) AS (
    SELECT (SELECT min(id) FROM log), (SELECT max(id) FROM log) + 1
    UNION ALL
    SELECT CASE WHEN log.at < CAST($1 AS BIGINT) THEN log.id + 1 ELSE low END,
      CASE WHEN log.at < CAST($1 AS BIGINT) THEN high ELSE low + (high - low) / 2 END
    FROM bisection CROSS JOIN log
    WHERE low < high AND log.id = coalesce((
        SELECT near.id FROM (
          SELECT id, kind FROM log AS later WHERE later.id >= low + (high - low) / 2 ORDER BY later.id LIMIT 200) AS near
        WHERE near.kind = 'change' ORDER BY near.id LIMIT 1), (
        SELECT later.id FROM log AS later WHERE later.id >= low + (high - low) / 2 ORDER BY later.id LIMIT 1))
  )
  SELECT low AS id FROM bisection WHERE low >= high`

/** Whether a log row matches the filter, whose values are $3 to $7. */
const MATCHES_FILTER = `(CAST($3 AS TEXT) IS NULL OR key_id = CAST($3 AS TEXT)
      OR key_id IN (SELECT id FROM keys WHERE name = CAST($3 AS TEXT)))
    AND (CAST($4 AS TEXT) IS NULL OR reason = CAST($4 AS TEXT))
    AND at >= CAST($5 AS BIGINT) AND at < CAST($6 AS BIGINT)
    AND (CAST($7 AS BIGINT) IS NULL OR pet_id = CAST($7 AS BIGINT))`

/** Follows the pet's rows back from row $1, until $2 changes are found. */
const chainWith = (more: string) => `
  WITH RECURSIVE chain (${COLUMNS}, kind, previous, wanted) AS (
    SELECT ${COLUMNS}, kind, previous, CAST($2 AS BIGINT) - CASE kind WHEN 'change' THEN 1 ELSE 0 END
    FROM log WHERE id = $1
    UNION ALL
    SELECT log.id, log.pet_id, log.before, log.after, log.at, log.key_id, log.reason, log.reference,
      log.kind, log.previous,
      wanted - CASE log.kind WHEN 'change' THEN 1 ELSE 0 END
    FROM chain JOIN log ON log.id = chain.previous WHERE wanted > 0
  )
  SELECT chain.id, pet_id, before, after, at, key_id, reason, reference, name${more}
  FROM chain LEFT JOIN keys ON keys.id = key_id WHERE kind = 'change' ORDER BY chain.id DESC`
const CHAIN = chainWith('')
const CHAIN_WITH_MATCHES = chainWith(`, CASE WHEN ${MATCHES_FILTER} THEN 1 ELSE 0 END AS matches`)

/** The pet's latest row. If the pet was removed or imported, its latest 'pet' or 'removed' row. */
const LATEST = `
  SELECT coalesce(
    (SELECT last_change FROM stock WHERE pet_id = $1),
    (SELECT max(id) FROM log WHERE pet_id = $1 AND ${IS_OF_PET})) AS id`

export function historyVerbs(
  database: Pick<SqlDatabase, 'rows'>,
  walk = WALK,
): Pick<HistoryStore, 'listHistoryPage' | 'findRemoval' | 'listRecentHistory' | 'countPrunable'> {
  return {
    listHistoryPage: async (petId, limit, cursor) => {
      const after = cursor === undefined ? undefined : parseInt64(cursor)
      if (cursor !== undefined && after === undefined) return 'unknown_cursor'
      return pageOfChain(database, petId, limit, after)
    },

    findRemoval: async (petId) => {
      const [row] = await database.rows<Pick<HistoryRow, 'at' | 'key_id' | 'name'>>(
        `SELECT at, key_id, name FROM log LEFT JOIN keys ON keys.id = key_id
          WHERE pet_id = $1 AND kind = 'removed' ORDER BY log.id DESC LIMIT 1`,
        petId,
      )
      if (row === undefined) return undefined
      return { petId, at: Number(row.at), keyId: row.key_id, keyName: row.name ?? row.key_id }
    },

    listRecentHistory: async (limit, cursor, filter = {}) => {
      const before = cursor === undefined ? HIGHEST_ID : parseInt64(cursor)
      if (before === undefined) return 'unknown_cursor'
      const { petId, ...others } = filter
      if (petId !== undefined && isEmpty(others)) {
        return pageOfChain(database, petId, limit, cursor === undefined ? undefined : before)
      }
      const range = await idRange(database, filter)
      if (range === undefined) return { entries: [], next: undefined }
      if (petId !== undefined && !(await isShort(database, range, walk.most))) {
        const from = await startOfChain(database, petId, cursor === undefined ? undefined : before)
        return from === undefined
          ? { entries: [], next: undefined }
          : searchChain(database, { limit, from, filter, walk })
      }
      if (!isEmpty(filter)) {
        const from = before < range.end ? before : range.end
        return searchLog(database, { limit, from, first: range.first, filter, walk })
      }
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

function isEmpty(filter: HistoryFilter): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

async function pageOfChain(
  database: Pick<SqlDatabase, 'rows'>,
  petId: bigint,
  limit: number,
  after: bigint | undefined,
): Promise<HistoryPage> {
  const from = await startOfChain(database, petId, after)
  if (from === undefined) return { entries: [], next: undefined }
  return toPage(await database.rows<HistoryRow>(CHAIN, from, limit + 1), limit)
}

/** The row that a page of a pet's history begins with: its latest row, or the row before the cursor. */
async function startOfChain(
  database: Pick<SqlDatabase, 'rows'>,
  petId: bigint,
  after: bigint | undefined,
): Promise<bigint | undefined> {
  const [from] = await (after === undefined
    ? database.rows<{ id: bigint | null }>(LATEST, petId)
    : database.rows<{ id: bigint | null }>(
        'SELECT previous AS id FROM log WHERE id = $1 AND pet_id = $2',
        after,
        petId,
      ))
  return from?.id ?? undefined
}

/** Ids of the log, without `end`. */
interface IdRange {
  readonly first: bigint
  readonly end: bigint
}

/** The rows that can match the time of the filter; `undefined` if there are none. */
async function idRange(
  database: Pick<SqlDatabase, 'rows'>,
  { since, until }: HistoryFilter,
): Promise<IdRange | undefined> {
  const firstIdSince = async (time: number) => {
    const [row] = await database.rows<{ id: bigint | null }>(FIRST_ID_SINCE, time)
    return row?.id ?? undefined
  }
  const first = since === undefined ? LOWEST_ID : await firstIdSince(since - CLOCK_SKEW_MS)
  const end = until === undefined ? HIGHEST_ID : await firstIdSince(until + CLOCK_SKEW_MS)
  return first === undefined || end === undefined || first >= end ? undefined : { first, end }
}

/** Whether examining all rows of the range is as quick as following the changes of one pet. */
async function isShort(
  database: Pick<SqlDatabase, 'rows'>,
  { first, end }: IdRange,
  most: number,
): Promise<boolean> {
  if (first === LOWEST_ID || end === HIGHEST_ID) return false
  const [row] = await database.rows<{ size: bigint }>(
    `SELECT count(*) AS size FROM (
      SELECT 1 FROM log WHERE id >= $1 AND id < $2 LIMIT CAST($3 AS BIGINT)) AS counted`,
    first,
    end,
    most,
  )
  return Number(row?.size ?? 0) < most
}

interface FilteredPage {
  readonly limit: number
  readonly from: bigint
  readonly filter: HistoryFilter
  readonly walk: typeof WALK
}

/** Goes one step back along the changes of a pet. */
async function searchChain(
  database: Pick<SqlDatabase, 'rows'>,
  { limit, from, filter, walk: { step } }: FilteredPage,
): Promise<HistoryPage> {
  const rows = await database.rows<HistoryRow & { matches: bigint }>(
    CHAIN_WITH_MATCHES,
    from,
    step + 1,
    ...filterValues(filter),
  )
  const examined = rows.slice(0, step)
  const found = examined.filter(({ matches }) => Number(matches) === 1)
  const page = toPage(found, limit)
  const isAll = rows.length <= step
  return { ...page, next: page.next ?? (isAll ? undefined : String(examined.at(-1)?.id)) }
}

/** Goes back in the log step by step, down to the row `first`. Other reads can run between the steps. */
async function searchLog(
  database: Pick<SqlDatabase, 'rows'>,
  { limit, from, first, filter, walk }: FilteredPage & { readonly first: bigint },
): Promise<HistoryPage> {
  const found: HistoryRow[] = []
  const values = filterValues(filter)
  const deadline = performance.now() + walk.budgetMs
  let before = from
  for (let examined = 0; examined < walk.most; examined += walk.step) {
    if (examined > 0 && performance.now() >= deadline) break
    const [step] = await database.rows<{ last: bigint | null; size: bigint }>(
      `SELECT min(id) AS last, count(*) AS size FROM (
        SELECT id FROM log WHERE id < $1 AND id >= $2 ORDER BY id DESC LIMIT CAST($3 AS BIGINT)) AS examined`,
      before,
      first,
      walk.step,
    )
    if (step?.last == null) return toPage(found, limit)
    const rows = await database.rows<HistoryRow>(
      `SELECT recent.*, name FROM (
        SELECT ${COLUMNS} FROM log WHERE id < $1 AND id >= $2 AND kind = 'change' AND ${MATCHES_FILTER}
        ORDER BY id DESC LIMIT CAST($8 AS BIGINT)
      ) AS recent LEFT JOIN keys ON keys.id = key_id ORDER BY recent.id DESC`,
      before,
      step.last,
      ...values,
      limit + 1 - found.length,
    )
    found.push(...rows)
    if (found.length > limit || Number(step.size) < walk.step) return toPage(found, limit)
    before = step.last
  }
  return { ...toPage(found, limit), next: String(before) }
}

function filterValues({ who, reason, since, until, petId }: HistoryFilter): readonly SqlValue[] {
  return [
    who ?? null,
    reason ?? null,
    since ?? -Number.MAX_SAFE_INTEGER,
    until ?? Number.MAX_SAFE_INTEGER,
    petId ?? null,
  ]
}

/** Selects the ids of the oldest rows, up to the first row that must be kept. `$1` is the value. */
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

/** `rows` has one row more than the limit if there is a next page. */
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
