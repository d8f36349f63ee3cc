import Type, {
  IsObject,
  IsOptional,
  IsRefine,
  RemoveOptional,
  type Static,
  type TObject,
  type TOptional,
  type TSchema,
  type TUnsafe,
} from 'typebox'
import { ServiceError } from './errors.ts'
import { isObject, NumberText } from './exact-json.ts'
import { parseDateTime } from './rfc3339.ts'

/**
 * A record is described once, by the TypeBox schemas of its fields. The contract, parsers, SQL columns and exports derive
 * from them. In the program, an int64 is a `bigint` and a time is in milliseconds.
 */
export type Fields = Readonly<Record<string, TSchema>>

/** A record in memory, with parsed values. */
export type RecordOf<FieldSet extends Fields> = Readonly<Static<TObject<FieldSet>>>

/** The same record in JSON, with times as strings. */
export type JsonOf<FieldSet extends Fields> = {
  readonly [Name in keyof RecordOf<FieldSet>]: Name extends keyof FieldSet
    ? FieldSet[Name] extends { format: 'date-time' }
      ? string
      : FieldSet[Name] extends TObject<infer Inner extends Fields>
        ? JsonOf<Inner>
        : RecordOf<FieldSet>[Name]
    : never
}

/** The input of `jsonWriter`. Optional values may also be undefined. */
type JsonWriterInput<FieldSet extends Fields> = {
  readonly [Name in keyof RecordOf<FieldSet>]:
    | (Name extends keyof FieldSet
        ? FieldSet[Name] extends TObject<infer Inner extends Fields>
          ? JsonWriterInput<Inner>
          : RecordOf<FieldSet>[Name]
        : never)
    | (object extends Pick<RecordOf<FieldSet>, Name> ? undefined : never)
}

/** Larger numbers would be rounded by JSON readers that use doubles. */
export const MAX_QUANTITY = Number.MAX_SAFE_INTEGER
const EXPECTED_INT64 = 'an integer from -9223372036854775808 to 9223372036854775807 in plain digits'
const INTEGER_TEXT = /^-?(?:0|[1-9][0-9]{0,15})$/

type Options = Readonly<Record<string, unknown>>

export const Int64 = (description: string) =>
  Type.Unsafe<bigint>({ type: 'integer', format: 'int64', description })

export const Quantity = (description: string, options: Options = {}) =>
  Type.Integer({ minimum: 0, maximum: MAX_QUANTITY, description, ...options })

/** A time: milliseconds in the program, RFC 3339 in JSON and in files. */
type TDateTime = TUnsafe<number> & { format: 'date-time' }

export const DateTime = (description: string): TDateTime => ({
  ...Type.Unsafe<number>({ type: 'string', description }),
  format: 'date-time',
})

export function OneOf<const Word extends string>(words: readonly Word[], options: Options) {
  return Type.Enum([...words], { type: 'string', ...options })
}

/** A list of distinct words. Its parser sorts them in the order of `words`. */
export function ListOf<const Word extends string>(
  words: readonly Word[],
  wordOptions: Options,
  options: Options,
) {
  return Type.Unsafe<readonly Word[]>({
    type: 'array',
    items: OneOf(words, wordOptions),
    minItems: 1,
    maxItems: words.length,
    uniqueItems: true,
    ...options,
  })
}

/** A list of distinct ids. */
export function IdList(maxItems: number, idDescription: string, options: Options) {
  return Type.Unsafe<readonly bigint[]>({
    type: 'array',
    items: Int64(idDescription),
    minItems: 1,
    maxItems,
    uniqueItems: true,
    ...options,
  })
}

/** A string that `isValid` accepts; `expected` describes the valid strings in error messages. */
export function Text(options: Options, expected: string, isValid: (text: string) => boolean) {
  return Type.Refine(Type.String(options), isValid, () => expected)
}

const MAX_METADATA_PAIRS = 20
const MAX_METADATA_KEY = 40
const MAX_METADATA_VALUE = 200

