import type { HistoryEntry, HistoryFilter, PruneLimit } from '../core/stock/history.ts'
import type { PetStatus } from '../core/stock/inventory.ts'
import { EDITABLE_FIELDS, type PetEdit } from '../core/stock/pet-edit.ts'
import type { HistoryStore } from '../core/stock/stock-store.ts'
import { MAX_INT64, parseInt64 } from '../core/values/field.ts'
import { type Page, unknownCursor } from '../core/values/page.ts'
import { fromPetDetail } from './catalog-rows.ts'
import { IS_PET_EDIT, IS_QUANTITY_CHANGE, type LogRow, purposeOf } from './log-rows.ts'
import type { RowOf } from './record-rows.ts'
import { type RowSource, type SqlValue, type Statement, statement } from './sql.ts'

/** The columns that every listed log row has. `name` is the name of the key. */
interface ListedRow extends Pick<RowOf<'log'>, 'id' | 'pet_id' | 'at' | 'key_id'> {
  readonly name: string | null
}

/** A row that changed a quantity. `after` is null if the pet was removed. */
type ChangeRow = ListedRow &
  Pick<RowOf<'log', 'after'>, 'before' | 'after'> &
  Pick<LogRow, 'reason' | 'reference'>

/** A row of the kind `pet` or `removed`, with the state of the pet in its previous row of these kinds. */
interface EditRow extends ListedRow {
  readonly kind: 'pet' | 'removed'
  readonly status: PetStatus
  readonly detail: string | null
  readonly previous_status: PetStatus | null
  readonly previous_detail: string | null
}

/** A kind of history: the log rows that it lists, and how it reads them. */
interface LogList<Row extends ListedRow, Entry> {
  /** A condition on log rows. */
  readonly isListed: string
  readonly columns: string
  /** The expressions that are evaluated only for the rows of the page. */
  readonly lookups: readonly string[]
  /** Whether an index finds the listed rows of a pet. Pet edits have such an index (`log_of_entries`), changes do not. */
  readonly isIndexedByPet: boolean
  toEntry(row: Row): Entry
}

const ABOVE_ALL_IDS = MAX_INT64
const BELOW_ALL_IDS = 0n
const CHANGE_COLUMNS = 'id, pet_id, before, after, at, key_id, reason, reference'

const CHANGES: LogList<ChangeRow, HistoryEntry> = {
  isListed: IS_QUANTITY_CHANGE,
  columns: CHANGE_COLUMNS,
  lookups: [],
  isIndexedByPet: false,
  toEntry: toChange,
}

const EDITS: LogList<EditRow, PetEdit> = {
  isListed: IS_PET_EDIT,
  columns: 'id, kind, pet_id, status, detail, at, key_id',
  lookups: ['status', 'detail'].map(
    (column) => `(
      SELECT ${column} FROM log AS earlier WHERE earlier.pet_id = recent.pet_id AND earlier.id < recent.id AND ${IS_PET_EDIT}
      ORDER BY earlier.id DESC LIMIT 1) AS previous_${column}`,
  ),
  isIndexedByPet: true,
  toEntry: toEdit,
}

/** Selects the newest rows of a list that fulfil a condition. `limit` is an SQL placeholder such as `$2`. */
const selectNewest = <Row extends ListedRow, Entry>(
  { isListed, columns, lookups }: LogList<Row, Entry>,
  condition: string,
  limit: string,
) => `
  SELECT ${['recent.*', 'name', ...lookups].join(', ')} FROM (
    SELECT ${columns} FROM log WHERE ${isListed} AND ${condition} ORDER BY id DESC LIMIT CAST(${limit} AS BIGINT)
  ) AS recent LEFT JOIN keys ON keys.id = key_id ORDER BY recent.id DESC`

/** Limits for reading one page with a filter, because the filter may match only a few of many log rows. */
const SCAN_LIMITS = {
  /** The number of log rows that the page may examine. */
  maxRows: 100_000,
  /** The number of log rows that one statement examines. */
  rowsPerStep: 5_000,
  /** The time after which no further step starts. */
  budgetMs: 35,
}
/**
 * Log rows are in the order of their times, except that the clocks of instances may differ by this much, and that a clock may
 * be set back by this much.
 */
const CLOCK_SKEW_MS = 300_000

/**
 * Finds the first id with a time of $1 or later, by bisection. Returns no row if the log is empty. Each step looks at one row:
 * the first `change` row among the 200 rows that follow the middle. If they have no `change` row, it looks at the first of them,
 * whatever its kind. Other rows are the second choice, because the `pet` rows of an import may not be in the order of their
 * times. If the row is older than $1, `low` moves past it. Otherwise `high` moves down: to a `change` row, or to the middle if
 * the row is of another kind.
 */
