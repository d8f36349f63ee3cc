import type { HistoryEntry, HistoryFilter, PruneLimit } from '../core/stock/history.ts'
import type { PetStatus } from '../core/stock/inventory.ts'
import { EDITABLE_FIELDS, type PetEdit } from '../core/stock/pet-edit.ts'
import type { HistoryStore } from '../core/stock/stock-store.ts'
import { MAX_INT64, MIN_INT64, parseInt64 } from '../core/values/field.ts'
import { type Page, unknownCursor } from '../core/values/page.ts'
import { fromPetDetail } from './catalog-rows.ts'
import { factFieldsOf, IS_FACT, IS_PET_EDIT, type LogRow, purposeOf } from './log-rows.ts'
import type { RowOf } from './record-rows.ts'
import { type RowSource, type SqlValue, type Statement, statement } from './sql.ts'

/** The columns that every listed log row has. `name` is the name of the key. */
export interface ListedRow extends Pick<RowOf<'log'>, 'id' | 'pet_id' | 'at' | 'key_id'> {
  readonly name: string | null
}

/** A line of an adjustment. `after` is null if the pet was removed. */
type ChangeRow = ListedRow &
  Pick<RowOf<'log', 'after'>, 'before' | 'after'> &
  Pick<LogRow, 'reason' | 'reference' | 'document' | 'occurred_at'>

/** A row of the kind `pet` or `removed`, with the state of the pet in its previous row of these kinds. */
interface EditRow extends ListedRow {
  readonly kind: 'pet' | 'removed'
  readonly status: PetStatus
  readonly detail: string | null
  readonly previous_status: PetStatus | null
  readonly previous_detail: string | null
}

/** A kind of history: the log rows that it lists, and how it reads them. */
export interface LogList<Row extends ListedRow, Entry> {
  /** A condition on log rows, for which there is an index by pet. */
  readonly isListed: string
  readonly columns: string
  /** The expressions that are evaluated only for the rows of the page. */
  readonly lookups: readonly string[]
  toEntry(row: Row): Entry
}

const CHANGES: LogList<ChangeRow, HistoryEntry> = {
  isListed: IS_FACT,
  columns: 'id, pet_id, before, after, at, key_id, reason, reference, document, occurred_at',
  lookups: [],
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
  toEntry: toEdit,
}

/** Limits for reading one page with a filter, because the filter may match only a few of many log rows. */
export const SCAN_LIMITS = {
  /** The number of log rows that the page may examine. */
  maxRows: 100_000,
  /** The number of log rows that one statement examines. */
  rowsPerStep: 5_000,
  /** The time after which no further step starts. */
  budgetMs: 35,
}

/** The place of a row in a list: the time and the id of the row. The rows of one pet or order are in the order of their ids alone. */
interface Place {
  readonly at: bigint
  readonly id: bigint
}

/** Before or after all rows of a time. */
const startOf = (time: number): Place => ({ at: BigInt(time), id: 0n })
const BEFORE_ALL: Place = { at: MIN_INT64, id: 0n }
const AFTER_ALL: Place = { at: MAX_INT64, id: MAX_INT64 }

interface PageRequest {
  readonly limit: number
  readonly cursor: string | undefined
  readonly filter: HistoryFilter
}

export function historyMethods(
  database: RowSource,
  scanLimits = SCAN_LIMITS,
): Omit<HistoryStore, 'pruneHistory' | 'findAdjustment' | 'listAdjustments'> {
  return {
    listHistoryPage: (petId, limit, cursor) =>
      readLogPage(database, CHANGES, { limit, cursor, filter: { petId } }, scanLimits),

    countPrunable: (limit, onProgress) => countPrunable(database, limit, onProgress),

    listRecentHistory: (limit, cursor, filter = {}) =>
      readLogPage(database, CHANGES, { limit, cursor, filter }, scanLimits),

    listPetEdits: (limit, cursor, filter = {}) =>
      readLogPage(database, EDITS, { limit, cursor, filter }, scanLimits),
  }
}

/** Examines the log step by step, from the cursor back. Other reads can run between the steps. */
export async function readLogPage<Row extends ListedRow, Entry>(
  database: RowSource,
  list: LogList<Row, Entry>,
  { limit, cursor, filter }: PageRequest,
  scanLimits: typeof SCAN_LIMITS,
): Promise<Page<Entry>> {
  const deadline = performance.now() + scanLimits.budgetMs
  const found: Row[] = []
  let before = cursor === undefined ? undefined : parseCursor(cursor)
  for (let examined = 0; examined < scanLimits.maxRows; examined += scanLimits.rowsPerStep) {
    if (examined > 0 && performance.now() >= deadline) break
    const scan = new LogScan(list, filter, before)
    const oldest = scan.isListed ? undefined : await scan.findPlace(database, scanLimits.rowsPerStep)
    found.push(...(await scan.findNewest(database, oldest, limit + 1 - found.length)))
    if (found.length > limit || oldest === undefined) return toPage(found, limit, list)
    before = oldest
  }
  return { ...toPage(found, limit, list), next: before === undefined ? undefined : toCursor(before) }
}

/** The rows of a list before a place, newest first. An index finds them: by the order or the pet of the filter, otherwise by time. */
class LogScan<Row extends ListedRow, Entry> {
  readonly #list: LogList<Row, Entry>
  readonly #filter: HistoryFilter
  readonly #before: Place | undefined

  constructor(list: LogList<Row, Entry>, filter: HistoryFilter, before: Place | undefined) {
    this.#list = list
    this.#filter = filter
    this.#before = before
  }

