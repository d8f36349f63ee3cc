import { INT64_FIELDS } from './contract-types.ts'

export type SchemaName = keyof typeof INT64_FIELDS

type Int64Fields = Readonly<
  Record<string, { readonly type: 'int64' | SchemaName; readonly required: boolean }>
>

/** Where no 16 digits stand in a row, every integer is one that `JSON.parse` keeps whole. */
const LONG_NUMBER = /\d{16}/

/** For JSON: its int64 fields as strings of their digits, since most readers of JSON numbers would round them. */
export function withIdsAsText(value: object): object {
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, typeof part === 'bigint' ? String(part) : part]),
  )
}

/** What answers inherit, so that `JSON.stringify` takes them though they hold `bigint`; else they are plain objects. */
const ANSWER: object = Object.create(Object.prototype, {
  toJSON: method(withIdsAsText),
  // Shown without the above, which Bun would list.
  [Symbol.for('nodejs.util.inspect.custom')]: method((answer) => ({ ...answer })),
})

function method(work: (answer: object) => object): PropertyDescriptor {
  function value(this: object): object {
    return work(this)
  }
  return { value, writable: true, configurable: true }
}

/** A copy of an answer, or something made of one, is no answer until this. */
export function asAnswer<Value extends object>(value: Value): Value {
  return Object.setPrototypeOf(value, ANSWER)
}

/**
 * Reads an answer whose objects are of one schema, alone or in an array. Its int64 fields become `bigint`, exact
 * for every int64: `JSON.parse` rounds above 2^53, and Node 20 does not offer it the source text. So long ids
 * are put in quotes first.
 */
export function readExactly(text: string, schema: SchemaName): unknown {
  const names = int64Names(schema)
  const safe = names.length > 0 && LONG_NUMBER.test(text) ? quoteIntegers(text, names) : text
  const value: unknown = JSON.parse(safe)
  makeBigInts(value, schema)
  return value
}

/**
 * JSON with every `bigint` as its digits; Node 20 has no `JSON.rawJSON`. Fields stand in the order of their names: an
 * Idempotency-Key goes with the very bytes, and whoever repeats a change may have built it in another order.
 */
export function writeExactly(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(writeExactly).join(',')}]`
  if (!isRecord(value)) return value === undefined ? 'null' : JSON.stringify(value)
  const fields = Object.entries(value)
    .filter(([, part]) => part !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, part]) => `${JSON.stringify(name)}:${writeExactly(part)}`)
  return `{${fields.join(',')}}`
}

/** Those of the objects that it holds included. */
function int64Names(schema: SchemaName): string[] {
  const fields: Int64Fields = INT64_FIELDS[schema]
  return Object.entries(fields).flatMap(([name, { type }]) => (type === 'int64' ? name : int64Names(type)))
}

/** Puts quotes around the integers that are values of these fields. */
function quoteIntegers(text: string, names: readonly string[]): string {
  const value = `("(?:${names.join('|')})"\\s*:\\s*)(-?\\d+)(?![\\d.eE])`
  // Without a backslash no string holds a quote, so a quoted name before a colon can only be a field.
  if (!text.includes('\\')) return text.replace(new RegExp(value, 'g'), '$1"$2"')
  // Every other string is matched as a whole, so that what looks like a field inside of one stays as it is.
  const valueOrString = new RegExp(`${value}|"(?:[^"\\\\]|\\\\.)*"`, 'g')
  return text.replace(valueOrString, (whole: string, field?: string, digits?: string) =>
    digits === undefined ? whole : `${field}"${digits}"`,
  )
}

/** In an object of that schema, or in each of an array of them. */
function makeBigInts(value: unknown, schema: SchemaName): void {
  const fields = Object.entries<Int64Fields[string]>(INT64_FIELDS[schema])
  for (const object of Array.isArray(value) ? value : [value]) {
    if (!isRecord(object)) throw new SyntaxError('the answer holds something other than an object')
    for (const [name, { type, required }] of fields) {
      const part = object[name]
      if (part === undefined && !required) continue
      if (type === 'int64') object[name] = exactBigInt(name, part)
      else makeBigInts(part, type)
    }
    if (fields.length > 0) asAnswer(object)
  }
}

function exactBigInt(name: string, value: unknown): bigint {
  if (typeof value === 'string' && /^-?\d+$/.test(value)) return BigInt(value)
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  throw new SyntaxError(`the answer's ${name} is not an integer that can be kept whole`)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
