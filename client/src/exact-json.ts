import { INT64_FIELDS, NESTED_FIELDS } from './contract-types.ts'

export type SchemaName = keyof typeof INT64_FIELDS

/** Where no 16 digits stand in a row, every integer is one that `JSON.parse` keeps whole. */
const LONG_NUMBER = /\d{16}/

/**
 * Reads an answer whose objects are of one schema, alone or in an array, with others in them. Its int64 fields become `bigint`, exact
 * for every int64: `JSON.parse` rounds above 2^53, and Node 20 does not offer it the source text. So long ids
 * are put in quotes first. 100,000 entries with long ids take about 0.1 s, with short ids half of that.
 */
export function readExactly(text: string, schema: SchemaName): unknown {
  const fields = allFields(schema)
  const safe = fields.length > 0 && LONG_NUMBER.test(text) ? quoteIntegers(text, fields) : text
  const value: unknown = JSON.parse(safe)
  makeExact(value, schema)
  return value
}

/** Of the schema and of what is in it. */
function allFields(schema: SchemaName): readonly string[] {
  return [...INT64_FIELDS[schema], ...Object.values(NESTED_FIELDS[schema] ?? {}).flatMap(allFields)]
}

function makeExact(value: unknown, schema: SchemaName): void {
  const fields = INT64_FIELDS[schema]
  const nested = Object.entries(NESTED_FIELDS[schema] ?? {})
  for (const object of Array.isArray(value) ? value : [value]) {
    const record = makeBigInts(object, fields)
    for (const [name, inner] of nested) if (record[name] !== undefined) makeExact(record[name], inner)
  }
}

/** Puts quotes around the integers that are values of these fields. */
function quoteIntegers(text: string, fields: readonly string[]): string {
  const value = `("(?:${fields.join('|')})"\\s*:\\s*)(-?\\d+)(?![\\d.eE])`
  // Without a backslash no string holds a quote, so a quoted name before a colon can only be a field.
  if (!text.includes('\\')) return text.replace(new RegExp(value, 'g'), '$1"$2"')
  // Every other string is matched as a whole, so that what looks like a field inside of one stays as it is.
  const valueOrString = new RegExp(`${value}|"(?:[^"\\\\]|\\\\.)*"`, 'g')
  return text.replace(valueOrString, (whole: string, field?: string, digits?: string) =>
    digits === undefined ? whole : `${field}"${digits}"`,
  )
}

function makeBigInts(object: unknown, fields: readonly string[]): Readonly<Record<string, unknown>> {
  if (!isRecord(object)) throw new SyntaxError('the answer holds something other than an object')
  for (const field of fields) {
    const value = object[field]
    const isExact = typeof value === 'string' ? /^-?\d+$/.test(value) : Number.isSafeInteger(value)
    if (!isExact) throw new SyntaxError(`the answer's ${field} is not an integer that can be kept whole`)
    object[field] = BigInt(value as string | number)
  }
  return object
}

/** JSON with each `bigint` as its digits. */
export function writeExactly(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(writeExactly).join()}]`
  if (!isRecord(value)) return JSON.stringify(value)
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${writeExactly(field)}`).join()}}`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
