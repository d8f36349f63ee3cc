import type { ErrorBody } from './contract-types.ts'
import type { LimitState } from './limit-state.ts'

/** Codes of failures that the client finds itself. */
export type ClientErrorCode =
  /** No answer came, though it was tried again. */
  | 'connection_failed'
  /** What came is not what the contract says, as from a proxy or a wrong address. */
  | 'invalid_response'
  /** An adjustment would bring the stock below 0. */
  | 'insufficient_stock'
  /** The connection broke while the stock was adjusted, and it cannot be told whether it took effect. */
  | 'outcome_unknown'

export type PetstoreErrorCode = ErrorBody['code'] | ClientErrorCode

interface Details {
  /** Method and path, such as `PATCH /inventory/5`. */
  readonly request: string
  readonly status?: number | undefined
  readonly requestId?: string | undefined
  readonly limits?: LimitState | undefined
  readonly followsBreak?: boolean
  readonly cause?: unknown
}

/** Every failure of a call, but for an aborted one: that throws the reason of its signal, as fetch does. */
export class PetstoreError extends Error {
  override readonly name = 'PetstoreError'
  readonly code: PetstoreErrorCode
  /** The HTTP status; `undefined` where no answer came. */
  readonly status: number | undefined
  /** Names the request in the logs of the service. */
  readonly requestId: string | undefined
  /** How the limits of the key stood with that answer. */
  readonly limits: LimitState | undefined
  /** An earlier attempt of the same call got no answer, or a 5xx: it may have taken effect all the same. */
  readonly followsBreak: boolean

  /** `what` goes on from the request, such as `answered 404 …`. */
  constructor(code: PetstoreErrorCode, what: string, details: Details) {
    super(`${details.request} ${what}`, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.status = details.status
    this.requestId = details.requestId
    this.limits = details.limits
    this.followsBreak = details.followsBreak ?? false
  }
}

/** Optionally, whether it is one with this code. */
export function isPetstoreError<Code extends PetstoreErrorCode = PetstoreErrorCode>(
  error: unknown,
  code?: Code,
): error is PetstoreError & { readonly code: Code } {
  return error instanceof PetstoreError && (code === undefined || error.code === code)
}
