import type { HttpRequest } from '@petstore/wire'
import { IsOptional, type Static, type TObject, type TOptional, type TSchema } from 'typebox'
import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import type { ApiKey, Permission, Plan } from '../core/keys/api-key.ts'
import type { KeyManager } from '../core/keys/key-manager.ts'
import type { KeyStore } from '../core/keys/key-store.ts'
import type { KeyWindows, LimitKeeper } from '../core/limits/limit-store.ts'
import type { PerKeyQueue } from '../core/limits/per-key-queue.ts'
import type { OrderStore } from '../core/orders/order-store.ts'
import type { ReportStore } from '../core/reports/report-store.ts'
import type {
  Command,
  CommandOf,
  CommandType,
  EarlierAnswer,
  Outcome,
  OutcomeOf,
} from '../core/stock/command.ts'
import type { GroupCommit, Requester } from '../core/stock/group-commit.ts'
import type { EventFilter } from '../core/stock/stock-event.ts'
import type { EventStore, HistoryStore, StockStore } from '../core/stock/stock-store.ts'
import type { LiveView } from '../core/stock/view/live-view.ts'
import type { TransferStore } from '../core/transfer/transfer-store.ts'
import { type Clock, SECOND } from '../core/values/clock.ts'
import { nameAdvice } from '../core/values/closest-name.ts'
import { type ErrorCode, ServiceError } from '../core/values/errors.ts'
import { isObject, type JsonObject, parseExactJson, RefusedJson } from '../core/values/exact-json.ts'
import {
  codecOf,
  codecsOf,
  describeValue,
  type FieldCodec,
  type Fields,
  invalidField,
  quote,
  type RecordOf,
  shorten,
  valueFromJson,
} from '../core/values/field.ts'
import type { MaybePromise } from '../core/values/maybe-promise.ts'
import type { WebhookSender, WebhookStore } from '../core/webhooks/webhook-store.ts'
import type { WebhookWorker } from '../core/webhooks/webhook-worker.ts'
import {
  errorReply,
  MAX_REMEMBERED_FAILURES,
  type Reply,
  type RequestIdempotency,
  type StorableReply,
} from './reply.ts'

/** The parsed parameters of a request. */
type Values<FieldSet extends Fields> = {
  readonly [Name in keyof FieldSet]: FieldSet[Name] extends TOptional<TSchema>
    ? Static<FieldSet[Name]> | undefined
    : Static<FieldSet[Name]>
}

export interface Services {
  readonly store: CatalogStore &
    TransferStore &
    HistoryStore &
    OrderStore &
    ReportStore &
    WebhookStore &
    Pick<KeyStore, 'listKeyPage' | 'findKeyRecord' | 'findKeyByPairingCode' | 'listKeyAudit'> &
    Pick<EventStore, 'latestEventCursor' | 'eventsAfter'> &
    Pick<StockStore, 'findAnswer'>
  readonly view: LiveView
  readonly commits: GroupCommit
  readonly streams: { open(request: StreamRequest): Promise<Reply> }
  readonly limits: LimitKeeper
  readonly keys: KeyManager
  /** Runs searches, history scans and reports one at a time per key. */
  readonly longReads: PerKeyQueue
  readonly webhookSender: WebhookSender
  /** The webhooks that this process is sending a test event to. */
  readonly testedWebhooks: Set<bigint>
  readonly deliveries: Pick<WebhookWorker, 'applyChange'>
  readonly clock: Clock
  /** The IANA name of the time zone that says where a day of reports begins. */
  readonly timeZone: string
}

export interface StreamRequest {
  readonly keyId: string
  readonly secretHash: string
  readonly plan: Plan
  /** The id of the last event that the caller has received. */
  readonly after: string | undefined
  readonly filter: EventFilter
}

/** The text of each path parameter. */
export type PathSegments = Readonly<Record<string, string>>

