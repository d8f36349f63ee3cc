import { createHash } from 'node:crypto'
import {
  DEFAULT_BODY_BYTES,
  type HttpRequest,
  MAX_BODY_BYTES,
  type RequestProblem,
  type ResponseBody,
} from '@petstore/wire'
import { hideSecrets } from '../core/keys/api-key.ts'
import type { Idempotency } from '../core/stock/command.ts'
import { ANSWERS_KEPT_HOURS, LATE_ANSWERS_KEPT_DAYS } from '../core/stock/decide.ts'
import { MAX_LATENESS_DAYS } from '../core/stock/facts.ts'
import { type ErrorCode, notFound, ServiceError } from '../core/values/errors.ts'
import type { Page, PageRequest } from '../core/values/page.ts'
import { contentHash } from '../core/values/record-tag.ts'
import type { ErrorBody } from './schemas.ts'

/** The reply of an operation or of a public page. app.ts turns it into the response by adding the common headers. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ResponseBody
  /** `headers` as text, computed once for a reply that is sent many times. */
  readonly lines?: string
}

interface JsonReply extends Reply {
  readonly body: string
}

/** A reply that can be stored and replayed. */
export interface StorableReply extends Reply {
  readonly body: string | null
  /** The order in the body. It may hold personal data, so only its id is stored, and a replay reads it again. */
  readonly orderId?: bigint
}

/** A remembered refusal has this many details, so that it is short even if the request had 1,000 lines. */
export const MAX_REMEMBERED_FAILURES = 3

/** The header with the position of a reply among the events. A 304 has the new position. */
export const EVENT_ID = 'Event-Id'

/** The status and meaning of each error code. A code without an entry does not compile. */
export const ERRORS: Readonly<Record<ErrorCode, { readonly status: number; readonly description: string }>> =
  {
    invalid_request: error(400, 'The request is missing required fields or has invalid values.'),
    unauthorized: error(401, 'The API key is missing or invalid.'),
    forbidden: error(403, 'The API key lacks a permission, which the message names.'),
    not_found: error(404, 'The requested resource could not be found.'),
    method_not_allowed: error(405, 'The path does not support this method.'),
    request_timeout: error(408, 'The request did not arrive in time; send it again over a new connection.'),
    gone: error(410, 'The operation ended on its sunset date.'),
    insufficient_stock: error(409, 'Fewer units are available than the request would take or reserve.'),
    order_closed: error(409, 'The order is no longer open: it is complete, cancelled or expired.'),
    already_reversed: error(
      409,
      'The units of the adjustment are already reversed, or it is a reversal itself.',
    ),
    too_late: error(
      409,
      `It happened more than ${MAX_LATENESS_DAYS} days ago, or before the history that the service still has.`,
    ),
    in_use: error(
      409,
      'The pet still has open orders, the category still has pets, the maximum number of webhooks is reached, the key is the only one that manages keys, or a pairing code was requested for a key that is paused or expired.',
    ),
    already_exists: error(409, 'The id or barcode is already used.'),
    precondition_failed: error(412, 'The record is not in the state that the request expects.'),
    payload_too_large: error(
      413,
      `The request body is larger than ${DEFAULT_BODY_BYTES / 1_024} KiB, or ${MAX_BODY_BYTES / 1_024} KiB for adjustments and batches, or 64 MiB for imports.`,
    ),
    idempotency_key_reused: error(422, 'The Idempotency-Key was already used for another request.'),
    rate_limit_exceeded: error(
      429,
      'The limit of the key, or of the address if no valid key was sent, is exceeded. Wait for Retry-After, then back off exponentially.',
    ),
    key_banned: error(
      429,
      'The key kept sending requests after it had exceeded its limit, and is banned temporarily.',
    ),
    internal_error: error(500, 'The service failed.'),
    service_unavailable: error(
      503,
      'The service cannot answer now, for the reason in the message; try again after Retry-After.',
    ),
  }

