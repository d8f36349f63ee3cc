import type { HttpRequest } from '@petstore/wire'
import type { Static, TObject, TOptional, TSchema } from 'typebox'
import { IsOptional } from 'typebox'
import { nameAdvice } from '../core/values/closest-name.ts'
import { ServiceError } from '../core/values/errors.ts'
import {
  describeValue,
  isObject,
  type JsonObject,
  parseExactJson,
  quote,
  shorten,
} from '../core/values/exact-json.ts'
import {
  codecOf,
  codecsOf,
  type FieldCodec,
  type Fields,
  invalidField,
  type RecordOf,
  valueFromJson,
} from '../core/values/field.ts'

/** Deeper than any valid body, and too shallow to overflow the stack of a recursive parser. */
const MAX_NESTING = 64
const UTF8 = new TextDecoder('utf-8', { fatal: true })
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;|$)/i

/** Parameters by name. Query parameters are optional or have a default. */
export type Schemas = Readonly<Record<string, TSchema>>

export type Values<Of extends Schemas> = {
  readonly [Name in keyof Of]: Of[Name] extends TOptional<TSchema>
    ? Static<Of[Name]> | undefined
    : Static<Of[Name]>
}

interface SchemaFacts {
  readonly default?: unknown
  readonly examples?: readonly unknown[]
}

/** Reads a path parameter. */
export function readSegment({ name, expected, fromText }: FieldCodec, text: string): unknown {
  const value = fromText(text)
  if (value !== undefined) return value
  const problem =
    text === '' ? `is missing in the path; it must be ${expected}` : `must be ${expected}, got ${quote(text)}`
  throw invalidField(name, `${name} ${problem}`)
}

/** What to do with fields and query parameters that an operation does not know. */
export type UnknownNames = 'ignored' | 'rejected'

/** Builds the reader of a query once. Each parameter must be valid and occur at most once. */
export function queryReader<Query extends Schemas>(
  schemas: Query,
  unknownNames: UnknownNames,
): (query: string) => Values<Query> {
  const names = Object.keys(schemas)
  const parameters = Object.entries(schemas).map(([name, schema]) => {
    const { default: fallback }: SchemaFacts = schema
    if (!IsOptional(schema) && fallback === undefined) throw new Error(`${name} needs a default`)
    return { name, fallback, codec: codecOf(name, schema) }
  })
  return (query) => {
    const given = new URLSearchParams(query)
    if (unknownNames === 'rejected') rejectUnknown('query parameter', given.keys(), names)
    const values: Record<string, unknown> = {}
    for (const { name, fallback, codec } of parameters) {
      const [text, another] = given.getAll(name)
      if (another !== undefined) {
        throw invalidField(name, `the query parameter ${name} is given twice; give it once`)
      }
      const value = text === undefined ? fallback : codec.fromText(text)
      if (text !== undefined && value === undefined) {
        throw invalidField(name, `the query parameter ${name} must be ${codec.expected}, got ${quote(text)}`)
      }
      values[name] = value
    }
    return values as Values<Query>
  }
}

/** Throws `invalid_request` for the first name that is not known, and suggests the closest known name. */
export function rejectUnknown(
  what: 'field' | 'query parameter',
  given: Iterable<string>,
  known: readonly string[],
): void {
  for (const name of given) {
    if (known.includes(name)) continue
    const field = shorten(name)
    throw invalidField(field, `unknown ${what} ${JSON.stringify(field)} (${nameAdvice(name, known)})`)
  }
}

/**
 * Builds the reader of a body once. It throws a ServiceError that says what to send. `parse` replaces the parser that
 * follows from the schema.
 */
export function bodyReader<Of extends Fields, Parsed = RecordOf<Of>>(
  schema: TObject<Of>,
  unknownNames: UnknownNames,
  parse?: (value: JsonObject) => Parsed,
): (request: HttpRequest, bytes: Uint8Array) => Parsed | RecordOf<Of> {
  const parser = parse ?? bodyParser(schema)
  const names = Object.keys(schema.properties)
  const { examples } = schema as SchemaFacts
  const example = JSON.stringify(examples?.[0] ?? {})
  const advice = `send a JSON object such as ${example} with Content-Type: application/json`
  return (request, bytes) => {
    const body = objectOf(jsonOf(request, bytes, advice), example)
    if (unknownNames === 'rejected') rejectUnknown('field', Object.keys(body), names)
    return parser(body)
  }
}

