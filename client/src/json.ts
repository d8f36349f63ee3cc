import { INT64_FIELDS } from './contract-types.ts'
import { type IdKind, int64Digits, toBigInt } from './ids.ts'

export type SchemaName = keyof typeof INT64_FIELDS

/** The fields of an object that are int64, or that contain objects, or arrays of objects, with such fields. */
export type Int64Fields = Readonly<
  Record<string, { readonly type: 'int64' | SchemaName; readonly required: boolean }>
>

/** `JSON.parse` reads integers with up to 15 digits exactly. */
const LONG_NUMBER = /\d{16}/

export function fieldsOf(schema: SchemaName): Int64Fields {
  return INT64_FIELDS[schema]
}

/**
 * Parses an object, or an array of objects, with these int64 fields. Ids are exact over the whole int64 range:
 * `JSON.parse` rounds integers above 2^53, and on Node 20 a reviver cannot see the source text. So long ids are put in
 * quotes before parsing.
 */
export function parseJson(text: string, fields: Int64Fields, ids: IdKind): unknown {
  const names = int64Names(fields)
  const isSafe = names.length === 0 || !LONG_NUMBER.test(text)
  const value: unknown = JSON.parse(isSafe ? text : quoteIntegers(text, names))
  convertIds(value, fields, ids)
  return value
}

/**
 * Writes a request body with exact ids; Node 20 has no `JSON.rawJSON`. Fields are sorted by name, because an
 * Idempotency-Key only accepts a repeated request with the same bytes.
 */
export function serializeBody(value: unknown, fields: Int64Fields = {}): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map((item) => serializeBody(item, fields)).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value ?? null)
  const entries = Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, part]) => `${JSON.stringify(name)}:${serializeField(name, part, fields[name])}`)
  return `{${entries.join(',')}}`
}

function serializeField(name: string, value: unknown, field: Int64Fields[string] | undefined): string {
  if (field === undefined || value === null) return serializeBody(value)
  return field.type === 'int64' ? int64Digits(name, value) : serializeBody(value, fieldsOf(field.type))
}

/** `JSON.stringify` for values that contain `bigint`, which are written as strings of their digits. */
export function stringify(value: unknown, space?: string | number): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part), space)
}

/** Includes the fields of nested objects. */
function int64Names(fields: Int64Fields): string[] {
  return Object.entries(fields).flatMap(([name, { type }]) =>
    type === 'int64' ? name : int64Names(fieldsOf(type)),
  )
}

/** Puts quotes around the integers that are values of these fields. */
function quoteIntegers(text: string, names: readonly string[]): string {
  const value = `("(?:${names.join('|')})"\\s*:\\s*)(-?\\d+)(?![\\d.eE])`
  // Without a backslash, no string contains a quote, so a quoted name before a colon can only be a field.
  if (!text.includes('\\')) return text.replace(new RegExp(value, 'g'), '$1"$2"')
  // Matches every other string as a whole, so that text inside a string never counts as a field.
  const valueOrString = new RegExp(`${value}|"(?:[^"\\\\]|\\\\.)*"`, 'g')
  return text.replace(valueOrString, (whole: string, field?: string, digits?: string) =>
    digits === undefined ? whole : `${field}"${digits}"`,
  )
}

function convertIds(value: unknown, fields: Int64Fields, ids: IdKind): void {
  const entries = Object.entries(fields)
  for (const object of Array.isArray(value) ? value : [value]) {
    if (!isRecord(object)) throw new SyntaxError('the JSON contains a value that is not an object')
    for (const [name, { type, required }] of entries) {
      const part = object[name]
      if (part === undefined && !required) continue
      if (type !== 'int64') convertIds(part, fieldsOf(type), ids)
      else object[name] = exactId(name, part, ids)
    }
  }
}

function exactId(name: string, value: unknown, ids: IdKind): bigint | string {
  const id = toBigInt(value)
  if (id === undefined) throw new SyntaxError(`${name} is not an exact integer: ${String(value)}`)
  return ids === 'string' ? String(id) : id
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