function error(status: number, description: string) {
  return { status, description }
}

declare global {
  interface JSON {
    /** Part of ES2026, but not yet of TypeScript's library. */
    rawJSON(text: string): unknown
  }
}

/** Writes every `bigint` as its digits. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? JSON.rawJSON(String(part)) : part,
  )
}

/** The Retry-After of a `service_unavailable` error that names no time of its own. */
const DEFAULT_RETRY_AFTER_SECONDS = 1

/** For secrets (RFC 6749, 5.1), and for health checks, which would be out of date in a cache. */
export const NO_STORE = { 'Cache-Control': 'no-store' }
/** For content that one caller may keep, and revalidates by its ETag before each use. */
export const REVALIDATE = { 'Cache-Control': 'private, no-cache' }

export function jsonReply(value: unknown, headers: Reply['headers'] = {}, status = 200): JsonReply {
  return { ...jsonTextReply(toJson(value), headers), status }
}

export function createdReply(
  listPath: string,
  resource: { readonly id: bigint },
  headers: Reply['headers'] = {},
): JsonReply {
  return jsonReply(resource, { Location: `${listPath}/${resource.id}`, ...headers }, 201)
}

export const NO_CONTENT: StorableReply = { status: 204, headers: {}, body: null }

export function jsonTextReply(json: string, headers: Reply['headers']): JsonReply {
  return { status: 200, headers: { 'Content-Type': 'application/json', ...headers }, body: json }
}

const PROBLEM_TYPE = 'application/problem+json'

/**
 * Whether an Accept header asks for problem details: it names their media type, and does not prefer JSON. A caller that lists
 * both reads the results of operations as JSON, and errors as problem details.
 */
export function prefersProblem(accept: string | null): boolean {
  if (accept === null) return false
  const weights = weightsOf(accept)
  const weight = weights.get(PROBLEM_TYPE) ?? 0
  const jsonRanges = ['application/json', 'application/*', '*/*']
  const [jsonWeight = 0] = jsonRanges.flatMap((range) => weights.get(range) ?? [])
  return weight > 0 && weight >= jsonWeight
}

/** The same error as problem details (RFC 9457). The fields of the Error body keep their text, because an id may exceed a number. */
export function toProblem(reply: Reply): Reply {
  if (typeof reply.body !== 'string') throw new Error('the body of an error must be an Error body')
  const { code, message }: ErrorBody = JSON.parse(reply.body)
  const type = `/docs/guides/errors#${code}`
  const title = code.charAt(0).toUpperCase() + code.slice(1).replaceAll('_', ' ')
  const members = JSON.stringify({ type, title, detail: message })
  return {
    status: reply.status,
    headers: { ...reply.headers, 'Content-Type': PROBLEM_TYPE },
    body: `${members.slice(0, -1)},${reply.body.slice(1)}`,
  }
}

export function errorReply(error: ServiceError, headers: Reply['headers'] = {}): JsonReply {
  const { status } = ERRORS[error.code]
  // A message may quote the request, and callers sometimes send their secret in the wrong place.
  const body: ErrorBody = { code: error.code, message: hideSecrets(error.message), status }
  if (error.field !== undefined) body.field = hideSecrets(error.field)
  if (error.details !== undefined) {
    body.details = error.details.map((detail) => ({
      ...detail,
      message: hideSecrets(detail.message),
      ...(detail.field === undefined ? {} : { field: hideSecrets(detail.field) }),
    }))
  }
  return jsonReply(body, { ...headersOf(error), ...headers }, status)
}

/** The headers that an error code needs. */
function headersOf({ code, retryAfterSeconds }: ServiceError): Reply['headers'] {
  switch (code) {
    case 'unauthorized':
      return { 'WWW-Authenticate': WRONG_TOKEN_CHALLENGE }
    case 'service_unavailable':
      return { 'Retry-After': String(retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS) }
    default:
      return {}
  }
}

