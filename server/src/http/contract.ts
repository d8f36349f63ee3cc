import type { TSchema } from 'typebox'
import { PLAN_LIMITS } from '../core/keys/plans.ts'
import { FIRST_BAN, LONGEST_BAN } from '../core/limits/rate-windows.ts'
import { SECOND } from '../core/values/clock.ts'
import { ERROR_CODES, type ErrorCode } from '../core/values/errors.ts'
import type { Operation } from './operation.ts'
import { STATUS } from './reply.ts'
import { ErrorBody, RESOURCES } from './resources.ts'
import { OPERATIONS } from './routes.ts'

/** What of the contract is a setting. */
export interface ContractSettings {
  readonly baseUrl: string
  readonly stagingBaseUrl: string
  readonly sunset: Date
}

/** What any operation can answer with, whatever it does. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'unauthorized',
  'rate_limit_exceeded',
  'key_banned',
  'internal_error',
  'service_unavailable',
]

const WHEN: Readonly<Record<ErrorCode, string>> = {
  invalid_request: 'The request is missing required fields or holds invalid values.',
  unauthorized: 'The API key is missing or invalid.',
  forbidden: 'The API key may not do this.',
  not_found: 'The requested resource could not be found.',
  method_not_allowed: 'The path does not offer this method.',
  gone: 'The operation ended on its sunset date.',
  precondition_failed: 'The entry is not in the state that the request named.',
  payload_too_large: 'The request body is larger than 64 KiB.',
  rate_limit_exceeded: 'The limit of the key is exceeded; wait for Retry-After, then back off exponentially.',
  key_banned: 'The key went on sending after its limit was exceeded and is banned for a while.',
  internal_error: 'Something went wrong in the service.',
  service_unavailable:
    'The database cannot answer at the moment, or there are too many connections from one address.',
}

const HEADERS = {
  'X-RateLimit-Limit': header('The limit in force.', { type: 'integer', minimum: 0 }),
  'X-RateLimit-Remaining': header('Requests remaining in the current window.', {
    type: 'integer',
    minimum: 0,
  }),
  'X-RateLimit-Reset': header('Unix timestamp at which the limit resets.', { type: 'integer' }),
  'X-Request-Id': header('Identifies the request in the logs; taken from the request where it gives one.', {
    type: 'string',
  }),
  'Retry-After': header('Whole seconds to wait before retrying.', { type: 'integer', minimum: 1 }),
  'WWW-Authenticate': header('How to authenticate (RFC 6750).', { type: 'string' }),
  ETag: header(
    'Changes exactly when the content does; for If-None-Match, that of an entry also for If-Match.',
    {
      type: 'string',
    },
  ),
  Deprecation: header('Since when the operation is deprecated (RFC 9745).', { type: 'string' }),
  Sunset: header('When the operation ends (RFC 8594).', { type: 'string' }),
  Link: header('Where to read about the deprecation, and what takes its place (rel="successor-version").', {
    type: 'string',
  }),
  NextPage: {
    ...header('The next page, with rel="next"; absent on the last one.', { type: 'string' }),
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
    paths[operation.path] ??= {}
    Object.assign(paths[operation.path] ?? {}, {
      [operation.method.toLowerCase()]: describeOperation(operation, sunset),
    })
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
    ],
    security: [{ bearerAuth: [] }],
    tags: [
      { name: 'inventory', description: 'Stock levels.' },
      { name: 'pets', description: 'The pets themselves.' },
      { name: 'store', description: 'Orders.' },
      { name: 'limits', description: 'What the key may still do.' },
    ],
    paths,
    'x-error-codes': ERROR_CODES.map((code) => ({ code, status: STATUS[code], description: WHEN[code] })),
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
  const { operationId, summary, description, tag, stability, body, deprecatedSince } = operation
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    'x-stability': stability,
    ...(deprecatedSince === undefined
      ? {}
      : { deprecated: true, 'x-sunset': sunset.toISOString().slice(0, 10) }),
    parameters: describeParameters(operation),
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: describeResponses(operation),
  }
}

function describeParameters({ params, query = {}, headers = {} }: Operation) {
  const fromSchema = (location: 'path' | 'query', schemas: Readonly<Record<string, TSchema>>) =>
    Object.entries(schemas).map(([name, schema]) => ({
      name,
      in: location,
      required: location === 'path',
      description: (schema as { description?: string }).description,
      schema: withReferences(schema),
    }))
  const fromHeaders = Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }))
  return [...fromSchema('path', params), ...fromSchema('query', query), ...fromHeaders]
}

function describeResponses(operation: Operation) {
  const { method, success, errors, deprecatedSince } = operation
  const marks: HeaderName[] = deprecatedSince === undefined ? [] : ['Deprecation', 'Sunset', 'Link']
  const tag: HeaderName[] = success.events === undefined ? ['ETag'] : []
  const page: HeaderName[] = success.isPaged ? ['NextPage'] : []
  const responses: Record<string, unknown> = {
    200: {
      description: success.description,
      headers: headerReferences([...tag, ...page, ...marks]),
      content:
        success.events === undefined ? json(success.schema) : eventStream(success.schema, success.events),
    },
  }
  if (method === 'GET' && success.events === undefined) {
    responses[304] = {
      description: 'The content is the one that If-None-Match names.',
      headers: headerReferences([...tag, ...marks]),
    }
  }
  const codesByStatus = Object.groupBy([...errors, ...COMMON_ERRORS], (code) => STATUS[code])
  for (const [status, codes = []] of Object.entries(codesByStatus)) {
    const isOwn = codes.some((code) => errors.includes(code))
    responses[status] = describeError(Number(status), codes, isOwn ? marks : [])
  }
  if (operation.body !== undefined) {
    const { headers, content } = describeError(408, [], [])
    const description = '`invalid_request`: The request body did not arrive in time.'
    responses[408] = { description, headers, content }
  }
  return responses
}

function describeError(status: number, codes: readonly ErrorCode[], marks: readonly HeaderName[]) {
  const extra: HeaderName[] = []
  if (status === 401) extra.push('WWW-Authenticate')
  if (status === 429 || status === 503) extra.push('Retry-After')
  return {
    description: codes.map((code) => `\`${code}\`: ${WHEN[code]}`).join(' '),
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

function header(description: string, schema: Readonly<Record<string, unknown>>) {
  return { description, required: true, schema }
}

function json(schema: TSchema) {
  return { 'application/json': { schema: withReferences(schema) } }
}

function eventStream(schema: TSchema, events: Readonly<Record<string, TSchema>>) {
  const data = Object.entries(events).map(([name, part]) => [name, withReferences(part)])
  return {
    'text/event-stream': { schema: withReferences(schema), 'x-event-data': Object.fromEntries(data) },
  }
}

function titleOf(schema: TSchema): string | undefined {
  return (schema as { title?: string }).title
}

/** Plain JSON Schema in which every named resource inside the schema is a reference to it. */
function withReferences(schema: TSchema, isDefinition = false): unknown {
  const title = titleOf(schema)
  if (!isDefinition && title !== undefined) return { $ref: `#/components/schemas/${title}` }
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword === 'items') return [keyword, withReferences(value as TSchema)]
      if (keyword !== 'properties') return [keyword, value]
      const properties = Object.entries(value as Record<string, TSchema>)
      return [keyword, Object.fromEntries(properties.map(([name, part]) => [name, withReferences(part)]))]
    }),
  )
}
