import Type, { IsObject, RemoveOptional, type TObject, type TSchema } from 'typebox'
import { PLAN_LIMITS } from '../core/keys/api-key.ts'
import { MAX_SECRETS, PAIRING_CODE_MINUTES } from '../core/keys/pairing.ts'
import { ANONYMOUS_PER_MINUTE, FIRST_BAN, LONGEST_BAN } from '../core/limits/rate-windows.ts'
import { MAX_CHANGES } from '../core/stock/command.ts'
import { ANSWERS_KEPT_HOURS } from '../core/stock/decide.ts'
import { SECOND } from '../core/values/clock.ts'
import { ERROR_CODES, type ErrorCode } from '../core/values/errors.ts'
import { MAX_QUANTITY } from '../core/values/field.ts'
import { GIVE_UP_DAYS, OLD_SECRET_HOURS, RESPONSE_TIMEOUT_SECONDS } from '../core/webhooks/webhook.ts'
import { MAX_KEPT_ATTEMPTS } from '../core/webhooks/webhook-store.ts'
import { HEARTBEAT_SECONDS, WEBHOOK_PAYLOADS } from './events.ts'
import {
  acceptsIfMatch,
  type Choices,
  isRequiredParameter,
  type Operation,
  type SuccessSpec,
} from './operation.ts'
import { ERRORS, IDEMPOTENCY_KEY_HEADER, IF_MATCH_HEADER, NO_STORE, REVALIDATE } from './reply.ts'
import { OPERATIONS } from './routes.ts'
import { ErrorBody, ProblemBody, pageParameters, pascalCase } from './schemas.ts'

interface ContractSettings {
  readonly baseUrl: string | undefined
  readonly stagingBaseUrl: string | undefined
  readonly sunset: Date
}

/** Errors that every operation can reply with. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'unauthorized',
  'rate_limit_exceeded',
  'key_banned',
  'internal_error',
  'service_unavailable',
]

const HEADERS = {
  'X-RateLimit-Limit': integerHeader('The limit in force.', 0),
  'X-RateLimit-Remaining': integerHeader('Requests remaining in the current window.', 0),
  'X-RateLimit-Reset': integerHeader('Unix timestamp at which the limit resets.'),
  'RateLimit-Policy': textHeader(
    'The limits that apply: quota `q` and window `w` in seconds (draft-ietf-httpapi-ratelimit-headers-11).',
  ),
  RateLimit: textHeader('What is left: `r` requests for the next `t` seconds.'),
  'X-Request-Id': textHeader('Identifies the request in the logs; callers may send their own X-Request-Id.'),
  'Retry-After': integerHeader('Whole seconds to wait before retrying.', 1),
  'WWW-Authenticate': textHeader('How to authenticate (RFC 6750).'),
  ETag: textHeader(
    'Changes exactly when the content changes. Send it as If-None-Match to read only new content, and as If-Match to change or delete the record only if nobody else has changed it. If-Match ignores what changes by itself, such as the backlog of a webhook or the last use of a key.',
  ),
  'Cache-Control': fixedHeader(
    REVALIDATE['Cache-Control'],
    'A cache keeps the content, and revalidates it by its ETag before each use.',
  ),
  NoStore: fixedHeader(NO_STORE['Cache-Control'], 'No cache keeps the content.'),
  Deprecation: textHeader('Since when the operation is deprecated (RFC 9745).'),
  Sunset: textHeader('When the operation ends (RFC 8594).'),
  Link: textHeader('Documentation of the deprecation, and the replacement (rel="successor-version").'),
  Location: textHeader('The address of the created resource.'),
  'Event-Id': textHeader(
    'The position of the response among the events, for `after` of GET /events and for Last-Event-ID.',
  ),
  'Complete-Since': {
    ...textHeader('The time from which the history is complete; absent if nothing was removed from it.'),
    required: false,
  },
  'Idempotency-Replayed': {
    ...textHeader('true if this is the stored reply of an earlier request with the same Idempotency-Key.'),
    required: false,
  },
  NextPage: {
    ...textHeader('The next page, with rel="next"; absent on the last page.'),
    required: false,
  },
} as const

/** A header with two descriptions has another key in HEADERS for the second. */
const HEADER_NAMES: Readonly<Record<string, string>> = { NextPage: 'Link', NoStore: 'Cache-Control' }

const IF_NONE_MATCH = {
  'If-None-Match': 'ETags of content that the caller has. If one of them is current, the response is 304.',
}

const PAGE_PARAMETERS = Object.keys(pageParameters())

type HeaderName = keyof typeof HEADERS
const COMMON_HEADERS: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
]