const FIRST_ID_SINCE = `
  WITH RECURSIVE bisection (low, high) AS (
    SELECT (SELECT min(id) FROM log), (SELECT max(id) FROM log) + 1
    UNION ALL
    SELECT CASE WHEN log.at < CAST($1 AS BIGINT) THEN log.id + 1 ELSE low END,
      CASE WHEN log.at < CAST($1 AS BIGINT) THEN high
        WHEN kind = 'change' AND log.id < high THEN log.id
        ELSE low + (high - low) / 2 END
    FROM bisection CROSS JOIN log
    WHERE low < high AND log.id = coalesce((
        SELECT near.id FROM (
          SELECT id, kind FROM log AS later
          WHERE later.id >= low + (high - low) / 2 AND later.id < high ORDER BY later.id LIMIT 200) AS near
        WHERE near.kind = 'change' ORDER BY near.id LIMIT 1), (
        SELECT later.id FROM log AS later WHERE later.id >= low + (high - low) / 2 ORDER BY later.id LIMIT 1))
  )
  SELECT low AS id FROM bisection WHERE low >= high`

/** A condition on log rows: the row matches the filter, whose values are $3 to $8. */
const MATCHES_FILTER = `(CAST($3 AS TEXT) IS NULL OR key_id = CAST($3 AS TEXT)
      OR key_id IN (SELECT id FROM keys WHERE name = CAST($3 AS TEXT)))
    AND (CAST($4 AS TEXT) IS NULL OR reason = CAST($4 AS TEXT))
    AND at >= CAST($5 AS BIGINT) AND at < CAST($6 AS BIGINT)
    AND (CAST($7 AS BIGINT) IS NULL OR pet_id = CAST($7 AS BIGINT))
    AND (CAST($8 AS TEXT) IS NULL OR reference = CAST($8 AS TEXT))`

const ONE_IF_CHANGE = `CASE WHEN ${IS_QUANTITY_CHANGE} THEN 1 ELSE 0 END`

/**
 * Follows the column `previous` from log row $1 back through the changes and edits of the pet. Stops after $2 changes, or
 * after `maxRows` changes and edits.
 */
const selectChain = (maxRows: string, otherColumns = '') => `
  WITH RECURSIVE chain (${CHANGE_COLUMNS}, is_change, previous, changes_left, rows_left) AS (
    SELECT ${CHANGE_COLUMNS}, ${ONE_IF_CHANGE}, previous,
      CAST($2 AS BIGINT) - ${ONE_IF_CHANGE}, CAST(${maxRows} AS BIGINT) - 1
    FROM log WHERE id = $1
    UNION ALL
    SELECT log.id, log.pet_id, log.before, log.after, log.at, log.key_id, log.reason, log.reference,
      ${ONE_IF_CHANGE}, log.previous, changes_left - ${ONE_IF_CHANGE}, rows_left - 1
    FROM chain JOIN log ON log.id = chain.previous AND log.id < chain.id AND log.pet_id = chain.pet_id
    WHERE changes_left > 0 AND rows_left > 0
  )
  SELECT chain.id, is_change, pet_id, before, after, at, key_id, reason, reference, name${otherColumns}
  FROM chain LEFT JOIN keys ON keys.id = key_id ORDER BY chain.id DESC`
const CHAIN = selectChain('$3')
const CHAIN_WITH_MATCHES = selectChain('$9', `, CASE WHEN ${MATCHES_FILTER} THEN 1 ELSE 0 END AS matches`)

/**
 * The id of the pet's latest change or edit. If `stock` has no `last_change`, because the pet was removed or an import logged
 * only a relist, uses the latest `pet` or `removed` row.
 */
const LATEST_LOG_ROW = `
  SELECT coalesce(
    (SELECT last_change FROM stock WHERE pet_id = $1),
    (SELECT max(id) FROM log WHERE pet_id = $1 AND ${IS_PET_EDIT})) AS id`