/** A parsed request of a known key, as the handler of an operation gets it. */
export interface Input<Params extends Fields = Fields, Query extends Fields = Fields, Body = unknown> {
  readonly request: HttpRequest
  readonly key: ApiKey
  /** The windows of the key, if the operation is exempt from its limits. */
  readonly keyWindows: KeyWindows | undefined
  /** Throws if the key may no longer do this. */
  confirmKey(): MaybePromise<void>
  /** The hash of the secret or pairing code that was sent, by which the key can be looked up again. */
  readonly secretHash: string
  readonly params: Values<Params>
  readonly query: Values<Query>
  readonly body: Body
  /** The tags of the If-Match header, without quotes; `undefined` if the request sets no condition. */
  readonly ifMatch: readonly string[] | undefined
  /** The Idempotency-Key, if the operation accepts one and the request has one. */
  readonly idempotency: RequestIdempotency | undefined
  readonly requester: Requester
}

/** The reply of an operation that succeeds. */
export interface SuccessSpec {
  /** 200 by default. */
  readonly status?: 201 | 204
  /** With 201: the reply has the ETag of the resource. A reply of 200 has one if the method is GET or PATCH. */
  readonly hasETag?: true
  /** With 201: several resources are created, so the reply has no `Location`. */
  readonly createsSeveral?: true
  /** Headers of the reply that do not follow from other properties, by their names in the contract. */
  readonly headers?: readonly (
    | 'Event-Id'
    | 'NextPage'
    | 'Complete-Since'
    | 'RateLimit-Policy'
    | 'RateLimit'
  )[]
  readonly description: string
  readonly schema: TSchema
  /** An example of the CSV file that a caller can get instead. */
  readonly csv?: string
  /** The schema of each kind of event, if the reply is a stream of events instead of one JSON value. */
  readonly events?: Fields
}

type Method = 'GET' | 'PATCH' | 'POST' | 'DELETE'

/** The description of an operation in the contract. */
interface OperationSpec {
  readonly summary: string
  readonly description: string
  /** The first segment of the path by default. */
  readonly tag?: string
  /** `stable` by default. An operation that is younger than one release is `beta`. */
  readonly stability?: 'experimental' | 'beta'
  /** Ignores unknown fields and query parameters. Only the four operations of SPEC.md do this; all others reject them. */
  readonly ignoresUnknownInput?: true
  /** The permission that the key must have. An operation that changes something needs one, unless it takes a pairing code. */
  readonly permission?: Permission
  /** The bearer token is a pairing code. The caller is the key that the code belongs to. */
  readonly takesPairingCode?: true
  /** Requests do not count towards the limits of the key, and are answered even if the limits are exceeded. */
  readonly isExemptFromLimits?: true
  /** May take longer than the deadline of requests, because it waits for another server or writes a whole file. */
  readonly hasNoDeadline?: true
  readonly deprecatedSince?: Date
  /**
   * The path of the operation that replaces a deprecated operation, including the base path. Both have the same path
   * parameters.
   */
  readonly successor?: string
  readonly params?: Fields
  readonly query?: Fields
  /** Descriptions of the request headers, by name. By default, a GET operation has If-None-Match. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: TObject
  /** The example of a body that is a CSV file instead of JSON. */
  readonly csvExample?: string
  /** DEFAULT_BODY_BYTES by default. */
  readonly maxBodyBytes?: number
  readonly acceptsIdempotencyKey?: true
  readonly success: SuccessSpec
  /** In addition to the errors that follow from the other properties, such as `not_found` if there are `params`. */
  readonly errors?: readonly ErrorCode[]
}

/** An operation as the steps of the request pipeline in app.ts use it. */
export interface Operation extends OperationSpec {
  readonly operationId: string
  readonly method: Method
  /** Without the base path. A segment in braces is a parameter. */
  readonly path: string
  readParams(segments: PathSegments): Values<Fields>
  readQuery(query: string): Values<Fields>
  readBody?(request: HttpRequest, bytes: Uint8Array): unknown
  /** Reads the data that the reply needs. */
  prepare?(params: Values<Fields>, services: Services): MaybePromise<unknown>
  reply(input: Input, services: Services, prepared: unknown): MaybePromise<Reply>
}

