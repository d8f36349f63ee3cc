import { errorOf } from './conflict-errors.ts'
import type { ErrorBody } from './contract-types.ts'
import { readExactly } from './exact-json.ts'
import { type LimitState, readLimitState } from './limit-state.ts'
import type { ErrorContext, PetstoreError, PetstoreErrorCode } from './petstore-error.ts'

interface Request {
  readonly method: string
  readonly path: string
  readonly idempotencyKey?: string | undefined
}

/** Why one attempt did not do: what a `PetstoreError` is made of. */
export interface Failure {
  readonly code: PetstoreErrorCode
  readonly what: string
  /**
   * `unknown`: it may have been made. `refused`: it was not, which tells nothing of earlier attempts. `decided`: the
   * service has decided the change, and remembers that: no attempt was made, and none will be.
   */
  readonly outcome: 'unknown' | 'refused' | 'decided'
  readonly context: ErrorContext
}

/** What the service remembers with an Idempotency-Key, beside a success. */
const DECIDED: ReadonlySet<number> = new Set([404, 409, 412])

export function failureOf({ method, path }: Request, { status, headers }: Response, text: string): Failure {
  const body = readErrorBody(text)
  const code = body?.code ?? codeOf(status)
  const said = body?.message ?? 'the answer has no Error body; is the base address that of the service?'
  const refused = body !== undefined && DECIDED.has(status) ? 'decided' : 'refused'
  return {
    code,
    what: `answered ${status} ${code}: ${said}`,
    outcome: status >= 500 ? 'unknown' : refused,
    context: {
      request: `${method} ${path}`,
      status,
      requestId: headers.get('X-Request-Id') ?? undefined,
      limits: readLimitState(headers),
      details: body?.details,
    },
  }
}

export function noAnswer({ method, path }: Request, cause: unknown): Failure {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return {
    code: 'connection_failed',
    what: `got no answer, or not all of it: ${reason}`,
    outcome: 'unknown',
    context: { request: `${method} ${path}`, cause },
  }
}

/** For a call that is not tried again. `isUnsettled`: an attempt may have been made, and none has told since. */
export function failedCall(
  { idempotencyKey }: Request,
  { code, what, context }: Failure,
  isUnsettled: boolean,
  note: string,
): PetstoreError {
  const mayHaveBeenMade = isUnsettled && idempotencyKey !== undefined
  const advice = mayHaveBeenMade
    ? `; the change may have been made: the same call with idempotencyKey ${JSON.stringify(idempotencyKey)} tells, and makes it once at most`
    : ''
  return errorOf(code, what + note + advice, { ...context, idempotencyKey, mayHaveBeenMade })
}

/** For a call that would have to wait for longer than it may take. `last` is what its last attempt came to. */
export function notSent(
  call: Request,
  last: Failure | undefined,
  isUnsettled: boolean,
  limits: LimitState | undefined,
  { opensInMs, deadlineMs }: { readonly opensInMs: number; readonly deadlineMs: number },
): PetstoreError {
  const seconds = Math.ceil(opensInMs / 1000)
  const what = `was not sent: the next request may go in ${seconds} s, past the call's deadline of ${deadlineMs / 1000} s`
  if (last !== undefined) return failedCall(call, last, isUnsettled, `; then it ${what}`)
  const context = { request: `${call.method} ${call.path}`, limits }
  return failedCall(call, { code: 'rate_limit_exceeded', what, outcome: 'refused', context }, false, '')
}

/** For answers that a proxy gave in place of the service. */
function codeOf(status: number): PetstoreErrorCode {
  if (status === 429) return 'rate_limit_exceeded'
  return status === 502 || status === 503 || status === 504 ? 'service_unavailable' : 'invalid_response'
}

function readErrorBody(text: string): ErrorBody | undefined {
  try {
    const body = readExactly(text, 'ErrorBody') as Partial<ErrorBody> | null
    return typeof body?.code === 'string' && typeof body.message === 'string'
      ? (body as ErrorBody)
      : undefined
  } catch {
    return undefined
  }
}
