import type { TSchema } from 'typebox'
import { PLAN_LIMITS } from '../core/keys/plans.ts'
import { FIRST_BAN, LONGEST_BAN } from '../core/limits/rate-windows.ts'
import { SECOND } from '../core/values/clock.ts'
import { ERROR_CODES, type ErrorCode } from '../core/values/errors.ts'
import {
  Category,
  CategoryUpdate,
  LowStockEvent,
  NewCategory,
  NewPet,
  PetEvent,
  PetUpdate,
} from './catalog-resources.ts'
import { describeWebhooks, WEBHOOK_PAYLOADS } from './event-payloads.ts'
import { IDEMPOTENCY_KEY } from './idempotency.ts'
import type { Operation, SuccessFacts } from './operation.ts'
import { Availability, NewOrder, Order, OrderEvent, OrderState, OrderUpdate } from './order-resources.ts'
import { ERRORS } from './reply.ts'
import {
  AdjustmentChange,
  AdjustmentResult,
  CatalogEntry,
  ChangeEvent,
  ErrorBody,
  ErrorDetail,
  HistoryEntry,
  InventoryAdjustment,
  InventoryItem,
  InventoryUpdate,
  KeyLimits,
  LimitWindow,
  Permission,
  Pet,
  PetStatus,
  Reason,
  RecentChange,
  RemovedEvent,
} from './resources.ts'
import { OPERATIONS } from './routes.ts'
import { json, titleOf, withReferences } from './schema-references.ts'
import { SearchRow } from './search-resources.ts'
import { WEBHOOK_RESOURCES } from './webhook-resources.ts'

export interface ContractSettings {
  /** Of each environment, as far as it is known. */
  readonly baseUrl: string | undefined
  readonly stagingBaseUrl: string | undefined
  readonly sunset: Date
}

/** The schemas that the contract lists under their own name, by title. */
const RESOURCES = [
  ...[InventoryItem, InventoryUpdate, PetStatus, InventoryAdjustment, AdjustmentChange, AdjustmentResult],
  ...[Availability, SearchRow, Reason, HistoryEntry, RecentChange, ChangeEvent, OrderEvent, PetEvent],
  ...[RemovedEvent, LowStockEvent, Pet, NewPet, PetUpdate, Category, NewCategory, CategoryUpdate],
  ...[...WEBHOOK_RESOURCES, ...WEBHOOK_PAYLOADS],
  ...[CatalogEntry, Order, OrderState, NewOrder, OrderUpdate, KeyLimits, LimitWindow],
  ...[Permission, ErrorBody, ErrorDetail],
]

/** What any operation can answer with, whatever it does. */
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
  'X-Request-Id': textHeader(
    'Identifies the request in the logs; taken from the request where it gives one.',
  ),
  'Retry-After': integerHeader('Whole seconds to wait before retrying.', 1),
  'WWW-Authenticate': textHeader('How to authenticate (RFC 6750).'),
  ETag: textHeader(
    'Changes exactly when the content does; for If-None-Match, that of an entry also for If-Match.',
  ),
  Deprecation: textHeader('Since when the operation is deprecated (RFC 9745).'),
  Sunset: textHeader('When the operation ends (RFC 8594).'),
  Link: textHeader(
    'Where to read about the deprecation, and what takes its place (rel="successor-version").',
  ),
  Location: textHeader('The address of what was made.'),
  'Idempotency-Replayed': {
    ...textHeader('true where it is the answer of an earlier request with the same Idempotency-Key.'),
    required: false,
  },
  NextPage: {
    ...textHeader('The next page, with rel="next"; absent on the last one.'),
    required: false,
  },
} as const

/** A component that is not named as the header is. */
const HEADER_OF: Readonly<Record<string, string>> = { NextPage: 'Link' }

type HeaderName = keyof typeof HEADERS
const EVERY_RESPONSE: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
]

/** The OpenAPI 3.1 document of everything under the base address. */
export function buildContract({ baseUrl, stagingBaseUrl, sunset }: ContractSettings) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of OPERATIONS) {
    const described = { [operation.method.toLowerCase()]: describeOperation(operation, sunset) }
    paths[operation.path] = { ...paths[operation.path], ...described }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Petstore Inventory',
      version: '1.0.0',
      summary: "A pet store's stock levels.",
      description:
        'Every operation needs an API key as a bearer token. Every response carries the rate-limit headers, and every error response an Error body. HEAD is offered wherever GET is.',
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [
      { url: baseUrl, description: 'Production' },
      { url: stagingBaseUrl, description: 'Staging' },
    ].filter(({ url }) => url !== undefined),
    security: [{ bearerAuth: [] }],
    tags: [
      { name: 'inventory', description: 'Stock levels.' },
      { name: 'pets', description: 'The pets themselves.' },
      { name: 'store', description: 'Orders.' },
      { name: 'webhooks', description: 'Who is told of what happens.' },
      { name: 'limits', description: 'What the key may still do.' },
    ],
    paths,
    webhooks: describeWebhooks(),
    'x-error-codes': ERROR_CODES.map((code) => ({ code, ...ERRORS[code] })),
    'x-rate-limits': {
      // The limits of an Enterprise key are agreed when it is made.
      plans: { ...PLAN_LIMITS, enterprise: null },
      ban: { firstSeconds: FIRST_BAN / SECOND, longestSeconds: LONGEST_BAN / SECOND },
    },
    components: {
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          description: 'The API key, in the form: Authorization: Bearer <API_KEY>.',
        },
      },
      headers: HEADERS,
      schemas: Object.fromEntries(RESOURCES.map((schema) => [titleOf(schema), withReferences(schema, true)])),
    },
  }
}

