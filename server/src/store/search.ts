import type { CatalogStore, SearchStep, SearchWay } from '../core/catalog/catalog-store.ts'
import type { InventorySearch, SearchOrder, SearchPlace, SearchText } from '../core/catalog/search.ts'
import type { PetStatus } from '../core/stock/inventory.ts'
import { ALL_IDS } from './import-staging.ts'
import { isHoldOver } from './order-rows.ts'
import type { Dialect, SqlDatabase, SqlValue } from './sql.ts'
import type { StoreClock } from './store-clock.ts'

interface FoundRecord {
  /** How many were looked at, and the last of them. */
  readonly looked_at: bigint
  readonly last_id: bigint
  readonly last_words: string | null
  /** All of these are null where none was found. */
  readonly pet_id: bigint | null
  readonly name: string
  readonly words: string
  readonly category_id: bigint
  readonly status: PetStatus
  readonly quantity: bigint
  readonly reserved: bigint
  readonly available: bigint
  readonly barcode: string | null
  readonly low_at: bigint | null
  readonly own_low_at: bigint | null
  readonly low_since: bigint | null
  /** Of what is reserved, how much by holds that are over. */
  readonly ended: bigint
}

export function searchVerbs(database: SqlDatabase, clock: StoreClock): Pick<CatalogStore, 'searchStep'> {
  const { dialect } = database
  return {
    searchStep: async (search, step) => {
      const size = Math.min(step.size, dialect.maxLookedAt)
      const { text, values } = stepStatement(dialect, clock, search, { ...step, size })
      const rows = await database.rows<FoundRecord>(text, ...values)
      const last = rows[0]
      const isAll = last === undefined || Number(last.looked_at) < size
      const found = rows.flatMap((row) => (row.pet_id === null ? [] : [toFound(row, row.pet_id, search)]))
      return { rows: found, upTo: isAll ? undefined : placeOf(last, step.way) }
    },
  }
}

function placeOf({ last_id: id, last_words: words }: FoundRecord, way: SearchWay): SearchPlace {
  return way === 'name' && words !== null ? { id, value: words } : { id }
}

function toFound(row: FoundRecord, petId: bigint, { order }: InventorySearch) {
  const { name, category_id: categoryId, status } = row
  return {
    ...{ petId, name, categoryId, status, quantity: Number(row.quantity) },
    reserved: Number(row.reserved - row.ended),
    ...(row.barcode === null ? {} : { barcode: row.barcode }),
    ...(row.low_at === null ? {} : { lowStockAt: Number(row.low_at) }),
    ...(row.own_low_at === null ? {} : { ownLowStockAt: Number(row.own_low_at) }),
    ...(row.low_since === null ? {} : { lowSince: Number(row.low_since) }),
    place: { id: petId, ...sortedBy(row, order) },
  }
}

function sortedBy(row: FoundRecord, { by }: SearchOrder): Pick<SearchPlace, 'value'> {
  if (by === 'petId') return {}
  return { value: by === 'name' ? row.words : Number(row[by]) }
}

type Bind = (value: SqlValue | undefined, type?: 'BIGINT' | 'TEXT') => string

/** What is sorted by before the id, of `stock JOIN pets`. */
const SORT_VALUES = {
  name: { sql: 'pets.words', type: 'TEXT' },
  quantity: { sql: 'quantity', type: 'BIGINT' },
  available: { sql: 'quantity - reserved', type: 'BIGINT' },
} as const

/**
 * One statement: the candidates of this step, by an index in the order of its way; the best of them; and where the step
 * has ended. Its text depends on way, order, size and the number of words alone, and what is not asked for is null: so
 * there are few to be prepared. The size is in it since PostgreSQL plans by it.
 */
function stepStatement(
  dialect: Dialect,
  clock: StoreClock,
  search: InventorySearch,
  step: SearchStep,
): { readonly text: string; readonly values: readonly SqlValue[] } {
  const now = clock.sql('$1')
  const values: SqlValue[] = [clock.given()]
  const bind: Bind = (value, type = 'BIGINT') => {
    values.push(value ?? null)
    return `CAST($${values.length} AS ${type})`
  }
  const { text: asked, isLow, order } = search
  const candidates = candidatesOf(dialect, search, step, bind)
  const [status, categoryId] = [bind(search.status, 'TEXT'), bind(search.categoryId)]
  const below = bind(search.below)
  const back = isBackward(order, step.way) ? '' : 'DESC'
  // What has the words is looked up first: few have them.
  const pets = dialect.lookUp('pets', 'pets.id = candidates.id')
  const stock = dialect.lookUp('stock', 'stock.pet_id = candidates.id')
  const text = `
    WITH candidates AS MATERIALIZED (${candidates}),
    best AS (
      SELECT stock.pet_id, name, pets.words, category_id, status, quantity, reserved, quantity - reserved AS available,
        barcode, low_at, low_stock_at AS own_low_at, is_low
      FROM candidates ${asked === undefined ? `${stock} ${pets}` : `${pets} ${stock}`}
      WHERE (${status} IS NULL OR status = ${status})
        AND (${categoryId} IS NULL OR category_id = ${categoryId})
        AND (${below} IS NULL OR quantity - reserved < ${below})
        AND (${bind(isLow ? 1 : 0)} = 0 OR is_low)
        AND ${asked === undefined || step.way === 'words' ? 'true' : isFoundBy(asked, bind)}
        AND ${isBehind(order, step.behind, bind)}
      ORDER BY ${sortOf(order)} LIMIT ${bind(step.limit)}
    )
    SELECT looked_at, last.id AS last_id, last.words AS last_words, best.*, (
      SELECT CAST(coalesce(sum(orders.quantity), 0) AS BIGINT) FROM orders ${dialect.indexedBy('orders_held')}
      WHERE orders.pet_id = best.pet_id AND ${isHoldOver(now)}) AS ended,
      CASE WHEN is_low THEN (
        SELECT at FROM log ${dialect.indexedBy('log_of_crossings')}
        WHERE log.pet_id = best.pet_id AND kind = 'low' ORDER BY id DESC LIMIT 1) END AS low_since
    FROM (
      SELECT id, words, (SELECT count(*) FROM candidates) AS looked_at FROM candidates
      ORDER BY ${step.way === 'name' ? `words ${back}, ` : ''}id ${back} LIMIT 1
    ) AS last LEFT JOIN best ON true`
  return { text, values }
}

