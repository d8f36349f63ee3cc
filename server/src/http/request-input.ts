import type { HttpRequest } from '@petstore/wire'
import type { Static, TObject, TOptional, TSchema } from 'typebox'
import { IsOptional } from 'typebox'
import { Compile } from 'typebox/compile'
import { ServiceError } from '../core/values/errors.ts'
import { parseInt64 } from '../core/values/int64.ts'

/** Deeper than any valid body, and too shallow to overflow the stack of a recursive parser. */
const MAX_NESTING = 64
/** Characters of the caller's input that a message quotes. */
const MAX_QUOTED = 40
const UTF8 = new TextDecoder('utf-8', { fatal: true })
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;|$)/i
const QUERY_INTEGER = /^-?(?:0|[1-9]\d{0,15})$/
/** Only such numbers may lose digits when they become a double. */
const MAY_BE_INEXACT = /[0-9][.eE]|[0-9]{16}/
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Parameters by name. Query parameters are strings or integers, optional or with a default. */
export type Schemas = Readonly<Record<string, TSchema>>

export type Values<Of extends Schemas> = {
  readonly [Name in keyof Of]: Of[Name] extends TOptional<TSchema>
    ? Static<Of[Name]> | undefined
    : Static<Of[Name]>
}

/** The JSON Schema keywords that messages use. */
interface SchemaFacts {
  readonly type?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly examples?: readonly unknown[]
}

export function readInt64(name: string, text: string): bigint {
  const value = parseInt64(text)
  if (value !== undefined) return value
  const got = text === '' ? 'nothing' : quoted(text)
  throw invalid(
    `${name} must be an integer from -9223372036854775808 to 9223372036854775807 in plain digits, got ${got}`,
  )
}

/**
 * Compiles the schemas once. The returned function parses the query of a request. A parameter must be valid and may be
 * given once; unknown parameters are ignored.
 */
export function queryReader<Query extends Schemas>(schemas: Query): (query: string) => Values<Query> {
  const parameters = Object.entries(schemas).map(([name, schema]) => {
    const { type, format, default: fallback }: SchemaFacts = schema
    if (!IsOptional(schema) && fallback === undefined) throw new Error(`${name} needs a default`)
    const isInt64 = format === 'int64'
    return { name, schema, fallback, isInt64, isInteger: type === 'integer', compiled: Compile(schema) }
  })
  return (query) => {
    const given = new URLSearchParams(query)
    const values: Record<string, unknown> = {}
    for (const { name, schema, fallback, isInt64, isInteger, compiled } of parameters) {
      const [text, another] = given.getAll(name)
      if (another !== undefined) throw invalid(`the query parameter ${name} is given twice; give it once`)
      if (isInt64) {
        values[name] = text === undefined ? fallback : readInt64(`the query parameter ${name}`, text)
        continue
      }
      const value =
        text === undefined ? fallback : isInteger && QUERY_INTEGER.test(text) ? Number(text) : text
      if (text !== undefined && !compiled.Check(value)) {
        throw invalid(`the query parameter ${name} must be ${expected(schema)}, got ${quoted(text)}`)
      }
      values[name] = value
    }
    return values as Values<Query>
  }
}

/**
 * Compiles the schema once. The returned function parses a JSON body, or throws a ServiceError that says what to send.
 * `parse` replaces the check against the schema if a schema cannot explain what is wrong.
 */
export function bodyReader<Body extends TObject, Parsed = Static<Body>>(
  schema: Body,
  parse?: (value: JsonObject) => Parsed,
): (request: HttpRequest, bytes: Uint8Array) => Parsed | Static<Body> {
  const compiled = Compile(schema)
  const { examples }: SchemaFacts = schema
  const example = JSON.stringify(examples?.[0] ?? {})
  const advice = `send a JSON object such as ${example} with Content-Type: application/json`
  return (request, bytes) => {
    const value = jsonOf(request, bytes, advice)
    if (parse !== undefined) return parse(objectOf(value, example))
    return compiled.Check(value) ? value : refuseBody(schema, value, example)
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
    return parseJson(text)
  } catch {
    throw invalid(`the request body is not valid JSON; ${advice}`)
  }
}

/** Throws an error that names the invalid field. */
function refuseBody(schema: TObject, value: unknown, example: string): never {
  const body = objectOf(value, example)
  for (const [field, part] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(body, field)) throw invalid(`${field} is missing; it must be ${expected(part)}`)
    const given = body[field]
    if (!Compile(part).Check(given)) {
      throw invalid(`${field} must be ${expected(part)}, got ${shown(given)}`)
    }
  }
  throw invalid(`the request body must look like ${example}`)
}

function objectOf(value: unknown, example: string): JsonObject {
  if (isObject(value)) return value
  throw invalid(`the request body must be a JSON object such as ${example}, got ${shown(value)}`)
}

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof InexactNumber)
  )
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

/** A JSON number that a double cannot represent exactly. Its text is kept for ids and messages. */
class InexactNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Parses JSON without silent rounding of numbers such as 9007199254740993 and 1.00000000000000001. */
function parseJson(text: string): unknown {
  if (!MAY_BE_INEXACT.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && isRounded(value, context.source)
      ? new InexactNumber(context.source)
      : value,
  )
}

/** Whether the double is an integer, but not the number in the text. */
function isRounded(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true
  if (!Number.isInteger(value) || String(value) === source) return false
  if (!Number.isSafeInteger(value)) return true
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return false
  // The number is significant × 10^scale, so it is an integer only if the scale is not negative.
  const scale = Number(exponent) - fraction.length + digits.length - significant.length
  return scale < 0 || significant + '0'.repeat(scale) !== String(Math.abs(value))
}

/** Reads an id in a body, which may exceed a double; `undefined` if the value is not an int64. */
export function int64Of(value: unknown): bigint | undefined {
  if (value instanceof InexactNumber) return parseInt64(value.text)
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined
  return Number.isSafeInteger(value) ? BigInt(value) : parseInt64(String(value))
}

/** Describes the valid values of a schema. */
function expected(schema: TSchema): string {
  const { type, minimum, maximum, minLength, maxLength, enum: values }: SchemaFacts = schema
  if (values !== undefined) return `one of ${values.join(', ')}`
  if (type === 'string' && minLength !== undefined) {
    return maxLength === undefined
      ? 'a string that is not empty'
      : `a string of ${minLength} to ${maxLength} characters`
  }
  if (type !== 'integer') return type === undefined ? 'another value' : `a ${type}`
  if (minimum !== undefined && maximum !== undefined) return `an integer from ${minimum} to ${maximum}`
  return 'an integer'
}

export function shown(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof InexactNumber) return shortened(value.text)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return `${quoted(value)} (a string)`
  if (typeof value === 'boolean') return `${value} (a boolean)`
  return String(value)
}

export function quoted(text: string): string {
  return JSON.stringify(shortened(text))
}

function shortened(text: string): string {
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text
}

export function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message)
}
