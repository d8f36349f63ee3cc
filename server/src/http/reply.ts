import type { AnswerBody, RequestProblem } from '@petstore/wire'
import { hideSecrets } from '../core/keys/api-key.ts'
import type { ErrorCode, ServiceError } from '../core/values/errors.ts'
import type { ErrorBody } from './resources.ts'

/** An answer before the headers that every answer carries are added. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AnswerBody
  /** The headers as they are sent, where the same reply is sent again and again. */
  readonly lines?: string
}

export interface JsonReply extends Reply {
  readonly body: string
}

/** One that can be kept, and given again. */
export interface KeptReply extends Reply {
  readonly body: string | null
}

/** What each code is answered with, and when. Typed so that a code without a status does not compile. */
export const ERRORS: Readonly<Record<ErrorCode, { readonly status: number; readonly description: string }>> =
  {
    invalid_request: error(400, 'The request is missing required fields or holds invalid values.'),
    unauthorized: error(401, 'The API key is missing or invalid.'),
    forbidden: error(403, 'The API key lacks the permission for this; the message names it.'),
    not_found: error(404, 'The requested resource could not be found.'),
    method_not_allowed: error(405, 'The path does not offer this method.'),
    request_timeout: error(408, 'The request did not arrive in time; send it again over a new connection.'),
    gone: error(410, 'The operation ended on its sunset date.'),
    insufficient_stock: error(409, 'There is less in stock than the request would take away or reserve.'),
    order_closed: error(409, 'The order is not open any more: it is complete, cancelled or expired.'),
    in_use: error(
      409,
      'Something else still needs it: open orders of a pet, pets of a category. Or all webhooks that a key or the store may have are in use.',
    ),
    already_exists: error(409, 'There is one with this id or barcode already.'),
    precondition_failed: error(412, 'The entry is not in the state that the request named.'),
    payload_too_large: error(413, 'The request body is larger than 64 KiB, or 256 KiB for adjustments.'),
    idempotency_key_reused: error(422, 'The Idempotency-Key was sent with another request before.'),
    rate_limit_exceeded: error(
      429,
      'The limit of the key is exceeded; wait for Retry-After, then back off exponentially.',
    ),
    key_banned: error(429, 'The key went on sending after its limit was exceeded and is banned for a while.'),
    internal_error: error(500, 'Something went wrong in the service.'),
    service_unavailable: error(
      503,
      'The database cannot answer at the moment, or there are too many connections from one address.',
    ),
  }

function error(status: number, description: string) {
  return { status, description }
}

declare global {
  interface JSON {
    /** In the language since ES2026, not yet in TypeScript's library. */
    rawJSON(text: string): unknown
  }
}

/** JSON with every `bigint` as its digits. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? JSON.rawJSON(String(part)) : part,
  )
}

/** How long a caller waits before it tries a failing database again, if nothing better is known. */
const UNAVAILABLE_RETRY_SECONDS = 1

export function jsonReply(value: unknown, headers: Reply['headers'] = {}, status = 200): JsonReply {
  return { ...jsonTextReply(toJson(value), headers), status }
}

/** Done, and there is nothing to show. */
export const NO_CONTENT: KeptReply = { status: 204, headers: {}, body: null }

/** Where the JSON is there already. */
export function jsonTextReply(body: string, headers: Reply['headers']): JsonReply {
  return { status: 200, headers: { 'Content-Type': 'application/json', ...headers }, body }
}

export function errorReply(
  error: Pick<ServiceError, 'code' | 'message'> &
    Partial<Pick<ServiceError, 'details' | 'retryAfterSeconds'>>,
  headers: Reply['headers'] = {},
): JsonReply {
  const { status } = ERRORS[error.code]
  const retry =
    error.code === 'service_unavailable'
      ? { 'Retry-After': String(error.retryAfterSeconds ?? UNAVAILABLE_RETRY_SECONDS) }
      : {}
  // A message may quote what the caller sent, and a caller may send a key in the wrong place.
  const body: ErrorBody = { code: error.code, message: hideSecrets(error.message), status }
  if (error.details !== undefined) {
    body.details = error.details.map((detail) => ({ ...detail, message: hideSecrets(detail.message) }))
  }
  return jsonReply(body, { ...retry, ...headers }, status)
}

const CODE_OF_PROBLEM: Readonly<Record<RequestProblem['kind'], ErrorCode>> = {
  malformed: 'invalid_request',
  too_large: 'payload_too_large',
  broken_off: 'invalid_request',
  timeout: 'request_timeout',
  too_many_connections: 'service_unavailable',
}

/** For a request that did not come as it should. */
export function problemReply({ kind, message }: RequestProblem): Reply {
  return errorReply({ code: CODE_OF_PROBLEM[kind], message })
}

/** What callers learn of a bug: that it is one, and how to ask about it. */
export function bugReply(requestId: string): Reply {
  const message = `something went wrong on our side; when you report it, give the request id ${requestId}`
  return errorReply({ code: 'internal_error', message })
}

export function notFoundReply(path: string): Reply {
  const shown = path.length > 80 ? `${path.slice(0, 80)}…` : path
  const message = `there is nothing at ${shown}; /openapi.json lists what is offered`
  return errorReply({ code: 'not_found', message })
}

export function methodNotAllowedReply(method: string, allowed: readonly string[]): Reply {
  const offered = allowed.join(', ')
  const message = `${method} is not offered here; this path offers ${offered}`
  return errorReply({ code: 'method_not_allowed', message }, { Allow: offered })
}