function candidatesOf(
  { indexedBy, wordIndex }: Dialect,
  { text, status, categoryId, order }: InventorySearch,
  { way, size, from }: SearchStep,
  bind: Bind,
): string {
  const isBack = isBackward(order, way)
  const direction = isBack ? 'DESC' : ''
  if (way === 'name') {
    const behind =
      from === undefined
        ? 'true'
        : `(words, id) ${isBack ? '<' : '>'} (${bind(from.value, 'TEXT')}, ${bind(from.id)})`
    return `SELECT id, words FROM pets WHERE ${behind} ORDER BY words ${direction}, id ${direction} LIMIT ${size}`
  }
  const bound = bind(from === undefined ? ALL_IDS[isBack ? 1 : 0] : from.id)
  const isNotPassed = (id: string) => `${id} ${isBack ? '<' : '>'}${from === undefined ? '=' : ''} ${bound}`
  const select = (table: string, id: string, which: string) =>
    `SELECT ${id} AS id, CAST(NULL AS TEXT) AS words FROM ${table} WHERE ${which} AND ${isNotPassed(id)}`
  const some = `ORDER BY id ${direction} LIMIT ${size}`
  if (way === 'petId') return `${select('pets', 'id', 'true')} ${some}`
  if (way === 'low') return `${select(`stock ${indexedBy('stock_low')}`, 'pet_id', 'is_low')} ${some}`
  if (way === 'category') {
    const ofCategory = `category_id = ${bind(categoryId)}`
    return `${select(`pets ${indexedBy('pets_by_category')}`, 'id', ofCategory)} ${some}`
  }
  if (way === 'status') {
    const ofStatus = `status = ${bind(status, 'TEXT')}`
    return `${select(`stock ${indexedBy('stock_by_status')}`, 'pet_id', ofStatus)} ${some}`
  }
  const { words = [], id, barcode } = text ?? {}
  const parts = [
    select('pets', 'id', `id = ${bind(id)}`),
    select('pets', 'id', `barcode = ${bind(barcode, 'TEXT')}`),
  ]
  if (words.length > 0) {
    const { table, which } = wordIndex.found(bind(wordIndex.query(words), 'TEXT'))
    const byWords = select(table, wordIndex.id, which)
    parts.push(`SELECT * FROM (${byWords} ${some}) AS by_words`)
  }
  return `SELECT * FROM (${parts.join(' UNION ')}) AS found ${some}`
}

/** Ways by id go up, unless that is the order that is wanted and it goes down. */
function isBackward({ by, isDescending }: SearchOrder, way: SearchWay): boolean {
  return isDescending && (way === 'name' || by === 'petId')
}

function sortOf({ by, isDescending }: SearchOrder): string {
  const direction = isDescending ? 'DESC' : ''
  return `${by === 'petId' ? '' : `${SORT_VALUES[by].sql} ${direction}, `}stock.pet_id ${direction}`
}

function isBehind({ by, isDescending }: SearchOrder, place: SearchPlace | undefined, bind: Bind): string {
  const sign = isDescending ? '<' : '>'
  const id = bind(place?.id)
  if (by === 'petId') return `(${id} IS NULL OR stock.pet_id ${sign} ${id})`
  const { sql, type } = SORT_VALUES[by]
  return `(${id} IS NULL OR (${sql}, stock.pet_id) ${sign} (${bind(place?.value, type)}, ${id}))`
}

/** The same that the index of words says. Words have nothing in them that means something to LIKE. */
function isFoundBy({ words, id, barcode }: SearchText, bind: Bind): string {
  const parts = inFewSizes(words).map((word) => `' ' || pets.words LIKE ${bind(`% ${word}%`, 'TEXT')}`)
  const byWords = parts.length === 0 ? '' : `(${parts.join(' AND ')}) OR `
  return `(${byWords}pets.id = ${bind(id)} OR barcode = ${bind(barcode, 'TEXT')})`
}

/** Repeats the last one: as many statements as there are numbers of words would be too many. */
function inFewSizes(words: readonly string[]): readonly string[] {
  const last = words.at(-1)
  if (last === undefined) return words
  const size = 2 ** Math.ceil(Math.log2(words.length))
  return [...words, ...Array<string>(size - words.length).fill(last)]
}
