import { isObject, type JsonObject, NumberText, parseExactJson, quoted, shown } from '../values/exact-json.ts'
import {
  BadRow,
  type Column,
  type Field,
  headerOf,
  MAX_LINE_LENGTH,
  type RawRow,
  type ReadLines,
  rowOrReason,
  TOO_LONG,
} from './exchange-rows.ts'

/** Reads JSON Lines; blank ones are passed over. */
export function jsonReader(columns: readonly Column[], firstLine: number): ReadLines {
  let next = firstLine
  return (lines) => {
    const rows: RawRow[] = []
    for (const text of lines) {
      const line = next++
      if (text.trim() === '') continue
      rows.push(rowOrReason(line, () => ({ line, fields: fieldsOfJson(text, columns) })))
    }
    return rows
  }
}

/** The fields of one line of JSON as texts, in the order of the columns; null is a blank. Throws `BadRow`. */
export function fieldsOfJson(line: string, columns: readonly Column[]): Field[] {
  if (line.length > MAX_LINE_LENGTH) throw new BadRow(TOO_LONG)
  const row = parseObject(line)
  const fields = columns.map((column) => {
    const value = Object.hasOwn(row, column.name) ? row[column.name] : undefined
    if (column.isOptional && value === null) return ''
    if (value === undefined) {
      if (column.isOptional) return undefined
      throw new BadRow(`${column.name} is missing; it must be ${column.expected}`)
    }
    return textOf(value, column)
  })
  for (const name of Object.keys(row)) {
    if (columns.every((column) => column.name !== name)) {
      throw new BadRow(`${quoted(name)} is not one of the names ${headerOf(columns)}`)
    }
  }
  return fields
}

function parseObject(line: string): JsonObject {
  let row: unknown
  try {
    // A file must write 5, not 5.0.
    row = parseExactJson(line, () => true)
  } catch {
    throw new BadRow(`must be a JSON object on one line, got ${quoted(line)}`)
  }
  if (!isObject(row)) throw new BadRow(`must be a JSON object, got ${quoted(line)}`)
  return row
}

/** Values are not coerced: "5" is not 5. */
function textOf(value: unknown, { name, json, expected }: Column): string {
  if (value instanceof NumberText && json === 'number') return value.text
  if (typeof value === json) return String(value)
  throw new BadRow(`${name} must be ${expected}, got ${shown(value)}`)
}