export function historyMethods(
  database: RowSource,
  scanLimits = SCAN_LIMITS,
): Omit<HistoryStore, 'pruneHistory'> {
  return {
    listHistoryPage: (petId, limit, cursor) =>
      readPage(cursor, (cursorId) => readChainPage(database, petId, { limit, cursorId, scanLimits })),

    countPrunable: (limit, onProgress) => countPrunable(database, limit, onProgress),

    listRecentHistory: (limit, cursor, filter = {}) =>
      readPage(cursor, async (cursorId) => {
        const { petId, ...otherFilters } = filter
        if (petId !== undefined && isEmpty(otherFilters)) {
          return readChainPage(database, petId, { limit, cursorId, scanLimits })
        }
        if (isEmpty(filter)) {
          const newest = selectNewest(CHANGES, 'id < $1', '$2')
          const rows = await database.rows<ChangeRow>(newest, cursorId ?? ABOVE_ALL_IDS, limit + 1)
          return toPage(rows, limit, CHANGES)
        }
        const range = await findIdRange(database, filter)
        if (range === undefined) return NO_ENTRIES
        if (petId !== undefined && !(await isShortRange(database, range, scanLimits.maxRows))) {
          const start = await findChainStart(database, petId, cursorId)
          if (start === null) return NO_ENTRIES
          if (start !== undefined) return searchChain(database, { limit, start, filter, scanLimits })
          // The cursor is not in the chain, so `searchLog` has read the previous page. The range was short then and has grown
          // since. `searchLog` reads this page, too.
        }
        return searchLog(database, CHANGES, { limit, cursorId, range, filter, scanLimits })
      }),

    listPetEdits: (limit, cursor, filter = {}) =>
      readPage(cursor, async (cursorId) => {
        const range = await findIdRange(database, filter)
        if (range === undefined) return NO_ENTRIES
        return searchLog(database, EDITS, { limit, cursorId, range, filter, scanLimits })
      }),
  }
}

const NO_ENTRIES = { rows: [], next: undefined }

/** Calls `read` with the id in the cursor; `undefined` for the first page. */
async function readPage<Entry>(
  cursor: string | undefined,
  read: (cursorId: bigint | undefined) => Promise<Page<Entry>>,
): Promise<Page<Entry>> {
  const cursorId = cursor === undefined ? undefined : parseInt64(cursor)
  if (cursor !== undefined && cursorId === undefined) throw unknownCursor(cursor)
  return read(cursorId)
}

const ROWS_PER_COUNT = 100_000

/** Counts in steps, because counting a long log takes a while and blocks a SQLite connection. */
async function countPrunable(
  database: RowSource,
  limit: PruneLimit,
  onProgress: (rows: number) => void = () => {},
): Promise<{ prunable: number; total: number }> {
  const before = 'before' in limit ? limit.before : null
  let total = 0
  let rowsBeforeFirstKept: number | undefined
  let lastId: bigint | null = BELOW_ALL_IDS
  while (lastId !== null) {
    onProgress(total)
    const [step]: CountedStep[] = await database.rows<CountedStep>(COUNT_STEP, lastId, before)
    if (step === undefined) throw new Error('a count must return a row')
    if (rowsBeforeFirstKept === undefined && step.rows_before_first_kept !== null)
      rowsBeforeFirstKept = total + Number(step.rows_before_first_kept)
    total += Number(step.rows)
    lastId = step.last_id
  }
  const prunable = 'before' in limit ? (rowsBeforeFirstKept ?? total) : Math.max(0, total - limit.keep)
  return { prunable, total }
}

interface CountedStep {
  readonly rows: bigint
  /** Null if the step has no rows, because all rows are counted. */
  readonly last_id: bigint | null
  /** How many rows of the step come before its first row that must be kept; null if it has no row that must be kept. */
  readonly rows_before_first_kept: bigint | null
}

const COUNT_STEP = `
  SELECT count(*) AS rows, max(id) AS last_id,
    min(CASE WHEN at >= CAST($2 AS BIGINT) THEN number END) - 1 AS rows_before_first_kept
  FROM (
    SELECT id, at, row_number() OVER (ORDER BY id) AS number
    FROM log WHERE id > $1 ORDER BY id LIMIT ${ROWS_PER_COUNT}
  ) AS step`

function isEmpty(filter: HistoryFilter): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

async function readChainPage(
  database: RowSource,
  petId: bigint,
  { limit, cursorId, scanLimits: { rowsPerStep } }: Omit<LogPageRequest, 'filter' | 'range'>,
): Promise<Page<HistoryEntry>> {
  const start = await findChainStart(database, petId, cursorId)
  if (start === undefined || start === null) return NO_ENTRIES
  const chain = await database.rows<ChainRow>(CHAIN, start, limit + 1, rowsPerStep)
  return toChainPage(chain, chain.filter(isChange), limit, rowsPerStep)
}