interface Definition<Params extends Fields, Query extends Fields, Body extends TObject, Prepared, Parsed>
  extends OperationSpec {
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** Replaces the parser that is derived from the schema, to give better error messages. */
  parseBody?(body: JsonObject): Parsed
  prepare?(params: Values<Params>, services: Services): MaybePromise<Prepared>
  reply(input: Input<Params, Query, Parsed>, services: Services, prepared: Prepared): MaybePromise<Reply>
}

const NO_QUERY = {}

/**
 * One definition gives the types of the handler, the checks of the request and the entry in the contract. The name under
 * which routes.ts lists the operation is its `operationId`.
 */
export function defineOperation<
  const Params extends Fields,
  const Query extends Fields,
  Body extends TObject,
  Prepared,
  Parsed = Static<Body>,
>(
  method: Method,
  path: string,
  definition: Definition<Params, Query, Body, Prepared, Parsed>,
): Omit<Operation, 'operationId'> {
  const { permission, takesPairingCode, params = {}, query, body, parseBody } = definition
  if (method !== 'GET' && permission === undefined && !takesPairingCode) {
    throw new Error(`${method} ${path} changes something, but does not name the permission that it needs`)
  }
  const paramCodecs = codecsOf(params)
  const isStrict = !definition.ignoresUnknownInput
  const readQuery = queryReader(query ?? {}, isStrict)
  return {
    ...definition,
    method,
    path,
    readParams(segments) {
      const values: Record<string, unknown> = {}
      for (const codec of paramCodecs)
        values[codec.name] = readPathParameter(codec, segments[codec.name] ?? '')
      return values
    },
    readQuery: (text) => (text === '' && query === undefined ? NO_QUERY : readQuery(text)),
    ...(body === undefined ? {} : { readBody: bodyReader(body, isStrict, parseBody) }),
    ...(definition.csvExample === undefined ? {} : { readBody: readCsv }),
  }
}

/** Every PATCH and DELETE changes one record, which has an ETag. */
export function acceptsIfMatch({ method }: Pick<Operation, 'method'>): boolean {
  return method === 'PATCH' || method === 'DELETE'
}

/** RFC 9745 and RFC 8594. */
export function deprecationHeaders(
  operation: Operation,
  segments: PathSegments,
  sunset: Date,
): Reply['headers'] {
  if (operation.deprecatedSince === undefined) return {}
  return {
    Deprecation: `@${operation.deprecatedSince.getTime() / SECOND}`,
    Sunset: sunset.toUTCString(),
    Link: [
      '</openapi.json>; rel="deprecation"; type="application/json"',
      '</openapi.json>; rel="sunset"; type="application/json"',
      ...(operation.successor === undefined
        ? []
        : [`<${fillPathTemplate(operation.successor, segments)}>; rel="successor-version"`]),
    ].join(', '),
  }
}

function fillPathTemplate(template: string, segments: PathSegments): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(segments[name] ?? ''))
}

/** The nesting of the bodies of operations that ignore unknown fields. */
const MAX_IGNORED_NESTING = 16
const UTF8 = new TextDecoder('utf-8', { fatal: true })
const CSV_MEDIA_TYPE = /^text\/csv\s*(?:;|$)/i
const JSON_MEDIA_TYPE = /^application\/json\s*(?:;|$)/i

interface SchemaKeywords {
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  readonly minProperties?: number
  readonly type?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
  readonly choices?: Choices
}

function readPathParameter({ name, expected, fromText }: FieldCodec, text: string): unknown {
  const value = fromText(text)
  if (value !== undefined) return value
  const problem =
    text === '' ? `is missing in the path; it must be ${expected}` : `must be ${expected}, got ${quote(text)}`
  throw invalidField(name, `${name} ${problem}`)
}