export function alreadyExists(message: string): ServiceError {
  return new ServiceError('already_exists', `${message}; nothing was changed`)
}

export function inUse(message: string): ServiceError {
  return new ServiceError('in_use', `${message}; nothing was changed`)
}

/** RFC 6750: the error code is sent only if the request had a bearer token. */
export const WRONG_TOKEN_CHALLENGE = 'Bearer realm="petstore", error="invalid_token"'
export const NO_TOKEN_CHALLENGE = 'Bearer realm="petstore"'

export const WRONG_PAIRING_CODE = 'the pairing code is wrong, has expired or was used already'
export const PAIRING_CODE_ADVICE = 'send "Authorization: Bearer <CODE>" with a new pairing code'

export function unauthorizedReply(reason: string, advice: string, challenge = WRONG_TOKEN_CHALLENGE): Reply {
  const error = new ServiceError('unauthorized', `${reason}; ${advice}`)
  return errorReply(error, { 'WWW-Authenticate': challenge })
}

const PROBLEM_CODES: Readonly<Record<RequestProblem['kind'], ErrorCode>> = {
  malformed: 'invalid_request',
  too_large: 'payload_too_large',
  incomplete: 'invalid_request',
  timeout: 'request_timeout',
  too_many_connections: 'service_unavailable',
}

export function problemReply({ kind, message }: RequestProblem): Reply {
  return errorReply(new ServiceError(PROBLEM_CODES[kind], message))
}

/** Hides the cause from callers, and gives them a request id to report. */
export function bugReply(requestId: string): Reply {
  const message = `the service failed; report this with the request id ${requestId}`
  return errorReply(new ServiceError('internal_error', message))
}

export function notFoundReply(path: string): Reply {
  const shownPath = path.length > 80 ? `${path.slice(0, 80)}…` : path
  const message = `there is nothing at ${shownPath}; /openapi.json lists all operations`
  return errorReply(notFound(message))
}

export function methodNotAllowedReply(method: string, allowed: readonly string[]): Reply {
  const supported = allowed.join(', ')
  const message = `${method} is not supported here; this path supports ${supported}`
  return errorReply(new ServiceError('method_not_allowed', message), { Allow: supported })
}

/** Each content coding has its own tag (RFC 9110, 8.8.3). */
export function entityTag(hash: string, coding?: string): string {
  return coding === undefined ? `"${hash}"` : `"${hash}-${coding}"`
}

/**
 * The ETag of a record. `tag` is its `recordTag`, which If-Match compares. `status` is the part of the JSON that changes by
 * itself, such as the backlog of a webhook: it changes the ETag, and If-Match ignores it.
 */
export function recordETag(tag: string, status?: object): { readonly ETag: string } {
  return { ETag: entityTag(status === undefined ? tag : `${tag}.${contentHash(toJson(status))}`) }
}

/** The values of `recordTag` in the tags of an If-Match header. */
export function recordTagsIn(tags: readonly string[] | undefined): readonly string[] | undefined {
  return tags?.map((tag) => tag.split('.', 1)[0] ?? '')
}

/** One entity tag of a list (RFC 9110, 8.8.3) and the comma after it, or the comma after an empty element. */
const LISTED_TAG = /[ \t]*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*(?:,|$)|[ \t]*,/y

/** The strong tags of an If-Match header, without quotes; `undefined` if it allows every state. Weak tags match no state. */
export function parseIfMatch(ifMatch: string | null): readonly string[] | undefined {
  if (ifMatch === null || ifMatch.trim() === '*') return undefined
  const tags: string[] = []
  let tagCount = 0
  LISTED_TAG.lastIndex = 0
  while (LISTED_TAG.lastIndex < ifMatch.length) {
    const match = LISTED_TAG.exec(ifMatch)
    if (match === null) throw malformedIfMatch(ifMatch)
    const [, weakPrefix, tag] = match
    if (tag === undefined) continue
    tagCount++
    if (weakPrefix === undefined) tags.push(tag)
  }
  if (tagCount === 0) throw malformedIfMatch(ifMatch)
  return tags
}