/** Pairs of texts that callers store with a record. In the program, the text of a JSON object with sorted names. */
export const Metadata = Type.Unsafe<string>({
  title: 'Metadata',
  type: 'object',
  maxProperties: MAX_METADATA_PAIRS,
  propertyNames: { minLength: 1, maxLength: MAX_METADATA_KEY },
  additionalProperties: { type: 'string', maxLength: MAX_METADATA_VALUE },
  description:
    'Pairs of your own, such as the identifiers of other systems. They are part of events, so they are no place for personal data. An update replaces all pairs.',
})

/** The fields of an update: all are optional, and null removes the value of an optional field. */
type UpdateOf<FieldSet extends Fields> = {
  [Name in keyof FieldSet]: FieldSet[Name] extends TOptional<infer Schema extends TSchema>
    ? TOptional<Type.TUnion<[Schema, Type.TNull]>>
    : TOptional<FieldSet[Name]>
}

export function updateOf<const FieldSet extends Fields>(fields: FieldSet): UpdateOf<FieldSet> {
  const updates = Object.entries(fields).map(([name, schema]) => [
    name,
    Type.Optional(IsOptional(schema) ? Type.Union([RemoveOptional(schema), Type.Null()]) : schema),
  ])
  return Object.fromEntries(updates)
}

/** The keywords of a schema that describe a single value. */
interface Keywords {
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly enum?: readonly unknown[]
  readonly items?: { readonly enum?: readonly unknown[]; readonly format?: string }
  readonly minItems?: number
  readonly maxItems?: number
  readonly anyOf?: readonly TSchema[]
}

export interface FieldCodec {
  readonly name: string
  readonly description: string
  readonly isOptional: boolean
  /** Whether null is allowed, which removes the value. */
  readonly isClearable: boolean
  /** The valid values, as a phrase that follows "must be" in error messages. */
  readonly expected: string
  /** The type of the value in a JSON Lines file. A list is written as a string with commas between its words. */
  readonly json: 'number' | 'string' | 'boolean'
  readonly sql: 'integer' | 'text' | 'boolean'
  readonly isInt64?: true
  /**
   * Returns undefined if the value is invalid; only the codec of a word list throws, so that its message can name the invalid
   * word. The string "5" is not the number 5.
   */
  fromJson(value: unknown): unknown
  fromText(text: string): unknown
  toText(value: unknown): string
  toJson(value: unknown): unknown
  /** Databases return integers as `bigint`, and SQLite returns booleans as 0 and 1. */
  fromSql(value: bigint | string | boolean): unknown
}

const CODECS = new WeakMap<Fields, readonly FieldCodec[]>()

/** The codecs of a record, in the order of its fields. Built once per record. */
export function codecsOf(fields: Fields): readonly FieldCodec[] {
  const cached = CODECS.get(fields)
  if (cached !== undefined) return cached
  const codecs = Object.entries(fields).map(([name, schema]) => codecOf(name, schema))
  CODECS.set(fields, codecs)
  return codecs
}

export function codecOf(name: string, schema: TSchema): FieldCodec {
  const { anyOf: [first, second] = [] }: Keywords = schema
  const isClearable = (second as Keywords | undefined)?.type === 'null'
  const valueSchema = isClearable && first !== undefined ? first : schema
  const { description = '' }: Keywords = valueSchema
  return { name, description, isOptional: IsOptional(schema), isClearable, ...valueCodec(name, valueSchema) }
}

type ValueCodec = Omit<FieldCodec, 'name' | 'description' | 'isOptional' | 'isClearable'>

const identity = (value: unknown) => value
const DEFAULT_CONVERSIONS = { toText: String, toJson: identity, fromSql: identity }

function valueCodec(name: string, schema: TSchema): ValueCodec {
  const codec = codecByType(name, schema)
  const [refinement] = IsRefine(schema) ? schema['~refine'] : []
  if (refinement === undefined) return codec
  const refine = (value: unknown) => (value !== undefined && refinement.check(value) ? value : undefined)
  return {
    ...codec,
    expected: refinement.error(undefined),
    fromJson: (value) => refine(codec.fromJson(value)),
    fromText: (text) => refine(codec.fromText(text)),
  }
}