/** Builds the reader of a query once. Each parameter must be valid and occur at most once. */
function queryReader(schemas: Fields, isStrict: boolean): Operation['readQuery'] {
  const names = Object.keys(schemas)
  const parameters = Object.entries(schemas).map(([name, schema]) => {
    const { default: fallback }: SchemaKeywords = schema
    return { name, fallback, codec: codecOf(name, schema), isRequired: isRequiredParameter(schema) }
  })
  return (query) => {
    const sentParameters = new URLSearchParams(query)
    if (isStrict) rejectUnknownNames('query parameter', sentParameters.keys(), names)
    const values: Record<string, unknown> = {}
    for (const { name, fallback, codec, isRequired } of parameters) {
      const [text, secondText] = sentParameters.getAll(name)
      if (text === undefined && isRequired) {
        throw invalidField(name, `the query parameter ${name} is missing; it must be ${codec.expected}`)
      }
      if (secondText !== undefined) {
        throw invalidField(name, `the query parameter ${name} is given twice; give it once`)
      }
      const value = text === undefined ? fallback : codec.fromText(text)
      if (text !== undefined && value === undefined) {
        throw invalidField(name, `the query parameter ${name} must be ${codec.expected}, got ${quote(text)}`)
      }
      values[name] = value
    }
    return values
  }
}

export function isRequiredParameter(schema: TSchema): boolean {
  const { default: fallback }: SchemaKeywords = schema
  return !IsOptional(schema) && fallback === undefined
}

/** Throws `invalid_request` for the first name that is not known, and suggests the closest known name. */
export function rejectUnknownNames(
  kind: 'field' | 'query parameter',
  sentNames: Iterable<string>,
  knownNames: readonly string[],
): void {
  for (const name of sentNames) {
    if (knownNames.includes(name)) continue
    const field = shorten(name)
    throw invalidField(field, `unknown ${kind} ${JSON.stringify(field)} (${nameAdvice(name, knownNames)})`)
  }
}

/**
 * Builds the reader of a body once. The reader throws a ServiceError that says what to send. `parse` replaces the parser
 * that follows from the schema.
 */
function bodyReader(
  schema: TObject,
  isStrict: boolean,
  parse: (body: JsonObject) => unknown = bodyParser(schema),
): NonNullable<Operation['readBody']> {
  const names = Object.keys(schema.properties)
  const { examples } = schema as SchemaKeywords
  const example = JSON.stringify(examples?.[0] ?? {})
  const advice = `send a JSON object such as ${example} with Content-Type: application/json`
  // One level more than is valid, so that the error about a list or an object in place of a value names the field.
  const maxNesting = isStrict ? nestingOf(schema) + 1 : MAX_IGNORED_NESTING
  return (request, bytes) => {
    const body = parseJson(request, bytes, { advice, maxNesting, allowsRepeatedNames: !isStrict })
    if (!isObject(body)) {
      throw invalid(`the request body must be a JSON object such as ${example}, got ${describeValue(body)}`)
    }
    if (isStrict) rejectUnknownNames('field', Object.keys(body), names)
    return parse(body)
  }
}

/** How deep the objects and arrays of a valid value nest. */
function nestingOf(schema: TSchema): number {
  const { type, properties = {}, items, anyOf = [] } = schema as SchemaKeywords
  const parts = [...Object.values(properties), ...anyOf]
  if (items !== undefined) parts.push(items)
  const ownLevel = type === 'object' || type === 'array' ? 1 : 0
  return ownLevel + Math.max(0, ...parts.map(nestingOf))
}

interface BodyRules {
  readonly advice: string
  readonly maxNesting: number
  readonly allowsRepeatedNames: boolean
}

/** The bytes of a CSV file, whose encoding a query parameter names. */
function readCsv(request: HttpRequest, bytes: Uint8Array): Uint8Array {
  const advice = 'send a CSV file with Content-Type: text/csv'
  requireBody(request, bytes, { mediaType: 'text/csv', pattern: CSV_MEDIA_TYPE, advice })
  return bytes
}

interface BodyForm {
  readonly mediaType: string
  readonly pattern: RegExp
  readonly advice: string
}

