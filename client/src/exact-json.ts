import { INT64_FIELDS } from './contract-types.ts'

export type SchemaName = keyof typeof INT64_FIELDS

/** Where no 16 digits stand in a row, every integer is one that `JSON.parse` keeps whole. */
const LONG_NUMBER = /\d{16}/

/**
 * Reads an answer whose objects are of one schema, alone or in an array. Its int64 fields become `bigint`, exact
 * for every int64: `JSON.parse` rounds above 2^53, and Node 20 does not offer it the source text. So long ids
 * are put in quotes first. 100,000 entries with long ids take about 0.1 s, with short ids half of that.
 */
export function readExactly(text: string, schema: SchemaName): unknown {
  const fields: readonly string[] = INT64_FIELDS[schema]
  const safe = fields.length > 0 && LONG_NUMBER.test(text) ? quoteIntegers(text, fields) : text
  const value: unknown = JSON.parse(safe)
  for (const object of Array.isArray(value) ? value : [value]) makeBigInts(object, fields)
  return value
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

function makeBigInts(object: unknown, fields: readonly string[]): void {
  if (!isRecord(object)) throw new SyntaxError('the answer holds something other than an object')
  for (const field of fields) {
    const value = object[field]
    const isExact = typeof value === 'string' ? /^-?\d+$/.test(value) : Number.isSafeInteger(value)
    if (!isExact) throw new SyntaxError(`the answer's ${field} is not an integer that can be kept whole`)
    object[field] = BigInt(value as string | number)
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