function codecByType(name: string, schema: TSchema): ValueCodec {
  const keywords: Keywords = schema
  if (keywords.format === 'int64') return INT64
  if (keywords.format === 'date-time') return DATE_TIME
  if (keywords.type === 'boolean') return BOOLEAN
  if (keywords.type === 'integer') return integerCodec(keywords)
  if (keywords.type === 'array') {
    return keywords.items?.format === 'int64' ? idListCodec(keywords) : wordListCodec(name, keywords)
  }
  if (keywords.type === 'object') return METADATA
  return textCodec(schema)
}

export const MIN_INT64 = -(2n ** 63n)
export const MAX_INT64 = 2n ** 63n - 1n
const CANONICAL_INT64 = /^(?:0|-?[1-9][0-9]{0,18})$/

/** Rejects other spellings of a number, such as `007`, `+7` and `-0`, so that every pet has exactly one URL. */
export function parseInt64(text: string): bigint | undefined {
  if (!CANONICAL_INT64.test(text)) return undefined
  const value = BigInt(text)
  return value >= MIN_INT64 && value <= MAX_INT64 ? value : undefined
}

const INT64: ValueCodec = {
  ...DEFAULT_CONVERSIONS,
  expected: EXPECTED_INT64,
  json: 'number',
  sql: 'integer',
  isInt64: true,
  fromJson: (value) => {
    if (value instanceof NumberText) return parseInt64(value.text)
    if (typeof value !== 'number' || !Number.isInteger(value)) return undefined
    return Number.isSafeInteger(value) ? BigInt(value) : parseInt64(String(value))
  },
  fromText: parseInt64,
  fromSql: BigInt,
}

const DATE_TIME: ValueCodec = {
  expected: 'a date and time with its zone such as 2026-09-01T10:00:00Z',
  json: 'string',
  sql: 'integer',
  fromJson: (value) => (typeof value === 'string' ? parseDateTime(value) : undefined),
  fromText: parseDateTime,
  toText: isoTime,
  toJson: isoTime,
  fromSql: Number,
}

const BOOLEAN: ValueCodec = {
  ...DEFAULT_CONVERSIONS,
  expected: 'true or false',
  json: 'boolean',
  sql: 'boolean',
  fromJson: (value) => (typeof value === 'boolean' ? value : undefined),
  fromText: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  fromSql: Boolean,
}

function isoTime(time: unknown): string {
  return new Date(Number(time)).toISOString()
}

function integerCodec({ minimum = -MAX_QUANTITY, maximum = MAX_QUANTITY }: Keywords): ValueCodec {
  const fromJson = (value: unknown) =>
    typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum
      ? value + 0 // Turns -0 into 0.
      : undefined
  return {
    ...DEFAULT_CONVERSIONS,
    expected: `an integer from ${minimum} to ${maximum}`,
    json: 'number',
    sql: 'integer',
    fromJson,
    fromText: (text) => (INTEGER_TEXT.test(text) ? fromJson(Number(text)) : undefined),
    fromSql: Number,
  }
}

function textCodec(schema: TSchema): ValueCodec {
  // If a text has a refinement, only the refinement is checked, so it must check the length.
  const {
    enum: words,
    minLength = 0,
    maxLength = Number.POSITIVE_INFINITY,
  }: Keywords = IsRefine(schema) ? {} : schema
  const isValid = (value: unknown) =>
    words === undefined
      ? typeof value === 'string' && value.length >= minLength && isCleanText(value, maxLength, NUL)
      : words.includes(value)
  const read = (value: unknown) => (isValid(value) ? value : undefined)
  return {
    ...DEFAULT_CONVERSIONS,
    expected: words === undefined ? describeLength(minLength, maxLength) : `one of ${words.join(', ')}`,
    json: 'string',
    sql: 'text',
    fromJson: read,
    fromText: read,
  }
}