function malformedIfMatch(ifMatch: string): ServiceError {
  const got = JSON.stringify(ifMatch.length > 40 ? `${ifMatch.slice(0, 40)}…` : ifMatch)
  const message = `If-Match must be * or comma-separated ETags in double quotes such as "12-available", got ${got}`
  return new ServiceError('invalid_request', message)
}

/**
 * Replies 304 if the caller has the content already. Adds an ETag if the reply has none. The link to the next page counts
 * as content, because the last page gets such a link when rows are added after it. The position among the events does not.
 */
export function conditionalReply(reply: JsonReply, { headers }: HttpRequest): Reply {
  const { Link, Vary, [EVENT_ID]: eventId } = reply.headers
  const ETag = reply.headers.ETag ?? entityTag(contentHash(reply.body, Link ?? ''))
  if (matchesTag(headers.get('if-none-match'), ETag)) {
    const position = eventId === undefined ? {} : { [EVENT_ID]: eventId }
    return {
      status: 304,
      headers: {
        ETag,
        ...(Link === undefined ? {} : { Link }),
        ...(Vary === undefined ? {} : { Vary }),
        ...position,
      },
      body: null,
    }
  }
  return { ...reply, headers: { ...reply.headers, ETag } }
}

/** The parameters of a paged list. */
type PageQuery = Readonly<Record<string, unknown>> & PageRequest

/** Replies with a page. The `Link` header has the address of the next page: the same query with another cursor. */
export function pageReply<Row>(
  request: HttpRequest,
  query: PageQuery,
  { rows, next }: Page<Row>,
  toBody: (row: Row) => unknown = (row) => row,
): Reply {
  return pageJsonTextReply(request, query, toJson(rows.map(toBody)), next)
}

/** Like `pageReply`, for rows that are JSON text already. */
export function pageJsonTextReply(
  request: HttpRequest,
  query: PageQuery,
  rowsJson: string,
  next: string | undefined,
): Reply {
  return conditionalReply(jsonTextReply(rowsJson, linkTo(request, query, next)), request)
}

/** Replies with a page as a CSV file. */
export function pageCsvReply(
  request: HttpRequest,
  query: PageQuery,
  text: string,
  next: string | undefined,
): Reply {
  const headers = { 'Content-Type': CSV_TYPE, ...linkTo(request, query, next) }
  return conditionalReply({ status: 200, headers, body: text }, request)
}

function linkTo(request: HttpRequest, query: PageQuery, next: string | undefined): Reply['headers'] {
  return next === undefined ? {} : nextLink(request, query, { cursor: next })
}

/**
 * The header with the address of the next page: the same query with another position. Repeats the text of the parameters that
 * were sent, because a parsed value can differ: a parsed time is a number.
 */
export function nextLink(
  request: HttpRequest,
  query: Readonly<Record<string, unknown>>,
  position: Readonly<Record<string, string>>,
): { readonly Link: string } {
  const sentParameters = new URLSearchParams(request.query)
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && !(name in position)) {
      parameters.set(name, sentParameters.get(name) ?? String(value))
    }
  }
  for (const [name, value] of Object.entries(position)) parameters.set(name, value)
  return { Link: `<${request.path}?${parameters}>; rel="next"` }
}

export function matchesTag(ifNoneMatch: string | null, tag: string): boolean {
  return findMatchingTag(ifNoneMatch, [tag]) !== undefined
}

