import type { COPIED_TABLES, ColumnType, TableName } from '../core/transfer/copy.ts'
import { codecsOf, columnName, columnsOf, type Fields, type RecordOf } from '../core/values/field.ts'
import type { SqlValue } from './sql.ts'

interface ColumnValues {
  readonly integer: bigint
  readonly text: string
  readonly boolean: boolean | bigint
}

/** A row of a table, as both databases return it. The columns `Nullable` may be null. */
export type RowOf<Table extends TableName, Nullable extends keyof (typeof COPIED_TABLES)[Table] = never> = {
  readonly [Column in keyof (typeof COPIED_TABLES)[Table]]:
    | ColumnValues[(typeof COPIED_TABLES)[Table][Column] & ColumnType]
    | (Column extends Nullable ? null : never)
}

/** The columns of a record, separated by commas. */
export function selectList(fields: Fields): string {
  return Object.keys(columnsOf(fields)).join(', ')
}

/** Returns a function that turns a row into a record. If a column is null, the record lacks the field. */
export function rowReader<FieldSet extends Fields>(
  fields: FieldSet,
  columnOf = columnName,
): (row: object) => RecordOf<FieldSet> {
  const columns = codecsOf(fields).map(({ name, fromSql }) => ({ name, column: columnOf(name), fromSql }))
  return (row) => {
    const values = row as Readonly<Record<string, bigint | string | boolean | null>>
    const record: Record<string, unknown> = {}
    for (const { name, column, fromSql } of columns) {
      const value = values[column] ?? null
      if (value !== null) record[name] = fromSql(value)
    }
    // The table has only valid records: each record is checked before it is written.
    return record as RecordOf<FieldSet>
  }
}

/** Returns a function that turns a record into the values of its columns, in the order of the columns. */
export function rowValues(fields: Fields): (record: object) => SqlValue[] {
  const names = Object.keys(fields)
  return (record) => {
    const values = record as Readonly<Record<string, SqlValue | undefined>>
    return names.map((name) => values[name] ?? null)
  }
}

/** A record as JSON for the column `detail` of the log. An int64 becomes a text, because JSON readers would round it. */
export function detailText(
  fields: Fields,
  record: object,
  otherFields: Readonly<Record<string, unknown>>,
): string {
  const values = record as Readonly<Record<string, unknown>>
  const detail: Record<string, unknown> = { ...otherFields }
  for (const { name } of codecsOf(fields)) {
    const value = values[name]
    detail[name] = typeof value === 'bigint' ? String(value) : value
  }
  return JSON.stringify(detail)
}

/** The kind of change in a parsed `detail` of the log. */
export function changeKindIn<Change extends string>(
  detail: { readonly change?: unknown },
  known: readonly Change[],
): Change {
  const change = known.find((kind) => kind === detail.change)
  if (change === undefined) {
    throw new Error(`the log has the change "${detail.change}", expected one of ${known.join(', ')}`)
  }
  return change
}

/** Returns a function that reads the record in a parsed `detail` of the log. */
export function detailReader<FieldSet extends Fields>(fields: FieldSet) {
  return rowReader(fields, (name) => name)
}
