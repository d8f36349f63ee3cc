import type { RequestProblem, ResponseBody } from '@petstore/wire'
import { hideSecrets } from '../core/keys/api-key.ts'
import type { ErrorCode, ServiceError } from '../core/values/errors.ts'
import type { ErrorBody } from './schemas.ts'

/** A reply of an operation or a page. app.ts adds the headers that every answer has. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: ResponseBody
  /** `headers` as text, computed once for a reply that is sent many times. */
  readonly lines?: string
}

export interface JsonReply extends Reply {
  readonly body: string
}

/** A reply that can be stored and replayed. */
export interface StorableReply extends Reply {
  readonly body: string | null
}

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
    in_use: error(
      409,
      'The pet still has open orders, the category still has pets, the maximum number of webhooks is reached, or the key is the only one that manages keys.',
    ),
    already_exists: error(409, 'The id or barcode is already used.'),
    precondition_failed: error(412, 'The entry is not in the state that the request expects.'),
    payload_too_large: error(
      413,
      'The request body is larger than 64 KiB, or 256 KiB for adjustments and batches.',
    ),
    idempotency_key_reused: error(422, 'The Idempotency-Key was already used for another request.'),
    rate_limit_exceeded: error(
      429,
      'The limit of the key is exceeded. Wait for Retry-After, then back off exponentially.',
    ),
    key_banned: error(
      429,
      'The key kept sending requests after it had exceeded its limit, and is banned temporarily.',
    ),
    internal_error: error(500, 'The service failed.'),
    service_unavailable: error(
      503,
      'The database is not available, or there are too many connections from one address.',
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

export function jsonReply(value: unknown, headers: Reply['headers'] = {}, status = 200): JsonReply {
  return { ...jsonTextReply(toJson(value), headers), status }
}

export function createdReply(listPath: string, resource: { readonly id: bigint }): JsonReply {
  return jsonReply(resource, { Location: `${listPath}/${resource.id}` }, 201)
}

export const NO_CONTENT: StorableReply = { status: 204, headers: {}, body: null }

export function jsonTextReply(json: string, headers: Reply['headers']): JsonReply {
  return { status: 200, headers: { 'Content-Type': 'application/json', ...headers }, body: json }
}

/** A ServiceError, or its properties. */
type ReplyError = Pick<ServiceError, 'code' | 'message'> &
  Partial<Pick<ServiceError, 'details' | 'field' | 'retryAfterSeconds'>>

export function errorReply(error: ReplyError, headers: Reply['headers'] = {}): JsonReply {
  const { status } = ERRORS[error.code]
  const retry =
    error.code === 'service_unavailable'
      ? { 'Retry-After': String(error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS) }
      : {}
  // A message may quote the request, and callers sometimes send a key in the wrong place.
  const body: ErrorBody = { code: error.code, message: hideSecrets(error.message), status }
  if (error.field !== undefined) body.field = hideSecrets(error.field)
  if (error.details !== undefined) {
    body.details = error.details.map((detail) => ({ ...detail, message: hideSecrets(detail.message) }))
  }
  return jsonReply(body, { ...retry, ...headers }, status)
}

export function alreadyExistsReply(message: string): JsonReply {
  return errorReply({ code: 'already_exists', message: `${message}; nothing was changed` })
}

export function inUseReply(message: string): JsonReply {
  return errorReply({ code: 'in_use', message: `${message}; nothing was changed` })
}

const PROBLEM_CODES: Readonly<Record<RequestProblem['kind'], ErrorCode>> = {
  malformed: 'invalid_request',
  too_large: 'payload_too_large',
  incomplete: 'invalid_request',
  timeout: 'request_timeout',
  too_many_connections: 'service_unavailable',
}

export function problemReply({ kind, message }: RequestProblem): Reply {
  return errorReply({ code: PROBLEM_CODES[kind], message })
}

/** Hides the cause from callers, and gives them a request id to report. */
export function bugReply(requestId: string): Reply {
  const message = `the service failed; report this with the request id ${requestId}`
  return errorReply({ code: 'internal_error', message })
}

export function notFoundReply(path: string): Reply {
  const shown = path.length > 80 ? `${path.slice(0, 80)}…` : path
  const message = `there is nothing at ${shown}; /openapi.json lists all operations`
  return errorReply({ code: 'not_found', message })
}

export function methodNotAllowedReply(method: string, allowed: readonly string[]): Reply {
  const supported = allowed.join(', ')
  const message = `${method} is not supported here; this path supports ${supported}`
  return errorReply({ code: 'method_not_allowed', message }, { Allow: supported })
}