type ChainRow = ChangeRow & { readonly is_change: bigint | number }

const isChange = (row: ChainRow) => Number(row.is_change) === 1

/** If the chain has `maxRows` rows, the pet may have more, so there is a next page even if this page is short. */
function toChainPage(
  chain: readonly ChainRow[],
  found: readonly ChainRow[],
  limit: number,
  maxRows: number,
): Page<HistoryEntry> {
  const page = toPage(found, limit, CHANGES)
  const oldest = chain.at(-1)
  if (page.next !== undefined || oldest === undefined || chain.length < maxRows) return page
  return { ...page, next: String(oldest.id) }
}

/**
 * The log row from which a page of a pet's history begins: the latest row, or the row before the cursor. `null` if there is
 * none; `undefined` if the cursor is not a change or an edit of the pet.
 */
async function findChainStart(
  database: RowSource,
  petId: bigint,
  cursorId: bigint | undefined,
): Promise<bigint | null | undefined> {
  const [start] = await (cursorId === undefined
    ? database.rows<{ id: bigint | null }>(LATEST_LOG_ROW, petId)
    : database.rows<{ id: bigint | null }>(
        "SELECT previous AS id FROM log WHERE id = $1 AND pet_id = $2 AND kind IN ('change', 'pet', 'removed')",
        cursorId,
        petId,
      ))
  return start?.id
}

/** Log ids from `first` up to but not including `end`. */
interface IdRange {
  readonly first: bigint
  readonly end: bigint
}

/** The log rows whose times can match the filter; `undefined` if there are none. */
export async function findIdRange(
  database: RowSource,
  { since, until }: HistoryFilter,
): Promise<IdRange | undefined> {
  const firstIdSince = async (time: number) => {
    const [row] = await database.rows<{ id: bigint | null }>(FIRST_ID_SINCE, time)
    return row?.id ?? undefined
  }
  const first = since === undefined ? BELOW_ALL_IDS : await firstIdSince(since - CLOCK_SKEW_MS)
  const end = until === undefined ? ABOVE_ALL_IDS : await firstIdSince(until + CLOCK_SKEW_MS)
  return first === undefined || end === undefined || first >= end ? undefined : { first, end }
}

/**
 * Whether the range is limited at both ends and has fewer than `maxRows` rows. Examining all of them is then faster than
 * following the rows of one pet.
 */
async function isShortRange(database: RowSource, { first, end }: IdRange, maxRows: number): Promise<boolean> {
  if (first === BELOW_ALL_IDS || end === ABOVE_ALL_IDS) return false
  const [row] = await database.rows<{ size: bigint }>(
    `SELECT count(*) AS size FROM (
      SELECT 1 FROM log WHERE id >= $1 AND id < $2 LIMIT CAST($3 AS BIGINT)) AS counted`,
    first,
    end,
    maxRows,
  )
  return Number(row?.size ?? 0) < maxRows
}

interface PageRequest {
  readonly limit: number
  readonly filter: HistoryFilter
  readonly scanLimits: typeof SCAN_LIMITS
}

/** Requests the rows of a range before a cursor. */
interface LogPageRequest extends PageRequest {
  readonly cursorId: bigint | undefined
  readonly range: IdRange
}

/** Examines the changes and edits of one pet, back from row `start`, in one step. */
async function searchChain(
  database: RowSource,
  { limit, start, filter, scanLimits: { rowsPerStep } }: PageRequest & { readonly start: bigint },
): Promise<Page<HistoryEntry>> {
  const chain = await database.rows<ChainRow & { matches: bigint }>(
    CHAIN_WITH_MATCHES,
    start,
    rowsPerStep,
    ...filterValues(filter),
    rowsPerStep,
  )
  const found = chain.filter((row) => isChange(row) && Number(row.matches) === 1)
  return toChainPage(chain, found, limit, rowsPerStep)
}

/**
 * Examines the log step by step, from the end of the range or the row before the cursor back to the start of the range.
 * Other reads can run between the steps.
 */
