import { codecsOf, columnName, columnsOf, type Fields, type RecordOf } from '../core/values/field.ts'
import type { SqlValue } from './sql.ts'

/** The columns of a record as a SELECT lists them. */
export function selectList(fields: Fields): string {
  return Object.keys(columnsOf(fields)).join(', ')
}

/** A reader of rows. A field is absent if its column, which may have a prefix, is null. */
export function rowReader<Of extends Fields>(fields: Of): (row: object, prefix?: string) => RecordOf<Of> {
  const columns = codecsOf(fields).map(({ name, fromSql }) => ({ name, column: columnName(name), fromSql }))
  return (row, prefix = '') => {
    const values = row as Readonly<Record<string, bigint | string | boolean | null>>
    const record: Record<string, unknown> = {}
    for (const { name, column, fromSql } of columns) {
      const value = values[prefix + column] ?? null
      if (value !== null) record[name] = fromSql(value)
    }
    // The constraints of the table and the checks before each write hold for every row.
    return record as RecordOf<Of>
  }
}

/** The values of a record's columns, in their order. */
export function rowValues(fields: Fields): (record: object) => SqlValue[] {
  const names = Object.keys(fields)
  return (record) => {
    const values = record as Readonly<Record<string, SqlValue | undefined>>
    return names.map((name) => values[name] ?? null)
  }
}

/** A record as the log keeps it. Int64s are texts, because JSON readers would round them. */
export function detailText(fields: Fields, record: object, more: Readonly<Record<string, unknown>>): string {
  const values = record as Readonly<Record<string, unknown>>
  const detail: Record<string, unknown> = { ...more }
  for (const { name } of codecsOf(fields)) {
    const value = values[name]
    detail[name] = typeof value === 'bigint' ? String(value) : value
  }
  return JSON.stringify(detail)
}

/** The same in SQL, from columns named like the fields. `more` has names and expressions. */
export function detailSql(
  jsonObject: string,
  fields: Fields,
  more: Readonly<Record<string, string>>,
): string {
  const parts = Object.entries(more).map(([name, expression]) => `'${name}', ${expression}`)
  for (const { name, isInt64 } of codecsOf(fields)) {
    const column = columnName(name)
    parts.push(`'${name}', ${isInt64 ? `CAST(${column} AS TEXT)` : column}`)
  }
  return `CAST(${jsonObject}(${parts.join(', ')}) AS TEXT)`
}

/** The kind of change in a parsed detail. */
export function changeKindIn<Change extends string>(
  detail: { readonly change?: unknown },
  known: readonly Change[],
): Change {
  const change = known.find((candidate) => candidate === detail.change)
  if (change === undefined) {
    throw new Error(`the log has the change "${detail.change}", expected one of ${known.join(', ')}`)
  }
  return change
}

/** The record in a parsed detail. */
export function recordFromDetail<Of extends Fields>(fields: Of, detail: Readonly<Record<string, unknown>>) {
  const record: Record<string, unknown> = {}
  for (const codec of codecsOf(fields)) {
    const value = detail[codec.name]
    if (value !== undefined && value !== null) record[codec.name] = codec.fromSql(value as string)
  }
  return record as RecordOf<Of>
}