/** The keywords of a schema that the contract reads. */
interface Keywords {
  readonly title?: string
  readonly description?: string
  readonly type?: string
  readonly items?: TSchema
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly choices?: Choices
  readonly examples?: readonly unknown[]
}

function keywordsOf(schema: TSchema): Keywords {
  return schema
}

/** Parameters and responses that several operations share, by name. */
class SharedComponents {
  readonly parameters: Record<string, object> = {}
  readonly responses: Record<string, object> = {}

  /** Returns a reference to the shared parameter of this name, or `parameter` itself if the shared parameter differs. */
  parameter(name: string, parameter: object): object {
    const title = pascalCase(name)
    this.parameters[title] ??= parameter
    return isSame(this.parameters[title], parameter)
      ? { $ref: `#/components/parameters/${title}` }
      : parameter
  }

  header(name: string, description: string, { required }: { readonly required: boolean }): object {
    return this.parameter(name, { name, in: 'header', required, description, schema: { type: 'string' } })
  }

  response(name: string, response: object): object {
    this.responses[name] ??= response
    return { $ref: `#/components/responses/${name}` }
  }
}

/** The numbers that the guides of the API docs state. */
const CONSTANTS = {
  anonymousPerMinute: ANONYMOUS_PER_MINUTE,
  giveUpDays: GIVE_UP_DAYS,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  idempotencyKeyHours: ANSWERS_KEPT_HOURS,
  keptAttempts: MAX_KEPT_ATTEMPTS,
  maxChanges: MAX_CHANGES,
  maxSecrets: MAX_SECRETS,
  oldSecretHours: OLD_SECRET_HOURS,
  pairingCodeMinutes: PAIRING_CODE_MINUTES,
  responseTimeoutSeconds: RESPONSE_TIMEOUT_SECONDS,
}

/** The OpenAPI 3.1 document of all operations. */
export function buildContract({ baseUrl, stagingBaseUrl, sunset }: ContractSettings) {
  const shared = new SharedComponents()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of OPERATIONS) {
    const { method, path } = operation
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(operation, sunset, shared) }
  }
  return withIntegerFormats({
    openapi: '3.1.0',
    info: {
      title: 'Petstore Inventory',
      version: '1.0.0',
      summary: "A pet store's stock levels.",
      description:
        'Every operation needs an API key as a bearer token. Every response has the rate-limit headers, and every error response an Error body. A response that states no Cache-Control has `no-store`. Every response of a deprecated operation has Deprecation, Sunset and Link. HEAD is supported wherever GET is.',
      contact: { name: 'The operator of this service' },
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [
      { url: baseUrl, description: 'Production' },
      { url: stagingBaseUrl, description: 'Staging' },
    ].filter(({ url }) => url !== undefined),
    security: [{ bearerAuth: [] }],
    tags: [
      { name: 'inventory', description: 'Stock levels.' },
      { name: 'pets', description: 'Pets and categories.' },
      { name: 'imports', description: 'Files of pets, categories, orders and counts.' },
      { name: 'store', description: 'Orders.' },
      { name: 'reports', description: 'Sums over the history of the stock.' },
      { name: 'webhooks', description: 'Notifications of changes, sent to an address of the caller.' },
      { name: 'keys', description: 'API keys, and pairing codes that sign in a device.' },
      { name: 'limits', description: 'The rate limits of the key.' },
    ],
    paths,
    webhooks: describeWebhooks(shared),
    'x-error-codes': ERROR_CODES.map((code) => ({ code, ...ERRORS[code] })),
    'x-rate-limits': {
      // The limits of an Enterprise key are set when it is created.
      plans: { ...PLAN_LIMITS, enterprise: null },
      ban: { firstSeconds: FIRST_BAN / SECOND, longestSeconds: LONGEST_BAN / SECOND },
    },
    'x-constants': CONSTANTS,
    components: {
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          description: 'The API key, in the form: Authorization: Bearer <API_KEY>.',
        },
        pairingCode: {
          type: 'http',
          scheme: 'bearer',
          description: 'A pairing code, in the form: Authorization: Bearer <CODE>.',
        },
      },
      headers: HEADERS,
      parameters: shared.parameters,
      responses: shared.responses,
      schemas: describeSchemas(),
    },
  })
}