/** Whether the text is valid Unicode without the forbidden characters, and short enough. */
export function isCleanText(text: string, maxLength: number, forbidden: RegExp): boolean {
  return isWithinLength(text, maxLength) && text.isWellFormed() && !forbidden.test(text)
}

/** Whether the text is short enough. Counts code points, as JSON Schema does, not UTF-16 units. */
export function isWithinLength(text: string, maxLength: number): boolean {
  return text.length <= maxLength || [...text].length <= maxLength
}

function wordListCodec(name: string, { items, minItems = 0 }: Keywords): ValueCodec {
  const words = items?.enum ?? []
  const list = words.join(', ')
  const fromJson = (value: unknown) => {
    if (!Array.isArray(value) || value.length < minItems) return undefined
    for (const [index, word] of value.entries()) {
      if (!words.includes(word)) {
        throw invalidField(name, `${name}[${index}] must be one of ${list}, got ${describeValue(word)}`)
      }
      if (value.indexOf(word) !== index) {
        throw invalidField(name, `${name} contains ${describeValue(word)} twice; name it once`)
      }
    }
    return words.filter((word) => value.includes(word))
  }
  return {
    ...DEFAULT_CONVERSIONS,
    expected: minItems > 0 ? `a list of at least one of ${list}` : `a list of any of ${list}`,
    json: 'string',
    sql: 'text',
    fromJson,
    fromText: (text) => fromJson(text.split(',')),
    fromSql: (text) => String(text).split(','),
  }
}

function idListCodec({ maxItems = 0 }: Keywords): ValueCodec {
  const fromJson = (value: unknown) => {
    if (!Array.isArray(value) || value.length === 0 || value.length > maxItems) return undefined
    const ids = value.map((item) => INT64.fromJson(item))
    return ids.includes(undefined) || new Set(ids).size < ids.length ? undefined : ids
  }
  return {
    ...DEFAULT_CONVERSIONS,
    expected: `1 to ${maxItems} different ids separated by commas, each ${EXPECTED_INT64}`,
    json: 'string',
    sql: 'text',
    fromJson,
    fromText: (text) => fromJson(text.split(',').map((part) => new NumberText(part))),
    fromSql: (text) => String(text).split(',').map(BigInt),
  }
}

const METADATA: ValueCodec = {
  ...DEFAULT_CONVERSIONS,
  expected: `an object with at most ${MAX_METADATA_PAIRS} texts of at most ${MAX_METADATA_VALUE} characters, with names of 1 to ${MAX_METADATA_KEY} characters`,
  json: 'string',
  sql: 'text',
  fromJson: metadataText,
  fromText: (text) => {
    try {
      return metadataText(JSON.parse(text))
    } catch {
      return undefined
    }
  },
  toJson: (text) => JSON.parse(String(text)),
}

function metadataText(value: unknown): string | undefined {
  if (!isObject(value)) return undefined
  const pairs = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  const areValid = pairs.every(
    ([name, text]) =>
      name !== '' && isMetadataText(name, MAX_METADATA_KEY) && isMetadataText(text, MAX_METADATA_VALUE),
  )
  return areValid && pairs.length <= MAX_METADATA_PAIRS
    ? JSON.stringify(Object.fromEntries(pairs))
    : undefined
}

/** PostgreSQL cannot store U+0000. */
function isMetadataText(text: unknown, maxLength: number): boolean {
  return typeof text === 'string' && isCleanText(text, maxLength, NUL)
}

const NUL = /\0/

function describeLength(minLength: number, maxLength: number): string {
  if (Number.isFinite(maxLength)) return `a string of ${minLength} to ${maxLength} characters`
  return minLength > 0 ? 'a string that is not empty' : 'a string'
}

