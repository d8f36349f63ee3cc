import type { ErrorBody, ErrorDetail } from './contract-types.ts'
import { withIdsAsText } from './exact-json.ts'
import type { LimitState } from './limit-state.ts'

/** Codes of failures that the client finds itself. */
export type ClientErrorCode =
  /** No answer came, though it was tried again. */
  | 'connection_failed'
  /** What came is not what the contract says, as from a proxy or a wrong address. */
  | 'invalid_response'
  /** What came to a webhook is not what the service sent, or not lately. */
  | 'invalid_webhook'

export type PetstoreErrorCode = ErrorBody['code'] | ClientErrorCode

export interface ErrorContext {
  /** Method and path, such as `PATCH /inventory/5`; or whatever else the message begins with. */
  readonly request: string
  readonly status?: number | undefined
  readonly requestId?: string | undefined
  readonly limits?: LimitState | undefined
  readonly details?: readonly ErrorDetail[] | undefined
  readonly idempotencyKey?: string | undefined
  readonly mayHaveBeenMade?: boolean
  readonly cause?: unknown
}

/** Every failure of a call or of a delivery, but for an aborted one: that throws the reason of its signal, as fetch does. */
export class PetstoreError extends Error {
  override readonly name: string = 'PetstoreError'
  readonly code: PetstoreErrorCode
  /** The HTTP status; `undefined` where no answer came. */
  readonly status: number | undefined
  /** Names the request in the logs of the service. */
  readonly requestId: string | undefined
  /** How the limits of the key stood with that answer. */
  readonly limits: LimitState | undefined
  /** Every change of an adjustment, or the order, that cannot be made, and why; empty where the service names none. */
  readonly details: readonly ErrorDetail[]
  /** What the change is known by; `undefined` for a read. */
  readonly idempotencyKey: string | undefined
  /**
   * No answer tells whether the change was made: the same call with this `idempotencyKey` does, within 24 hours, and
   * makes it where it was not. Where this is false, nothing was changed.
   */
  readonly mayHaveBeenMade: boolean

  /** `what` goes on from the request, such as `answered 404 …`. */
  constructor(code: PetstoreErrorCode, what: string, context: ErrorContext) {
    super(`${context.request} ${what}`, context.cause === undefined ? undefined : { cause: context.cause })
    this.code = code
    this.status = context.status
    this.requestId = context.requestId
    this.limits = context.limits
    this.details = context.details ?? []
    this.idempotencyKey = context.idempotencyKey
    this.mayHaveBeenMade = context.mayHaveBeenMade ?? false
  }

  /** For logs; without the cause and the stack. */
  toJSON(): object {
    return { message: this.message, ...withIdsAsText(this) }
  }
}

/** Optionally, whether it is one with this code. */
export function isPetstoreError<Code extends PetstoreErrorCode = PetstoreErrorCode>(
  error: unknown,
  code?: Code,
): error is PetstoreError & { readonly code: Code } {
  return error instanceof PetstoreError && (code === undefined || error.code === code)
}
