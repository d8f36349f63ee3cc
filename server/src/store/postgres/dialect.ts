import { MAX_LOG_ROWS } from '../../core/stock/decide.ts'
import { GENERATED_ID_TABLES } from '../../core/transfer/copy.ts'
import { highestIdSql } from '../generated-ids.ts'
import type { Columns, Dialect, SqlValue } from '../sql.ts'

/** An advisory lock that an import holds until its commit. */
export const IMPORT_LOCK = 0x66696c65n
/** An advisory lock: exclusive for imports and for changes of categories, shared for changes of pets. The number is arbitrary. */
export const CATALOG_LOCK = 0x696d706f7274n
/** The class of the advisory locks of barcodes: the first of the two numbers that name a lock. */
export const BARCODE_LOCK_CLASS = 0x62617263
const SEQUENCES = { orders: 'order_ids', pets: 'pet_ids', categories: 'category_ids' } as const

export const DIALECT = {
  types: { integer: 'BIGINT', text: 'TEXT', boolean: 'BOOLEAN' },
  isLogPruned: 'prunings > 0',
  forUpdate: 'FOR UPDATE',
  skipLocked: 'SKIP LOCKED',
  indexedBy: () => '',
  joinByIndex: (table, condition) =>
    `CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE ${condition} OFFSET 0) AS ${table}`,
  idsInJsonArray: (parameter) =>
    `SELECT CAST(value AS bigint) AS id FROM jsonb_array_elements_text(CAST(CAST(${parameter} AS text) AS jsonb)) AS listed (value)`,
  textsInJsonArray: (parameter) =>
    `SELECT value AS text FROM jsonb_array_elements_text(CAST(CAST(${parameter} AS text) AS jsonb)) AS listed (value)`,
  lastIdSql: (table) =>
    `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM ${SEQUENCES[table]}`,
  advanceIds: (table) =>
    `SELECT setval('${SEQUENCES[table]}', $1) WHERE $1 >= (SELECT last_value FROM ${SEQUENCES[table]})`,
  apiKeyOrderColumn: 'number',
  newIdentity: [
    `SELECT setval('log_ids', coalesce((SELECT max(id) FROM log), 0) + ${MAX_LOG_ROWS})`,
    `UPDATE log_state SET identity = gen_random_uuid(), prunings = prunings + 1, pruned_xid = pg_current_xact_id()`,
    "UPDATE log_numbering SET server = ''",
    ...GENERATED_ID_TABLES.map(
      (table) =>
        `SELECT setval('${SEQUENCES[table]}', highest) FROM (${highestIdSql(table)}) AS existing
        WHERE highest >= (SELECT last_value FROM ${SEQUENCES[table]})`,
    ),
  ],
  skipIds: ['SELECT skip_ids()'],
} as const satisfies Dialect

/** Parses an array of integers in PostgreSQL's text format. */
export function parseArrayText(text: string): bigint[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt)
}

/** Sends all integers as bigint. Bun would send small numbers as another type, for which PostgreSQL needs another plan. */
export function toParameter(value: SqlValue): bigint | string | boolean | null {
  return typeof value === 'number' ? BigInt(value) : value
}

/** The placeholders for the values of `columnArrays`, from the number `first` on: `$1::BIGINT[],$2::TEXT[]`. */
export function arrayPlaceholders(columns: Columns, first = 1): string {
  return Object.values(columns)
    .map((type, index) => `$${first + index}::${DIALECT.types[type]}[]`)
    .join()
}

/** A statement that inserts rows. Its values are `columnArrays`. */
export function insertSql(table: string, columns: Columns): string {
  return `INSERT INTO ${table} (${Object.keys(columns)}) SELECT * FROM unnest(${arrayPlaceholders(columns)})`
}

/** A statement that updates rows. Its values are `columnArrays`, which include the values of `idColumn`. */
export function updateSql(table: string, columns: Columns, idColumn = 'id'): string {
  const names = Object.keys(columns)
  const assignments = names.filter((name) => name !== idColumn).map((name) => `${name} = new_row.${name}`)
  return `UPDATE ${table} SET ${assignments}
    FROM unnest(${arrayPlaceholders(columns)}) AS new_row (${names}) WHERE ${table}.${idColumn} = new_row.${idColumn}`
}

/** The text of an array for each column. The values of a row are in the order of the columns. */
export function columnArrays(columns: Columns, rows: readonly (readonly SqlValue[])[]): string[] {
  return Object.keys(columns).map((_, index) => arrayText(rows, (row) => elementText(row[index] ?? null)))
}

function elementText(value: SqlValue): bigint | number | string | null {
  if (typeof value === 'string') return quotedElement(value)
  if (typeof value === 'boolean') return value ? 't' : 'f'
  return value
}

/** An array in PostgreSQL's text format, which is several times faster than sending an array with Bun. Texts must be quoted. */
export function arrayText<Row>(
  rows: readonly Row[],
  toElement: (row: Row) => bigint | number | string | null,
): string {
  return `{${rows.map((row) => toElement(row) ?? 'NULL').join()}}`
}

export function idArray(ids: readonly bigint[]): string {
  return arrayText(ids, (id) => id)
}

const SPECIAL_CHARACTER = /["\\]/

/** A text as an element of `arrayText`. */
export function quotedElement(text: string): string {
  // Few texts need escaping, and this test takes half the time of replaceAll.
  return SPECIAL_CHARACTER.test(text) ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : `"${text}"`
}
