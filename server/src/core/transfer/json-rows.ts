import {
  BadRow,
  type Column,
  type Field,
  headerOf,
  MAX_LINE_LENGTH,
  quoted,
  type RawRow,
  type ReadLines,
  rowOrReason,
  TOO_LONG,
} from './exchange-rows.ts'

/** A JSON number as it was written: a double would round an int64. */
class NumberText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Only such numbers read differently from how they were written. */
const NEEDS_ITS_TEXT = /[0-9][.eE]|[0-9]{16}/

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

function parseObject(line: string): Readonly<Record<string, unknown>> {
  let row: unknown
  try {
    row = NEEDS_ITS_TEXT.test(line) ? JSON.parse(line, keepNumberText) : JSON.parse(line)
  } catch {
    throw new BadRow(`must be a JSON object on one line, got ${quoted(line)}`)
  }
  if (typeof row !== 'object' || row === null || Array.isArray(row) || row instanceof NumberText) {
    throw new BadRow(`must be a JSON object, got ${quoted(line)}`)
  }
  return row as Record<string, unknown>
}

function keepNumberText(_: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value
}

function textOf(value: unknown, { name, json, expected }: Column): string {
  if (value instanceof NumberText && json === 'number') return value.text
  if (typeof value === json) return String(value)
  throw new BadRow(`${name} must be ${expected}, got ${shown(value)}`)
}

/** No coercion: "5" is not 5, and the message says why. */
function shown(value: unknown): string {
  if (value instanceof NumberText) return value.text
  if (typeof value === 'string') return `${quoted(value)} (a string)`
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