function describeOperation(operation: Operation, sunset: Date, shared: SharedComponents) {
  const { operationId, path, summary, description, stability = 'stable' } = operation
  const { permission, body, csvExample, deprecatedSince, takesPairingCode } = operation
  const [, firstSegment] = path.split('/')
  return {
    operationId,
    summary,
    description:
      permission === undefined
        ? description
        : `${description} The key needs the permission \`${permission}\`.`,
    tags: [operation.tag ?? firstSegment],
    'x-stability': stability,
    ...(permission === undefined ? {} : { 'x-permission': permission }),
    ...(deprecatedSince === undefined
      ? {}
      : { deprecated: true, 'x-sunset': sunset.toISOString().slice(0, 10) }),
    ...(takesPairingCode ? { security: [{ pairingCode: [] }] } : {}),
    parameters: describeParameters(operation, shared),
    ...(body === undefined ? {} : { requestBody: { required: true, content: jsonContent(body) } }),
    ...(csvExample === undefined ? {} : { requestBody: { required: true, content: csvContent(csvExample) } }),
    responses: describeResponses(operation, shared),
  }
}

function describeParameters(operation: Operation, shared: SharedComponents) {
  const { params = {}, query = {}, acceptsIdempotencyKey } = operation
  const headers = operation.headers ?? (isRead(operation) ? IF_NONE_MATCH : {})
  const usedHeaders = {
    ...headers,
    ...(acceptsIfMatch(operation) ? IF_MATCH_HEADER : {}),
    ...(acceptsIdempotencyKey ? IDEMPOTENCY_KEY_HEADER : {}),
  }
  const toParameters = (location: 'path' | 'query', schemas: Readonly<Record<string, TSchema>>) =>
    Object.entries(schemas).map(([name, schema]) => ({
      name,
      in: location,
      required: location === 'path' || isRequiredParameter(schema),
      description: keywordsOf(schema).description,
      schema: withReferences(schema),
      // The values of a list are separated by commas.
      ...(keywordsOf(schema).type === 'array' ? { explode: false } : {}),
    }))
  const headerParameters = Object.entries(usedHeaders).map(([name, description]) =>
    shared.header(name, description, { required: false }),
  )
  const queryParameters = toParameters('query', query).map((parameter) =>
    PAGE_PARAMETERS.includes(parameter.name) ? shared.parameter(parameter.name, parameter) : parameter,
  )
  return [...toParameters('path', params), ...queryParameters, ...headerParameters]
}

/** The headers that a 304 repeats if the 200 has them, in addition to the headers that every 304 has. */
const NOT_MODIFIED_HEADERS: readonly HeaderName[] = ['Event-Id', 'NextPage']

function notModified(headers: readonly HeaderName[]) {
  return {
    description: 'The content has not changed: If-None-Match names its ETag.',
    headers: headerReferences(['ETag', 'Cache-Control', ...headers]),
  }
}

/** Whether the operation returns content that a caller can revalidate. */
function isRead({ method, success }: Operation): boolean {
  return method === 'GET' && success.events === undefined
}

function describeResponses(operation: Operation, shared: SharedComponents) {
  const { method, success, query, deprecatedSince, acceptsIdempotencyKey } = operation
  const { status = 200, createsSeveral } = success
  const hasETag = isRead(operation) || method === 'PATCH' || success.hasETag === true
  const headers: HeaderName[] = [...(success.headers ?? [])]
  if (hasETag) headers.push('ETag')
  if (method === 'GET') headers.push(isRead(operation) ? 'Cache-Control' : 'NoStore')
  if (query?.cursor !== undefined) headers.push('NextPage')
  if (status === 201 && !createsSeveral) headers.push('Location')
  if (deprecatedSince !== undefined) headers.push('Deprecation', 'Sunset', 'Link')
  if (acceptsIdempotencyKey) headers.push('Idempotency-Replayed')
  const responses: Record<string, unknown> = {
    [status]: {
      description: success.description,
      headers: headerReferences(headers),
      ...(status === 204 ? {} : { content: contentOf(success) }),
    },
  }
  if (isRead(operation)) {
    const repeated = NOT_MODIFIED_HEADERS.filter((name) => headers.includes(name))
    responses[304] = shared.response(
      ['NotModified', ...repeated].map(pascalCase).join(''),
      notModified(repeated),
    )
  }
  for (const code of possibleErrors(operation)) {
    const errorStatus = ERRORS[code].status
    responses[errorStatus] = shared.response(`Error${errorStatus}`, describeError(errorStatus))
  }
  return responses
}

function possibleErrors(operation: Operation): ErrorCode[] {
  const { errors = [], params, readBody, permission, acceptsIdempotencyKey } = operation
  // Every operation rejects something: an unknown parameter, an invalid body, or a header that it does not support.
  const codes: ErrorCode[] = [...COMMON_ERRORS, 'invalid_request', ...errors]
  if (acceptsIfMatch(operation)) codes.push('precondition_failed')
  if (params !== undefined) codes.push('not_found')
  if (readBody !== undefined) codes.push('payload_too_large', 'request_timeout')
  if (permission !== undefined) codes.push('forbidden')
  if (acceptsIdempotencyKey) codes.push('idempotency_key_reused')
  return codes
}