async function searchLog<Row extends ListedRow, Entry>(
  database: RowSource,
  list: LogList<Row, Entry>,
  { limit, cursorId, range, filter, scanLimits }: LogPageRequest,
): Promise<Page<Entry>> {
  const found: Row[] = []
  const values = filterValues(filter)
  const indexedPet = list.isIndexedByPet ? filter.petId : undefined
  const scanCondition = (petIdParameter: string) =>
    indexedPet === undefined ? 'true' : `${list.isListed} AND pet_id = CAST(${petIdParameter} AS BIGINT)`
  const deadline = performance.now() + scanLimits.budgetMs
  let beforeId = cursorId === undefined || cursorId > range.end ? range.end : cursorId
  for (let examined = 0; examined < scanLimits.maxRows; examined += scanLimits.rowsPerStep) {
    if (examined > 0 && performance.now() >= deadline) break
    const [step] = await database.rows<{ oldest: bigint | null; size: bigint }>(
      `SELECT min(id) AS oldest, count(*) AS size FROM (
        SELECT id FROM log WHERE id < $1 AND id >= $2 AND ${scanCondition('$4')}
        ORDER BY id DESC LIMIT CAST($3 AS BIGINT)) AS examined`,
      beforeId,
      range.first,
      scanLimits.rowsPerStep,
      ...(indexedPet === undefined ? [] : [indexedPet]),
    )
    if (step?.oldest == null) return toPage(found, limit, list)
    const condition = `id < $1 AND id >= $2 AND ${scanCondition('$7')} AND ${MATCHES_FILTER}`
    const rows = await database.rows<Row>(
      selectNewest(list, condition, '$9'),
      beforeId,
      step.oldest,
      ...values,
      limit + 1 - found.length,
    )
    found.push(...rows)
    if (found.length > limit || Number(step.size) < scanLimits.rowsPerStep) return toPage(found, limit, list)
    beforeId = step.oldest
  }
  return { ...toPage(found, limit, list), next: String(beforeId) }
}

function filterValues({ who, reason, since, until, petId, reference }: HistoryFilter): readonly SqlValue[] {
  return [
    who ?? null,
    reason ?? null,
    since ?? -Number.MAX_SAFE_INTEGER,
    until ?? Number.MAX_SAFE_INTEGER,
    petId ?? null,
    reference ?? null,
  ]
}

/**
 * A statement that removes the oldest rows, up to the first row that must be kept. It examines at most `maxRows` rows and
 * removes only those that fulfil the condition.
 */
export function pruneStatement(limit: PruneLimit, maxRows: number, condition = 'true'): Statement {
  const [isPrunable, value] =
    'before' in limit
      ? ['id < coalesce((SELECT min(id) FROM oldest WHERE at >= $1), 9223372036854775807)', limit.before]
      : ['id <= (SELECT id FROM log ORDER BY id DESC LIMIT 1 OFFSET $1)', limit.keep]
  return statement(
    `DELETE FROM log WHERE id IN (
      WITH oldest AS MATERIALIZED (SELECT id, at FROM log ORDER BY id LIMIT ${Math.floor(maxRows)})
      SELECT id FROM oldest WHERE ${isPrunable}) AND ${condition}`,
    value,
  )
}

/** There is a next page if `rows` has more rows than the limit. */
function toPage<Row extends ListedRow, Entry>(
  rows: readonly Row[],
  limit: number,
  { toEntry }: LogList<Row, Entry>,
): Page<Entry> {
  const pageRows = rows.slice(0, limit)
  const next = rows.length > limit ? pageRows.at(-1)?.id : undefined
  return { rows: pageRows.map(toEntry), next: next === undefined ? undefined : String(next) }
}

function originOf({ id, pet_id, at, key_id, name }: ListedRow) {
  return { id: String(id), petId: pet_id, at: Number(at), keyId: key_id, keyName: name ?? key_id }
}

function toChange(row: ChangeRow): HistoryEntry {
  return { ...originOf(row), before: Number(row.before), after: Number(row.after ?? 0), ...purposeOf(row) }
}

function toEdit(row: EditRow): PetEdit {
  const origin = originOf(row)
  const previous = petIn(row.pet_id, row.previous_status, row.previous_detail)?.pet
  if (row.kind === 'removed') {
    return { ...origin, change: 'removed', ...(previous === undefined ? {} : { name: previous.name }) }
  }
  const logged = petIn(row.pet_id, row.status, row.detail)
  if (logged === undefined) throw new Error(`log row ${row.id} of the kind pet has no detail`)
  const { pet, change } = logged
  const edit = { ...origin, change, name: pet.name, pet }
  if (change === 'created' || previous === undefined) return edit
  return { ...edit, fields: EDITABLE_FIELDS.filter((field) => pet[field] !== previous[field]) }
}

/** The pet in a log row; `undefined` if the row has none. */
function petIn(id: bigint, status: PetStatus | null, detail: string | null) {
  if (status === null || detail === null) return undefined
  const { change, ...fields } = fromPetDetail(detail)
  return { change, pet: { id, ...fields, status } }
}
