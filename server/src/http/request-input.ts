import type { HttpRequest } from '@petstore/wire'
import type { Static, TObject, TOptional, TSchema } from 'typebox'
import { IsOptional } from 'typebox'
import { ServiceError } from '../core/values/errors.ts'
import { describeValue, isObject, type JsonObject, parseExactJson, quote } from '../core/values/exact-json.ts'
import {
  codecOf,
  codecsOf,
  type FieldCodec,
  type Fields,
  type RecordOf,
  valueFromJson,
} from '../core/values/field.ts'

/** Deeper than any valid body, and too shallow to overflow the stack of a recursive parser. */
const MAX_NESTING = 64
const UTF8 = new TextDecoder('utf-8', { fatal: true })
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;|$)/i

/** Parameters by name. Query parameters are strings or integers, optional or with a default. */
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
  throw invalid(`${name} must be ${expected}, got ${text === '' ? 'nothing' : quote(text)}`)
}

/**
 * Builds the reader of a query once. Each parameter must be valid and occur at most once; parameters that the operation
 * does not know are ignored.
 */
export function queryReader<Query extends Schemas>(schemas: Query): (query: string) => Values<Query> {
  const parameters = Object.entries(schemas).map(([name, schema]) => {
    const { default: fallback }: SchemaFacts = schema
    if (!IsOptional(schema) && fallback === undefined) throw new Error(`${name} needs a default`)
    return { name, fallback, codec: codecOf(name, schema) }
  })
  return (query) => {
    const given = new URLSearchParams(query)
    const values: Record<string, unknown> = {}
    for (const { name, fallback, codec } of parameters) {
      const [text, another] = given.getAll(name)
      if (another !== undefined) throw invalid(`the query parameter ${name} is given twice; give it once`)
      const value = text === undefined ? fallback : codec.fromText(text)
      if (text !== undefined && value === undefined) {
        throw invalid(`the query parameter ${name} must be ${codec.expected}, got ${quote(text)}`)
      }
      values[name] = value
    }
    return values as Values<Query>
  }
}

/**
 * Builds the parser of a body once. It throws a ServiceError that says what to send. `parse` replaces the parser that
 * follows from the schema.
 */
export function bodyReader<Of extends Fields, Parsed = RecordOf<Of>>(
  schema: TObject<Of>,
  parse?: (value: JsonObject) => Parsed,
): (request: HttpRequest, bytes: Uint8Array) => Parsed | RecordOf<Of> {
  const parser = parse ?? bodyParser(schema)
  const { examples } = schema as SchemaFacts
  const example = JSON.stringify(examples?.[0] ?? {})
  const advice = `send a JSON object such as ${example} with Content-Type: application/json`
  return (request, bytes) => parser(objectOf(jsonOf(request, bytes, advice), example))
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
  readonly oneOf?: readonly { readonly required: readonly string[] }[]
}

/** A parser of bodies with this schema. It throws `invalid_request` and says which field is wrong and why. */
export function bodyParser<Of extends Fields>(schema: TObject<Of>): (body: JsonObject) => RecordOf<Of> {
  const codecs = codecsOf(schema.properties)
  const names = codecs.map(({ name }) => name)
  const { minProperties = 0, oneOf = [] } = schema as BodyKeywords
  const choices = oneOf.flatMap(({ required }) => required)

  return (body) => {
    if (choices.length > 0) requireExactlyOne(body, choices)
    if (minProperties > 0) requireAny(body, names)
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

function requireExactlyOne(body: JsonObject, names: readonly string[]): void {
  const given = names.filter((name) => body[name] !== undefined)
  if (given.length === 1) return
  const got = given.length === 0 ? 'neither' : 'both'
  throw invalid(`the body must have exactly one of ${names.join(' and ')}, got ${got}`)
}

function requireAny(body: JsonObject, names: readonly string[]): void {
  if (names.some((name) => body[name] !== undefined)) return
  const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  throw invalid(`the body must have at least one of ${list}, got none of them`)
}