function jsonOf({ headers }: HttpRequest, bytes: Uint8Array, advice: string): unknown {
  if (bytes.length === 0) throw invalid(`the request body is missing; ${advice}`)
  const mediaType = headers.get('content-type')
  if (mediaType === null || !JSON_MEDIA_TYPE.test(mediaType)) {
    const got = mediaType === null ? 'none' : JSON.stringify(mediaType.slice(0, 80))
    throw invalid(`Content-Type must be application/json, got ${got}`)
  }
  const coding = headers.get('content-encoding')
  if (coding !== null && coding.toLowerCase() !== 'identity') {
    throw invalid(
      `Content-Encoding ${JSON.stringify(coding.slice(0, 80))} is not supported; send the body uncompressed`,
    )
  }
  const text = decodeUtf8(bytes)
  if (nestsTooDeep(text)) {
    throw invalid(`the request body nests deeper than ${MAX_NESTING} levels; ${advice}`)
  }
  try {
    return parseExactJson(text)
  } catch {
    throw invalid(`the request body is not valid JSON; ${advice}`)
  }
}

function objectOf(value: unknown, example: string): JsonObject {
  if (isObject(value)) return value
  throw invalid(`the request body must be a JSON object such as ${example}, got ${describeValue(value)}`)
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw invalid('the request body is not valid UTF-8; JSON is sent as UTF-8')
  }
}

/** Checked before parsing, because a recursive parser could overflow its stack. */
function nestsTooDeep(text: string): boolean {
  if (text.length <= MAX_NESTING) return false
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{' || character === '[') {
      if (++depth > MAX_NESTING) return true
    } else if (character === '}' || character === ']') depth--
  }
  return false
}

export function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message)
}

/** The keywords of a body's schema that concern several fields. */
interface BodyKeywords {
  readonly minProperties?: number
  readonly choices?: Choices
}

/**
 * Groups of field names, by title. A body must have at least one field of exactly one group. In the contract, each
 * group becomes an object schema with its title.
 */
export type Choices = Readonly<Record<string, readonly string[]>>

/** A parser of bodies with this schema. It throws `invalid_request` and says which field is wrong and why. */
export function bodyParser<Of extends Fields>(
  schema: TObject<Of>,
  what = 'the body',
): (body: JsonObject) => RecordOf<Of> {
  const codecs = codecsOf(schema.properties)
  const names = codecs.map(({ name }) => name)
  const { minProperties = 0, choices = {} } = schema as BodyKeywords
  const groups = Object.values(choices)

  return (body) => {
    if (groups.length > 0) requireOneGroup(what, body, groups)
    if (minProperties > 0) requireAny(what, body, names)
    const record: Record<string, unknown> = {}
    for (const codec of codecs) {
      const value = Object.hasOwn(body, codec.name) ? body[codec.name] : undefined
      if (value === undefined && codec.isOptional) continue
      record[codec.name] = valueFromJson(codec, value)
    }
    // Each field was checked against its schema.
    return record as RecordOf<Of>
  }
}

function requireOneGroup(what: string, body: JsonObject, groups: readonly (readonly string[])[]): void {
  const used = groups.filter((names) => names.some((name) => body[name] !== undefined))
  if (used.length === 1) return
  const choices = groups.map((names) => (names.length === 1 ? names[0] : `at least one of ${listed(names)}`))
  const got = used.length === 0 ? 'neither' : 'both'
  throw invalid(`${what} must have either ${choices.join(' or ')}, got ${got}`)
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

function requireAny(what: string, body: JsonObject, names: readonly string[]): void {
  if (names.some((name) => body[name] !== undefined)) return
  throw invalid(`${what} must have at least one of ${listed(names)}, got none of them`)
}