/** The statuses of refused changes, which are stored for their Idempotency-Key. */
const STORED_ERRORS = [404, 409, 412]

/** Describes all error codes that have this status. */
function describeError(status: number) {
  const codes = ERROR_CODES.filter((code) => ERRORS[code].status === status)
  const headers: HeaderName[] = []
  if (status === 401) headers.push('WWW-Authenticate')
  if (status === 429 || status === 503) headers.push('Retry-After')
  if (STORED_ERRORS.includes(status)) headers.push('Idempotency-Replayed')
  if (status === 429) headers.push('RateLimit-Policy', 'RateLimit')
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].description}`).join(' '),
    headers: headerReferences(headers),
    content: {
      ...jsonContent(ErrorBody),
      'application/problem+json': { schema: withReferences(ProblemBody) },
    },
  }
}

function headerReferences(names: readonly HeaderName[]) {
  return Object.fromEntries(
    [...COMMON_HEADERS, ...names].map((name) => [
      HEADER_NAMES[name] ?? name,
      { $ref: `#/components/headers/${name}` },
    ]),
  )
}

function textHeader(description: string) {
  return { description, required: true, schema: { type: 'string' } }
}

function fixedHeader(value: string, description: string) {
  return { description, required: true, schema: { type: 'string', const: value } }
}

function integerHeader(description: string, minimum = 0) {
  return { description, required: true, schema: { type: 'integer', minimum, maximum: MAX_QUANTITY } }
}

function contentOf({ schema, events, csv }: SuccessSpec) {
  if (events === undefined) {
    return { ...jsonContent(schema), ...(csv === undefined ? {} : csvContent(csv)) }
  }
  const dataSchemas = Object.entries(events).map(([name, data]) => [name, withReferences(data)])
  const [example] = Object.entries(events).flatMap(([name, data]) => {
    const [value] = keywordsOf(data).examples ?? []
    return value === undefined ? [] : [`event: ${name}\ndata: ${JSON.stringify(value)}\n\n`]
  })
  return {
    'text/event-stream': {
      schema: withReferences(schema),
      'x-event-data': Object.fromEntries(dataSchemas),
      example,
    },
  }
}

function jsonContent(schema: TSchema) {
  const example = exampleOf(schema)
  return {
    'application/json': { schema: withReferences(schema), ...(example === undefined ? {} : { example }) },
  }
}

function csvContent(example: string) {
  return { 'text/csv': { schema: { type: 'string' }, example } }
}

/** The example of a list has one item. Other schemas need no example here, because they contain their own. */
function exampleOf(schema: TSchema): unknown {
  const { items } = keywordsOf(schema)
  const [item] = (items && keywordsOf(items).examples) ?? []
  return item === undefined ? undefined : [item]
}

const DELIVERY_HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'Identifies the delivery; the same for each retry. Ids of test events begin with `test_`.',
  'webhook-timestamp': 'The time of this attempt, in seconds since 1970.',
  'webhook-signature':
    'One or more signatures, separated by blanks. Each is `v1,` followed by the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` in base64.',
}

const DELIVERY_RESPONSES = {
  '2XX': {
    description: `Accepts the delivery if this response arrives within ${RESPONSE_TIMEOUT_SECONDS} s. The body is ignored.`,
  },
  '410': { description: 'Turns the webhook off.' },
  '429': { description: 'The delivery is retried, after the time in Retry-After if that header is present.' },
  '503': { description: 'The delivery is retried, after the time in Retry-After if that header is present.' },
  default: { description: `The delivery is retried for ${GIVE_UP_DAYS} days; then it is parked.` },
}

function describeWebhooks(shared: SharedComponents) {
  const webhooks = WEBHOOK_PAYLOADS.map(({ type, summary, schema }) => {
    const post = {
      operationId: `receive${pascalCase(type)}Payload`,
      summary,
      description:
        'Signed as the Standard Webhooks specification says. A delivery may arrive more than once. Deliveries of one pet arrive in order.',
      tags: ['webhooks'],
      'x-stability': 'stable',
      security: [],
      parameters: Object.entries(DELIVERY_HEADERS).map(([name, description]) =>
        shared.header(name, description, { required: true }),
      ),
      requestBody: { required: true, content: jsonContent(schema) },
      responses: DELIVERY_RESPONSES,
    }
    return [type, { post }]
  })
  return Object.fromEntries(webhooks)
}