function requireBody({ headers }: HttpRequest, bytes: Uint8Array, form: BodyForm): void {
  if (bytes.length === 0) throw invalid(`the request body is missing; ${form.advice}`)
  const mediaType = headers.get('content-type')
  if (mediaType === null || !form.pattern.test(mediaType)) {
    const got = mediaType === null ? 'none' : JSON.stringify(mediaType.slice(0, 80))
    throw invalid(`Content-Type must be ${form.mediaType}, got ${got}`)
  }
  const coding = headers.get('content-encoding')
  if (coding !== null && coding.toLowerCase() !== 'identity') {
    throw invalid(
      `Content-Encoding ${JSON.stringify(coding.slice(0, 80))} is not supported; send the body uncompressed`,
    )
  }
}

function parseJson(request: HttpRequest, bytes: Uint8Array, { advice, ...rules }: BodyRules): unknown {
  requireBody(request, bytes, { mediaType: 'application/json', pattern: JSON_MEDIA_TYPE, advice })
  const text = decodeUtf8(bytes)
  try {
    return parseExactJson(text, rules)
  } catch (error) {
    if (!(error instanceof RefusedJson)) throw invalid(`the request body is not valid JSON; ${advice}`)
    const { problem } = error
    if (problem.type === 'nests_too_deep') {
      throw invalid(`the request body nests deeper than ${rules.maxNesting} levels; ${advice}`)
    }
    const field = shorten(problem.name)
    const message = `the field ${JSON.stringify(field)} is given twice; give it once`
    throw problem.isInside ? invalid(message) : invalidField(field, message)
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw invalid('the request body is not valid UTF-8; send the JSON as UTF-8')
  }
}

export function invalid(message: string): ServiceError {
  return new ServiceError('invalid_request', message)
}

/**
 * Groups of field names, by title. A body must have fields of exactly one group. In the contract, each group becomes an
 * object schema with its title.
 */
export type Choices = Readonly<Record<string, readonly string[]>>

/** Builds a parser of bodies. The parser throws `invalid_request` errors that say which field is wrong and why. */
export function bodyParser<FieldSet extends Fields>(
  schema: TObject<FieldSet>,
  bodyName = 'the body',
): (body: JsonObject) => RecordOf<FieldSet> {
  const codecs = codecsOf(schema.properties)
  const names = codecs.map(({ name }) => name)
  const { minProperties = 0, choices = {} } = schema as SchemaKeywords
  const groups = Object.values(choices)

  return (body) => {
    if (groups.length > 0) requireOneGroup(bodyName, body, groups)
    if (minProperties > 0 && !hasAnyField(body, names)) {
      throw invalid(`${bodyName} must have at least one of ${joinNames(names)}, got none of them`)
    }
    const record: Record<string, unknown> = {}
    for (const codec of codecs) {
      const value = Object.hasOwn(body, codec.name) ? body[codec.name] : undefined
      if (value === undefined && codec.isOptional) continue
      record[codec.name] = valueFromJson(codec, value)
    }
    // Each field was checked against its schema.
    return record as RecordOf<FieldSet>
  }
}

/** Throws unless the body has fields of exactly one group. */
export function requireOneGroup(
  bodyName: string,
  body: JsonObject,
  groups: readonly (readonly string[])[],
): void {
  let usedGroups = 0
  for (const names of groups) if (hasAnyField(body, names)) usedGroups++
  if (usedGroups === 1) return
  const choices = groups.map((names) =>
    names.length === 1 ? names[0] : `at least one of ${joinNames(names)}`,
  )
  const got = usedGroups === 0 ? 'neither' : 'both'
  throw invalid(`${bodyName} must have either ${choices.join(' or ')}, got ${got}`)
}

