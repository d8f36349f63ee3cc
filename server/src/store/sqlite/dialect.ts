import type { Database, SQLQueryBindings, Statement as SqliteStatement } from 'bun:sqlite'
import { GENERATED_ID_TABLES, type GeneratedIdTable } from '../../core/transfer/copy.ts'
import { highestGeneratedId, highestIdSql, SKIPPED_ID_COUNT } from '../generated-ids.ts'
import type { Dialect, Statement } from '../sql.ts'

/** The id of the last row that was ever written to the log, even if it was pruned: ids are never reused. */
export const LAST_LOG_ID = '(SELECT max(coalesce((SELECT max(id) FROM log), 0), pruned_up_to) FROM log_state)'

export const DIALECT: Dialect = {
  types: { integer: 'INTEGER', text: 'TEXT', boolean: 'INTEGER' },
  isLogPruned: 'pruned_up_to > 0',
  // A SQLite file has one writer at a time.
  forUpdate: '',
  skipLocked: '',
  indexedBy: (index) => `INDEXED BY ${index}`,
  joinByIndex: (table, condition) => `CROSS JOIN ${table} ON ${condition}`,
  idsInJsonArray: (parameter) => `SELECT value AS id FROM json_each(${parameter})`,
  textsInJsonArray: (parameter) => `SELECT value AS text FROM json_each(${parameter})`,
  lastIdSql: (table) => `SELECT ${table} FROM last_ids`,
  advanceIds: (table) => `UPDATE last_ids SET ${table} = $1 WHERE ${table} < $1`,
  apiKeyOrderColumn: 'rowid',
  newIdentity: [
    'UPDATE log_state SET identity = lower(hex(randomblob(8)))',
    ...GENERATED_ID_TABLES.map(
      (table) => `UPDATE last_ids SET ${table} = max(${table}, coalesce((${highestIdSql(table)}), ${table}))`,
    ),
  ],
  skipIds: GENERATED_ID_TABLES.map(
    (table) => `UPDATE last_ids SET ${table} = ${table} + ${SKIPPED_ID_COUNT}`,
  ),
}

/** A parameter `$1` of a Statement is written `?1` in bun:sqlite. */
export function toSqlite(text: string): string {
  return text.replaceAll(/\$(\d+)/g, '?$1')
}

/** Runs statements inside the current transaction. */
export function runAll(database: Database, statements: readonly Statement[]): void {
  for (const { text, values } of statements) {
    database.query<unknown, SQLQueryBindings[]>(toSqlite(text)).run(...values)
  }
}

/** Runs the query for each key and returns the rows that exist. */
export function findAll<Key extends SQLQueryBindings, Row, Value>(
  keys: Iterable<Key>,
  query: Pick<SqliteStatement<Row, [Key]>, 'get'>,
  toValue: (row: Row) => Value,
): Map<Key, Value> {
  const found = new Map<Key, Value>()
  for (const key of keys) {
    if (found.has(key)) continue
    const row = query.get(key)
    if (row !== null) found.set(key, toValue(row))
  }
  return found
}

/** Finds ids for new rows, inside a commit. */
export function idGenerator(database: Database, table: GeneratedIdTable) {
  const findLast = database.query<{ last: bigint }, []>(`SELECT ${table} AS last FROM last_ids`)
  const advanceTo = database.query<unknown, [bigint]>(toSqlite(DIALECT.advanceIds(table)))
  const findUsed = database.query<unknown, [bigint, bigint]>(
    `SELECT 1 FROM ${table} WHERE id BETWEEN ? AND ? LIMIT 1`,
  )
  return {
    /** The first `count` unused ids after the last generated id. Reserves none: the commit must call `advance`. */
    findUnused: (count: number): bigint[] => {
      const ids: bigint[] = []
      if (count === 0) return ids
      const first = (findLast.get()?.last ?? 0n) + 1n
      // One query is almost always enough: an id above the last one is taken only if a caller or an import has chosen it.
      const areUnused = findUsed.get(first, first + BigInt(count - 1)) === null
      for (let id = first; ids.length < count; id++) {
        if (areUnused || findUsed.get(id, id) === null) ids.push(id)
      }
      return ids
    },
    /** Makes generated ids start above these ids. */
    advance: (ids: Iterable<bigint>): void => void advanceTo.run(highestGeneratedId(ids)),
  }
}