/** Every schema with a title that an operation or a webhook uses. */
function describeSchemas() {
  const definitions: Record<string, unknown> = {}
  const schemas: TSchema[] = OPERATIONS.flatMap(({ params, query, body, success }) => [
    ...Object.values({ ...params, ...query }),
    ...(body === undefined ? [] : [body]),
    success.schema,
    ...Object.values(success.events ?? {}),
  ])
  schemas.push(...WEBHOOK_PAYLOADS.map(({ schema }) => schema), ErrorBody, ProblemBody)
  // The loop also visits the parts that it appends.
  for (const schema of schemas) {
    const { title } = keywordsOf(schema)
    if (title !== undefined && title in definitions) continue
    if (title !== undefined) definitions[title] = definitionOf(schema)
    schemas.push(...partsOf(schema))
  }
  for (const { body, ignoresUnknownInput } of OPERATIONS) {
    if (body !== undefined && !ignoresUnknownInput) forbidOtherFields(body, definitions)
  }
  return definitions
}

/**
 * Sets `additionalProperties: false` in the definition of a body and of the objects inside it. A definition with `oneOf` does not
 * get it, because its variants have it.
 */
function forbidOtherFields(schema: TSchema, definitions: Record<string, unknown>): void {
  const { title } = keywordsOf(schema)
  const definition = title === undefined ? undefined : definitions[title]
  if (IsObject(schema) && title !== undefined && !('oneOf' in (definition as object))) {
    definitions[title] = { ...(definition as object), additionalProperties: false }
  }
  for (const part of partsOf(schema)) forbidOtherFields(part, definitions)
}

function partsOf(schema: TSchema): readonly TSchema[] {
  const { items, properties = {} } = keywordsOf(schema)
  return [...(items === undefined ? [] : [items]), ...Object.values(properties), ...variantsOf(schema)]
}

/** One object schema for each group in `choices`. It has the fields of that group and the fields that are in no group. */
function variantsOf(schema: TSchema): TObject[] {
  const { choices, properties = {} } = keywordsOf(schema)
  if (choices === undefined) return []
  const groupedNames = Object.values(choices).flat()
  return Object.entries(choices).map(([title, names]) => {
    const isRequired = (name: string) => names.length === 1 && names[0] === name
    const fields = Object.entries(properties)
      .filter(([name]) => names.includes(name) || !groupedNames.includes(name))
      .map(([name, field]) => [name, isRequired(name) ? RemoveOptional(field) : field])
    const options = names.length === 1 ? { title } : { title, minProperties: 1 }
    return Type.Object(Object.fromEntries(fields), { ...options, additionalProperties: false })
  })
}

/** A reference to the schema if it has a title, and otherwise its definition. */
function withReferences(schema: TSchema): unknown {
  const { title } = keywordsOf(schema)
  return title === undefined ? definitionOf(schema) : { $ref: `#/components/schemas/${title}` }
}

/** The schema, with references to the titled schemas inside it. */
function definitionOf(schema: TSchema): unknown {
  const { title, description, examples } = keywordsOf(schema)
  const variants = variantsOf(schema)
  if (variants.length > 0) {
    return { title, description, oneOf: variants.map((variant) => withReferences(variant)), examples }
  }
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === 'items') return [keyword, withReferences(value as TSchema)]
      if (keyword !== 'properties') return [keyword, value]
      const properties = Object.entries(value as Record<string, TSchema>)
      return [keyword, Object.fromEntries(properties.map(([name, part]) => [name, withReferences(part)]))]
    }),
  )
}

const MAX_INT32 = 2 ** 31 - 1

/**
 * Gives each integer schema the format that its bounds allow, because many code generators make 32-bit fields of integers
 * without a format. An integer with a maximum is never an id: ids have the format int64 and no bounds.
 */
function withIntegerFormats<Part>(part: Part): Part {
  if (typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map(withIntegerFormats) as Part
  const entries = Object.entries(part).map(([keyword, value]) => [keyword, withIntegerFormats(value)])
  const { type, format, minimum, maximum } = part as Partial<Record<string, unknown>>
  if (type === 'integer' && format === undefined) {
    if (typeof minimum !== 'number' || typeof maximum !== 'number') {
      throw new Error(`an integer of the contract needs a minimum and a maximum: ${JSON.stringify(part)}`)
    }
    const isInt32 = minimum >= -MAX_INT32 && maximum <= MAX_INT32
    entries.push(['format', isInt32 ? 'int32' : 'int64'])
  }
  return Object.fromEntries(entries) as Part
}

/** Both are built by the same code, so their keys have the same order. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