/** The SQL column of a field: `category_id` for `categoryId`. */
export function columnName(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export function columnsOf(fields: Fields): Readonly<Record<string, FieldCodec['sql']>> {
  return Object.fromEntries(codecsOf(fields).map(({ name, sql }) => [columnName(name), sql]))
}

/** Throws `invalid_request` with the name of the field if the value is invalid. */
export function valueFromJson(
  { name, expected, isClearable, fromJson }: FieldCodec,
  value: unknown,
): unknown {
  if (value === null && isClearable) return null
  const parsed = fromJson(value)
  if (parsed !== undefined) return parsed
  const problem =
    value === undefined
      ? `is missing; it must be ${expected}`
      : `must be ${expected}, got ${describeValue(value)}`
  throw invalidField(name, `${name} ${problem}`)
}

/** `message` says what is wrong with the field and what is expected. */
export function invalidField(field: string, message: string): ServiceError {
  return new ServiceError('invalid_request', message, { field })
}

/** Applies an update; null removes a value. The order of the fields is fixed, so equal records have the same ETag. */
export function withUpdate<FieldSet extends Fields>(
  fields: FieldSet,
  record: RecordOf<FieldSet>,
  update: object = {},
): RecordOf<FieldSet> {
  const values: Readonly<Record<string, unknown>> = { ...record, ...update }
  const updated: Record<string, unknown> = {}
  for (const name in fields) {
    const value = values[name]
    if (value !== undefined && value !== null) updated[name] = value
  }
  // Every value was checked against the schema of its field.
  return updated as RecordOf<FieldSet>
}

/** Whether two records have the same values in all fields. Lists are compared by reference. */
export function isSameRecord<FieldSet extends Fields>(
  fields: FieldSet,
  one: RecordOf<FieldSet>,
  other: RecordOf<FieldSet>,
): boolean {
  const values: Readonly<Record<string, unknown>> = one
  const otherValues: Readonly<Record<string, unknown>> = other
  return Object.keys(fields).every((name) => values[name] === otherValues[name])
}

/** Builds a function that turns a record into its JSON object. It ignores properties that are not fields. */
export function jsonWriter<FieldSet extends Fields>(
  fields: FieldSet,
): (record: JsonWriterInput<FieldSet>) => JsonOf<FieldSet> {
  const writers = Object.entries(fields).map(([name, schema]) => ({
    name,
    // The cast is safe: if the schema of a field is an object schema, the type of the record makes its value an object.
    write: IsObject(schema)
      ? (jsonWriter(schema.properties) as typeof identity)
      : codecOf(name, schema).toJson,
  }))
  return (record) => {
    const values: Readonly<Record<string, unknown>> = record
    const json: Record<string, unknown> = {}
    for (const { name, write } of writers) {
      const value = values[name]
      if (value !== undefined) json[name] = write(value)
    }
    return json as JsonOf<FieldSet>
  }
}

/** Like `jsonWriter`, but returns the text of the JSON. JSON.stringify rejects a `bigint`, and a replacer is slower. */
export function jsonTextWriter<FieldSet extends Fields>(
  fields: FieldSet,
): (record: JsonWriterInput<FieldSet>) => string {
  const codecs = codecsOf(fields)
  return (record) => {
    const values: Readonly<Record<string, unknown>> = record
    let text = ''
    for (const { name, toJson } of codecs) {
      const value = values[name]
      if (value === undefined) continue
      const separator = text === '' ? '' : ','
      text += `${separator}"${name}":${typeof value === 'bigint' ? value : JSON.stringify(toJson(value))}`
    }
    return `{${text}}`
  }
}

const MAX_QUOTED_LENGTH = 40

/** Describes a value for an error message. Names the type, because "5" is not 5. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof NumberText) return shorten(value.text)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return `${quote(value)} (a string)`
  if (typeof value === 'boolean') return `${value} (a boolean)`
  return String(value)
}

export function quote(text: string): string {
  return JSON.stringify(shorten(text))
}

export function shorten(text: string): string {
  return text.length > MAX_QUOTED_LENGTH ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text
}