function joinNames(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** A loop is faster than `names.some`, and this runs for each of up to 1,000 changes of an adjustment. */
function hasAnyField(body: JsonObject, names: readonly string[]): boolean {
  for (const name of names) if (body[name] !== undefined) return true
  return false
}

/** A command of the caller. `commitAndReply` adds the key and the time, unless they are given. */
type CallerCommand<C extends Command> = C extends Command
  ? Omit<C, 'keyId' | 'at'> & Partial<Pick<C, 'keyId' | 'at'>>
  : never

/** Turns an outcome into a reply, or into an error that becomes the reply. */
type ReplyTo<O extends Outcome> = (outcome: O) => StorableReply | ServiceError

type OutcomeReplies<Type extends CommandType> = {
  readonly [OutcomeType in OutcomeOf<Type>['type']]: ReplyTo<
    Extract<OutcomeOf<Type>, { readonly type: OutcomeType }>
  >
}

/**
 * Commits a command and replies with its outcome. A repeated Idempotency-Key gets the stored reply instead, whose order
 * `readOrder` reads again. Checks the key first, because the request may have waited for a lookup.
 */
export async function commitAndReply<Type extends CommandType>(
  {
    key,
    confirmKey,
    idempotency,
    requester,
  }: Pick<Input, 'key' | 'confirmKey' | 'idempotency' | 'requester'>,
  { commits, clock }: Pick<Services, 'commits' | 'clock'>,
  callerCommand: { readonly type: Type } & CallerCommand<CommandOf<Type>>,
  replies: OutcomeReplies<Type>,
  readOrder?: (orderId: bigint) => Promise<StorableReply>,
): Promise<Reply> {
  const confirmation = confirmKey()
  if (confirmation instanceof Promise) await confirmation
  // `callerCommand` lacks at most these two fields.
  const command = { keyId: key.id, at: clock(), ...callerCommand } as Command
  // The store returns an outcome of this command, and `replies` has a function for each outcome of the command.
  const repliesByType = replies as unknown as Readonly<Record<Outcome['type'], ReplyTo<Outcome>>>
  const toReply = (outcome: Outcome, maxDetails = Number.POSITIVE_INFINITY): StorableReply => {
    const reply = repliesByType[outcome.type](outcome)
    return reply instanceof ServiceError ? errorReply(withFewerDetails(reply, maxDetails)) : reply
  }
  if (idempotency === undefined) return toReply(await commits.run(command, requester))
  const answer = (outcome: Outcome) => serializeReply(toReply(outcome, MAX_REMEMBERED_FAILURES))
  const result = await commits.runOnce(command, { ...idempotency, answer }, requester)
  return result.type === 'decided' ? toReply(result.outcome) : replyAgain(result, idempotency, readOrder)
}

/** The reply to a request whose Idempotency-Key was used before. */
export async function replyAgain(
  earlier: EarlierAnswer,
  { key }: RequestIdempotency,
  readOrder?: (orderId: bigint) => Promise<StorableReply>,
): Promise<Reply> {
  switch (earlier.type) {
    case 'replayed':
      return replay(earlier.answer, readOrder)
    case 'key_reused':
      throw new ServiceError(
        'idempotency_key_reused',
        `the Idempotency-Key ${JSON.stringify(key)} was already sent with another request; use a new key for each change`,
      )
  }
}

function withFewerDetails(error: ServiceError, max: number): ServiceError {
  const { code, message, field, details = [] } = error
  if (details.length <= max) return error
  const shortMessage = `${message}; this repeated response lists only the first ${max}`
  return new ServiceError(code, shortMessage, { field, details: details.slice(0, max) })
}

export function serializeReply({ status, headers, body, orderId }: StorableReply): string {
  if (orderId === undefined) return JSON.stringify({ status, headers, body })
  const { ETag: _, ...otherHeaders } = headers
  return JSON.stringify({ status, headers: otherHeaders, orderId: String(orderId) })
}

type StoredReply = Pick<StorableReply, 'status' | 'headers'> &
  ({ readonly body: string | null; readonly orderId?: undefined } | { readonly orderId: string })

async function replay(
  text: string,
  readOrder: ((orderId: bigint) => Promise<StorableReply>) | undefined,
): Promise<Reply> {
  const stored: StoredReply = JSON.parse(text)
  const replayed = { 'Idempotency-Replayed': 'true' }
  if (stored.orderId === undefined) return { ...stored, headers: { ...stored.headers, ...replayed } }
  if (readOrder === undefined) throw new Error('the operation must read the order of a remembered reply')
  const current = await readOrder(BigInt(stored.orderId))
  return {
    ...current,
    status: stored.status,
    headers: { ...current.headers, ...stored.headers, ...replayed },
  }
}
