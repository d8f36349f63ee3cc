import type { ErrorBody } from './contract-types.ts'
import { createError, type ErrorContext, type PetstoreError, type PetstoreErrorCode } from './errors.ts'
import { parseJson } from './json.ts'
import { type LimitState, readLimitState } from './limit-state.ts'

interface Request {
  readonly method: string
  readonly path: string
  readonly idempotencyKey: string | undefined
}

/** Why one attempt failed. */
export interface Failure {
  readonly code: PetstoreErrorCode
  /** As the service sent it, if it sent one. */
  readonly message: string
  /**
   * `unknown`: the change may have been made. `refused`: this attempt did not make it, but an earlier one may have.
   * `decided`: the service has recorded the decision, so no attempt made the change, and none will.
   */
  readonly outcome: 'unknown' | 'refused' | 'decided'
  readonly context: ErrorContext
}

interface Progress {
  readonly attempts: number
  readonly elapsedMs: number
  /** An attempt may have made the change, and no later response says whether it did. */
  readonly isUnsettled: boolean
}

/** The refusals that the service records under an Idempotency-Key. */
const DECIDED: ReadonlySet<number> = new Set([404, 409, 412])

export function failureOf({ method, path }: Request, { status, headers }: Response, text: string): Failure {
  const body = readErrorBody(text)
  const refused = body !== undefined && DECIDED.has(status) ? 'decided' : 'refused'
  return {
    code: body?.code ?? codeOf(status),
    message:
      body?.message ??
      `response ${status} has no Error body: check that baseUrl is the address of the service`,
    outcome: status >= 500 ? 'unknown' : refused,
    context: {
      request: `${method} ${path}`,
      status,
      requestId: headers.get('X-Request-Id') ?? undefined,
      limits: readLimitState(headers),
      field: body?.field,
      details: body?.details,
    },
  }
}

export function noResponse({ method, path }: Request, baseUrl: string, cause: unknown): Failure {
  return {
    code: 'connection_failed',
    message: `no complete response from ${new URL(baseUrl).host}: ${reasonOf(cause)}`,
    outcome: 'unknown',
    context: { request: `${method} ${path}`, cause },
  }
}

/** The error of a call that is not retried. */
export function failedCall(
  { idempotencyKey }: Request,
  { code, message, context }: Failure,
  { attempts, elapsedMs, isUnsettled }: Progress,
): PetstoreError {
  const mayHaveBeenMade = isUnsettled && idempotencyKey !== undefined
  const ownMessage =
    code !== 'connection_failed' || attempts === 1
      ? message
      : `${message} (${attempts} attempts in ${(elapsedMs / 1000).toFixed(1)} s)`
  return createError(code, ownMessage, { ...context, idempotencyKey, mayHaveBeenMade, attempts })
}

/** The error of a call that was never sent, because the rate limit would hold it back for longer than it may take. */
export function notSent(
  { method, path, idempotencyKey }: Request,
  waitMs: number,
  totalTimeoutMs: number,
  limits: LimitState | undefined,
): PetstoreError {
  const message = `not sent: the service accepts the next request in ${Math.ceil(waitMs / 1000)} s, and the call may take ${totalTimeoutMs / 1000} s`
  const context = { request: `${method} ${path}`, limits, idempotencyKey, attempts: 0 }
  return createError('rate_limit_exceeded', message, context)
}

/** `fetch failed` says nothing; its cause has the address and a code such as ECONNREFUSED. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonOf(error.cause)
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ')
  const { code } = error as { readonly code?: unknown }
  const isNamed = typeof code !== 'string' || error.message.includes(code)
  return isNamed ? error.message : `${error.message} (${code})`
}

/** The code of a response that a proxy sent instead of the service. */
function codeOf(status: number): PetstoreErrorCode {
  if (status === 429) return 'rate_limit_exceeded'
  return status === 502 || status === 503 || status === 504 ? 'service_unavailable' : 'invalid_response'
}

function readErrorBody(text: string): ErrorBody | undefined {
  try {
    const body = parseJson(text) as Partial<ErrorBody>
    const isError = typeof body.code === 'string' && typeof body.message === 'string'
    return isError ? (body as ErrorBody) : undefined
  } catch {
    return undefined
  }
}