/** Finds the tag that If-None-Match names. `*` matches the first tag. The comparison is weak (RFC 9110, 13.1.2). */
export function findMatchingTag(ifNoneMatch: string | null, tags: readonly string[]): string | undefined {
  if (ifNoneMatch === null) return undefined
  // The header is almost always a single tag.
  if (tags.includes(ifNoneMatch)) return ifNoneMatch
  if (ifNoneMatch.trim() === '*') return tags[0]
  const candidates = ifNoneMatch.split(',').map((candidate) => candidate.trim().replace(/^W\//, ''))
  return candidates.find((candidate) => tags.includes(candidate))
}

/**
 * Chooses the content coding that the caller prefers, or none if it prefers `identity`. If it prefers several equally,
 * the first of `offered` wins.
 */
export function chooseCoding<Offered extends string>(
  offered: readonly Offered[],
  acceptEncoding: string | null,
): Offered | undefined {
  if (acceptEncoding === null) return undefined
  const weights = weightsOf(acceptEncoding)
  const weightOf = (coding: Offered) => weights.get(coding) ?? weights.get('*') ?? 0
  let best: Offered | undefined
  for (const coding of offered) {
    if (weightOf(coding) > 0 && (best === undefined || weightOf(coding) > weightOf(best))) best = coding
  }
  const identityWeight = weights.get('identity') ?? 0
  return best === undefined || weightOf(best) < identityWeight ? undefined : best
}

/** The entries of an Accept or Accept-Encoding header with their weights. */
function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const entry of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)))
  }
  return weights
}

/** Whether an Accept header names this media type, and does not prefer JSON. */
export function prefersType(mediaType: string, accept: string | null): boolean {
  return chooseCoding(['application/json', mediaType], accept) === mediaType
}

export const CSV_TYPE = 'text/csv'
/** For replies that are JSON or CSV. */
export const VARY_BY_TYPE = { Vary: 'Accept' }

/** Whether the caller accepts CSV and does not prefer JSON. */
export function prefersCsv({ headers }: HttpRequest): boolean {
  return prefersType(CSV_TYPE, headers.get('accept'))
}

export const IF_MATCH_HEADER = {
  'If-Match':
    'ETags of the record, or *. If none of them is current, the response is 412. This is checked in the commit, so only one of two changes with the same ETag is made.',
}

export const IDEMPOTENCY_KEY_HEADER = {
  'Idempotency-Key': `1 to 255 visible ASCII characters that the caller chooses for this change, such as a UUID. If the same request is sent again with the same key within ${ANSWERS_KEPT_HOURS} hours (${LATE_ANSWERS_KEPT_DAYS} days if the body has \`occurredAt\`), it gets the first response again, with \`Idempotency-Replayed: true\`, and changes nothing. If the response is an order, it is the order as it is now. If the first response was a refusal of several lines, the repeated response lists only the first ${MAX_REMEMBERED_FAILURES} of them. If the method, path, query, body or If-Match differs, the response is 422.`,
}

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/

/** SHA-256 of 64 MiB takes 200 ms, xxHash 8 ms. A caller who finds a collision deceives only itself. */
const LARGE_BODY_BYTES = 1024 * 1024

/** The Idempotency-Key of a request, and the fingerprint of the request. */
export type RequestIdempotency = Pick<Idempotency<unknown>, 'key' | 'fingerprint'>

export function readIdempotency(
  { method, path, query, headers }: HttpRequest,
  body: Uint8Array = new Uint8Array(),
): RequestIdempotency | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (!VISIBLE_ASCII.test(key)) {
    throw new ServiceError(
      'invalid_request',
      `Idempotency-Key must be 1 to 255 visible ASCII characters, got ${key.length} characters: ${JSON.stringify(key.slice(0, 40))}`,
    )
  }
  const ifMatch = headers.get('if-match')
  const condition = ifMatch === null ? '' : `If-Match: ${ifMatch}\n`
  const target = query === '' ? path : `${path}?${query}`
  const fingerprint = createHash('sha256')
    .update(`${method} ${target}\n${condition}`)
    .update(body.length > LARGE_BODY_BYTES ? `${body.length} bytes: ${Bun.hash.xxHash3(body)}` : body)
    .digest('base64url')
  return { key, fingerprint }
}
