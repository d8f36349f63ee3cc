import type { ErrorBody } from './contract-types.ts'
import { type LimitState, readLimitState } from './limit-state.ts'
import { PetstoreError, type PetstoreErrorCode } from './petstore-error.ts'

interface Request {
  readonly method: string
  readonly path: string
}

/** Why one attempt did not do: what a `PetstoreError` is made of. */
export interface Failure {
  readonly code: PetstoreErrorCode
  readonly what: string
  readonly mayHaveTakenEffect: boolean
  readonly details: ConstructorParameters<typeof PetstoreError>[2]
}

export function failureOf({ method, path }: Request, { status, headers }: Response, text: string): Failure {
  const body = readErrorBody(text)
  const code = body?.code ?? codeOf(status)
  const said = body?.message ?? 'the answer has no Error body; is the base address that of the service?'
  return {
    code,
    what: `answered ${status} ${code}: ${said}`,
    mayHaveTakenEffect: status >= 500,
    details: {
      request: `${method} ${path}`,
      status,
      requestId: headers.get('X-Request-Id') ?? undefined,
      limits: readLimitState(headers),
    },
  }
}

export function noAnswer({ method, path }: Request, cause: unknown): Failure {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return {
    code: 'connection_failed',
    what: `got no answer, or not all of it: ${reason}`,
    mayHaveTakenEffect: true,
    details: { request: `${method} ${path}`, cause },
  }
}

/** For a call that would have to wait for longer than it may take. `last` is what its last attempt came to. */
export function unsent(
  { method, path }: Request,
  last: Failure | undefined,
  limits: LimitState | undefined,
  opensAt: number,
  now: number,
  deadlineMs: number,
): PetstoreError {
  const seconds = Math.ceil((opensAt - now) / 1000)
  const what = `was not sent: the next request may go in ${seconds} s, past the call's deadline of ${deadlineMs / 1000} s`
  return new PetstoreError(
    last?.code ?? 'rate_limit_exceeded',
    last === undefined ? what : `${last.what}; then it ${what}`,
    {
      request: `${method} ${path}`,
      limits,
      ...last?.details,
    },
  )
}

/** For answers that a proxy gave in place of the service. */
function codeOf(status: number): PetstoreErrorCode {
  if (status === 429) return 'rate_limit_exceeded'
  return status === 502 || status === 503 || status === 504 ? 'service_unavailable' : 'invalid_response'
}

function readErrorBody(text: string): ErrorBody | undefined {
  try {
    const body = JSON.parse(text) as Partial<ErrorBody> | null
    return typeof body?.code === 'string' && typeof body.message === 'string'
      ? (body as ErrorBody)
      : undefined
  } catch {
    return undefined
  }
}