function describeOperation(operation: Operation, sunset: Date) {
  const { operationId, summary, description, tag, stability, needs, body, deprecatedSince } = operation
  return {
    operationId,
    summary,
    description:
      needs === undefined ? description : `${description} The key needs the permission \`${needs}\`.`,
    tags: [tag],
    'x-stability': stability,
    ...(needs === undefined ? {} : { 'x-permission': needs }),
    ...(deprecatedSince === undefined
      ? {}
      : { deprecated: true, 'x-sunset': sunset.toISOString().slice(0, 10) }),
    parameters: describeParameters(operation),
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: describeResponses(operation),
  }
}

function describeParameters({ params = {}, query = {}, headers = {}, isIdempotent }: Operation) {
  const heeded = isIdempotent ? { ...headers, ...IDEMPOTENCY_KEY } : headers
  const fromSchema = (location: 'path' | 'query', schemas: Readonly<Record<string, TSchema>>) =>
    Object.entries(schemas).map(([name, schema]) => ({
      name,
      in: location,
      required: location === 'path',
      description: (schema as { description?: string }).description,
      schema: withReferences(schema),
    }))
  const fromHeaders = Object.entries(heeded).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }))
  return [...fromSchema('path', params), ...fromSchema('query', query), ...fromHeaders]
}

function describeResponses(operation: Operation) {
  const { method, success, needs, deprecatedSince, isIdempotent } = operation
  const errors: readonly ErrorCode[] = [
    ...operation.errors,
    ...(needs === undefined ? [] : (['forbidden'] as const)),
    ...(isIdempotent ? (['idempotency_key_reused'] as const) : []),
  ]
  const marks: HeaderName[] = deprecatedSince === undefined ? [] : ['Deprecation', 'Sunset', 'Link']
  if (isIdempotent) marks.push('Idempotency-Replayed')
  const { status = 200 } = success
  const isTagged = success.events === undefined && (method === 'GET' || method === 'PATCH')
  const tag: HeaderName[] = isTagged ? ['ETag'] : []
  const page: HeaderName[] = success.isPaged ? ['NextPage'] : []
  const place: HeaderName[] = status === 201 ? ['Location'] : []
  const responses: Record<string, unknown> = {
    [status]: {
      description: success.description,
      headers: headerReferences([...tag, ...page, ...place, ...marks]),
      ...(status === 204 ? {} : { content: contentOf(success) }),
    },
  }
  if (method === 'GET' && success.events === undefined) {
    responses[304] = {
      description: 'The content is the one that If-None-Match names.',
      headers: headerReferences([...tag, ...marks]),
    }
  }
  const bodyErrors: readonly ErrorCode[] = operation.body === undefined ? [] : ['request_timeout']
  const possibleErrors = [...errors, ...bodyErrors, ...COMMON_ERRORS]
  const codesByStatus = Object.groupBy(possibleErrors, (code) => ERRORS[code].status)
  for (const [error, codes = []] of Object.entries(codesByStatus)) {
    const isOwn = codes.some((code) => errors.includes(code))
    responses[error] = describeError(Number(error), codes, isOwn ? marks : [])
  }
  return responses
}

function describeError(status: number, codes: readonly ErrorCode[], marks: readonly HeaderName[]) {
  const extra: HeaderName[] = []
  if (status === 401) extra.push('WWW-Authenticate')
  if (status === 429 || status === 503) extra.push('Retry-After')
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].description}`).join(' '),
    headers: headerReferences([...extra, ...marks]),
    content: json(ErrorBody),
  }
}

function headerReferences(names: readonly HeaderName[]) {
  return Object.fromEntries(
    [...EVERY_RESPONSE, ...names].map((name) => [
      HEADER_OF[name] ?? name,
      { $ref: `#/components/headers/${name}` },
    ]),
  )
}

function textHeader(description: string) {
  return { description, required: true, schema: { type: 'string' } }
}

function integerHeader(description: string, minimum?: number) {
  const bound = minimum === undefined ? {} : { minimum }
  return { description, required: true, schema: { type: 'integer', ...bound } }
}

function contentOf({ schema, events }: SuccessFacts) {
  return events === undefined ? json(schema) : eventStream(schema, events)
}

function eventStream(schema: TSchema, events: Readonly<Record<string, TSchema>>) {
  const data = Object.entries(events).map(([name, part]) => [name, withReferences(part)])
  return {
    'text/event-stream': { schema: withReferences(schema), 'x-event-data': Object.fromEntries(data) },
  }
}
