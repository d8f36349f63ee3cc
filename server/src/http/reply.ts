import type { AnswerBody, RequestProblem } from '@petstore/wire'
import { hideSecrets } from '../core/keys/api-key.ts'
import { type ErrorCode, ServiceError } from '../core/values/errors.ts'
import type { ErrorBody } from './resources.ts'

/** An answer before the headers that every answer carries are added. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AnswerBody
  /** The headers as they are sent, where the same reply is sent again and again. */
  readonly lines?: string
}

/** Typed so that a code without a status does not compile. */
export const STATUS: Readonly<Record<ErrorCode, number>> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  gone: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  rate_limit_exceeded: 429,
  key_banned: 429,
  internal_error: 500,
  service_unavailable: 503,
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

/** How long a caller waits before it tries a failing database again. */
const UNAVAILABLE_RETRY_SECONDS = 1

export function jsonReply(
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
  status = 200,
): Reply {
  return { ...jsonTextReply(toJson(value), headers), status }
}

/** Where the JSON is there already. */
export function jsonTextReply(body: string, headers: Readonly<Record<string, string>>): Reply {
  return { status: 200, headers: { 'Content-Type': 'application/json', ...headers }, body }
}

export function errorReply(
  error: Pick<ServiceError, 'code' | 'message'>,
  headers: Readonly<Record<string, string>> = {},
  status = STATUS[error.code],
): Reply {
  const retry =
    error.code === 'service_unavailable' ? { 'Retry-After': String(UNAVAILABLE_RETRY_SECONDS) } : {}
  // A message may quote what the caller sent, and a caller may send a key in the wrong place.
  const body: ErrorBody = { code: error.code, message: hideSecrets(error.message), status }
  return jsonReply(body, { ...retry, ...headers }, status)
}

const CODE_OF_PROBLEM: Readonly<Record<RequestProblem['kind'], ErrorCode>> = {
  malformed: 'invalid_request',
  too_large: 'payload_too_large',
  broken_off: 'invalid_request',
  timeout: 'invalid_request',
  too_many_connections: 'service_unavailable',
}

/** For a request that did not come as it should. */
export function problemReply({ kind, message }: RequestProblem): Reply {
  const code = CODE_OF_PROBLEM[kind]
  return errorReply({ code, message }, {}, kind === 'timeout' ? 408 : STATUS[code])
}

/** What callers learn of a bug: that it is one, and how to ask about it. */
export function bugReply(requestId: string): Reply {
  return errorReply(
    new ServiceError(
      'internal_error',
      `something went wrong on our side; when you report it, give the request id ${requestId}`,
    ),
  )
}

export function notFoundReply(path: string): Reply {
  const shown = path.length > 80 ? `${path.slice(0, 80)}…` : path
  return errorReply(
    new ServiceError('not_found', `there is nothing at ${shown}; /openapi.json lists what is offered`),
  )
}

export function methodNotAllowedReply(method: string, allowed: readonly string[]): Reply {
  const offered = allowed.join(', ')
  return errorReply(
    new ServiceError('method_not_allowed', `${method} is not offered here; this path offers ${offered}`),
    { Allow: offered },
  )
}