  /** Whether a page reads few rows that are not listed: an order has only its sale and the reversals. */
  get isListed(): boolean {
    const { petId, orderId, ...conditions } = this.#filter
    if (orderId !== undefined) return true
    return petId !== undefined && Object.values(conditions).every((value) => value === undefined)
  }

  /** The place of the last of `rows` rows; `undefined` if there are fewer. */
  async findPlace(database: RowSource, rows: number): Promise<Place | undefined> {
    const values: SqlValue[] = []
    const parameter = parameterOf(values)
    const { condition, order } = this.#range(parameter, undefined)
    const text = `SELECT at, id FROM log WHERE ${condition} ORDER BY ${order} LIMIT 1 OFFSET ${parameter(rows - 1)}`
    const [row] = await database.rows<{ at: bigint; id: bigint }>(text, ...values)
    return row
  }

  /** The newest rows from `oldest` on that match the filter. `name` is the name of the key. */
  findNewest(database: RowSource, oldest: Place | undefined, limit: number): Promise<Row[]> {
    const { isListed, columns, lookups } = this.#list
    const values: SqlValue[] = []
    const parameter = parameterOf(values)
    const { condition, order } = this.#range(parameter, oldest)
    const conditions = [condition, isListed, ...filterConditions(this.#filter, parameter)]
    const text = `
      SELECT ${['recent.*', 'name', ...lookups].join(', ')} FROM (
        SELECT ${columns} FROM log WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT ${parameter(limit)}
      ) AS recent LEFT JOIN keys ON keys.id = key_id ORDER BY ${order}`
    return database.rows<Row>(text, ...values)
  }

  #subject(parameter: Parameter): string | undefined {
    const { petId, orderId } = this.#filter
    if (orderId !== undefined) return `order_id = ${parameter(orderId)}`
    return petId === undefined ? undefined : `pet_id = ${parameter(petId)}`
  }

  #range(parameter: Parameter, oldest: Place | undefined) {
    const { since, until } = this.#filter
    const subject = this.#subject(parameter)
    if (subject !== undefined) {
      const before = parameter((this.#before ?? AFTER_ALL).id)
      const from = parameter((oldest ?? BEFORE_ALL).id)
      const condition = `${subject} AND ${this.#list.isListed} AND id < ${before} AND id >= ${from}`
      return { condition, order: 'id DESC' }
    }
    const place = ({ at, id }: Place) => `(${parameter(at)}, ${parameter(id)})`
    const end = until === undefined ? AFTER_ALL : startOf(until)
    const before = this.#before === undefined || isAfter(this.#before, end) ? end : this.#before
    const from = oldest ?? (since === undefined ? BEFORE_ALL : startOf(since))
    return {
      condition: `(at, id) < ${place(before)} AND (at, id) >= ${place(from)}`,
      order: 'at DESC, id DESC',
    }
  }
}

function isAfter(one: Place, other: Place): boolean {
  return one.at > other.at || (one.at === other.at && one.id > other.id)
}

/** Adds a number and returns its placeholder. */
type Parameter = (value: bigint | number | string) => string

function parameterOf(values: SqlValue[]): Parameter {
  return (value) => `CAST($${values.push(value)} AS ${typeof value === 'string' ? 'TEXT' : 'BIGINT'})`
}

/** Conditions on log rows, in addition to the range. */
function filterConditions(
  { petId, who, keyId, orderId, reason, reference, since, until }: HistoryFilter,
  parameter: Parameter,
): string[] {
  const conditions: string[] = []
  if (who !== undefined) {
    const name = parameter(who)
    conditions.push(`(key_id = ${name} OR key_id IN (SELECT id FROM keys WHERE name = ${name}))`)
  }
  if (keyId !== undefined) conditions.push(`key_id = ${parameter(keyId)}`)
  if (orderId !== undefined && petId !== undefined) conditions.push(`pet_id = ${parameter(petId)}`)
  if (reason !== undefined) conditions.push(`reason = ${parameter(reason)}`)
  if (reference !== undefined) conditions.push(`reference = ${parameter(reference)}`)
  const isRangeOfTime = petId === undefined && orderId === undefined
  if (!isRangeOfTime && since !== undefined) conditions.push(`at >= ${parameter(since)}`)
  if (!isRangeOfTime && until !== undefined) conditions.push(`at < ${parameter(until)}`)
  return conditions
}

const CURSOR = /^(-?\d{1,19})_(\d{1,19})$/

export function toCursor({ at, id }: Place): string {
  return `${at}_${id}`
}

function parseCursor(cursor: string): Place {
  const [, at, id] = CURSOR.exec(cursor) ?? []
  const place = { at: parseInt64(at ?? ''), id: parseInt64(id ?? '') }
  if (place.at === undefined || place.id === undefined) throw unknownCursor(cursor)
  return { at: place.at, id: place.id }
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
  let lastId: bigint | null = BEFORE_ALL.id
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
  const last = rows.length > limit ? pageRows.at(-1) : undefined
  return { rows: pageRows.map(toEntry), next: last === undefined ? undefined : toCursor(last) }
}

function originOf({ id, pet_id, at, key_id, name }: ListedRow) {
  return { id: String(id), petId: pet_id, at: Number(at), keyId: key_id, keyName: name ?? key_id }
}

function toChange(row: ChangeRow): HistoryEntry {
  return {
    ...originOf(row),
    before: Number(row.before),
    after: Number(row.after ?? 0),
    ...factFieldsOf(row),
    ...purposeOf(row),
  }
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
