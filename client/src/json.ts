import { INT64_FIELDS } from './contract-types.ts'

/** TypeScript does not declare these parts of JSON yet. */
interface ExactJson {
  parse(
    text: string,
    reviver: (this: unknown, name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown
  /** Absent on runtimes that do not pass `source` to the reviver either. */
  rawJSON?(text: string): object
}

const { parse, rawJSON } = JSON as unknown as ExactJson
if (rawJSON === undefined) {
  throw new Error(
    '@petstore/client needs Node 22, Bun 1.4, Chrome 114, Firefox 135, Safari 18.4 or later: this runtime has no JSON.rawJSON, without which ids above 2^53 are rounded',
  )
}
const exactNumber = rawJSON

/** Parses an object or a list. Its ids are exact over the whole int64 range. */
export function parseJson(text: string): object {
  const value = parse(text, function (name, part, { source }) {
    // The contract has no lists of other numbers.
    const isId = typeof part === 'number' && (INT64_FIELDS.has(name) || Array.isArray(this))
    return isId ? BigInt(source ?? '') : part
  })
  if (typeof value === 'object' && value !== null) return value
  throw new SyntaxError('the JSON is neither an object nor a list')
}

/**
 * Writes a request body with exact ids. Fields are sorted by name, because an Idempotency-Key only accepts a repeated
 * request with the same bytes. Throws `TypeError` on a number that may have been rounded.
 */
export function serializeBody(body: unknown): string | undefined {
  return JSON.stringify(body, (name, value: unknown) => {
    if (typeof value === 'bigint') return exactNumber(String(value))
    if (typeof value === 'number') return requireExact(name, value)
    return isRecord(value) ? Object.fromEntries(Object.entries(value).sort(byName)) : value
  })
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A safe integer. The contract has no other numbers, and larger ones may have been rounded. */
export function requireExact(name: string, value: number): number {
  if (Number.isSafeInteger(value)) return value
  throw new TypeError(`${name} must be a safe integer or a bigint, got ${value}`)
}

/** `JSON.stringify` for values that contain `bigint`, which are written as strings of their digits. */
export function stringify(value: unknown, space?: string | number): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part), space)
}
