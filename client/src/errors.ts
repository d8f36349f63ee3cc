import type { ClosedOrderState, ErrorBody, ErrorDetail } from './contract-types.ts'
import { stringify } from './json.ts'
import type { LimitState } from './limit-state.ts'

/** Codes of errors that the client detects itself. */
export type ClientErrorCode =
  /** No response arrived, in any attempt. */
  | 'connection_failed'
  /** The response does not follow the contract; it may come from a proxy, or `baseUrl` is wrong. */
  | 'invalid_response'
  /** A webhook delivery was not signed by the service, or not in the last 5 minutes. */
  | 'invalid_webhook'

export type PetstoreErrorCode = ErrorBody['code'] | ClientErrorCode

export interface ErrorContext {
  /** Method and path, for example `PATCH /inventory/5`. */
  readonly request?: string | undefined
  readonly status?: number | undefined
  readonly requestId?: string | undefined
  readonly limits?: LimitState | undefined
  readonly field?: string | undefined
  readonly details?: readonly ErrorDetail[] | undefined
  readonly idempotencyKey?: string | undefined
  readonly mayHaveBeenMade?: boolean | undefined
  readonly attempts?: number | undefined
  readonly cause?: unknown
}

/** Every failure of a call or of a webhook delivery. An aborted call rejects with the signal's reason instead. */
export class PetstoreError extends Error {
  override readonly name: string = 'PetstoreError'
  readonly code: PetstoreErrorCode
  /** Method and path of the call; `undefined` for a webhook delivery. */
  readonly request: string | undefined
  /** The HTTP status; `undefined` if no response arrived. */
  readonly status: number | undefined
  /** Identifies the request in the logs of the service. */
  readonly requestId: string | undefined
  /** The rate limit of the key, as the response reported it. */
  readonly limits: LimitState | undefined
  /** The field of the request that is wrong, if the service names one. */
  readonly field: string | undefined
  /** The parts of the request that failed; empty if the service names none. */
  readonly details: readonly ErrorDetail[]
  /** The key of the change; `undefined` for a read. */
  readonly idempotencyKey: string | undefined
  /**
   * True if the change may have been made although no response says so. Repeat the call with this `idempotencyKey`
   * within 24 hours to find out: it makes the change at most once. If this is false, nothing was changed.
   */
  readonly mayHaveBeenMade: boolean
  /** How often the call was sent; `undefined` if that is unknown. */
  readonly attempts: number | undefined

  constructor(code: PetstoreErrorCode, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause })
    this.code = code
    this.request = context.request
    this.status = context.status
    this.requestId = context.requestId
    this.limits = context.limits
    this.field = context.field
    this.details = context.details ?? []
    this.idempotencyKey = context.idempotencyKey
    this.mayHaveBeenMade = context.mayHaveBeenMade ?? false
    this.attempts = context.attempts
  }

  /** For logs; without the cause and the stack. */
  toJSON(): object {
    return { message: this.message, ...JSON.parse(stringify({ ...this })) }
  }
}

/** Fewer units are available than an order or an adjustment needs; nothing was changed. */
export class InsufficientStockError extends PetstoreError {
  override readonly name = 'InsufficientStockError'
  declare readonly code: 'insufficient_stock'
  /** The first pet with too few units; `details` has all of them. */
  readonly petId: bigint
  /** How many units were available. */
  readonly available: number

  constructor(message: string, context: ErrorContext, petId: bigint, available: number) {
    super('insufficient_stock', message, context)
    this.petId = petId
    this.available = available
  }
}

/** The order is no longer open, so it cannot be changed; nothing was changed. */
export class OrderClosedError extends PetstoreError {
  override readonly name = 'OrderClosedError'
  declare readonly code: 'order_closed'
  /** `expired` if its hold ran out. */
  readonly state: ClosedOrderState

  constructor(message: string, context: ErrorContext, state: ClosedOrderState) {
    super('order_closed', message, context)
    this.state = state
  }
}

/** Creates the most specific error that the details allow. */
export function createError(code: PetstoreErrorCode, message: string, context: ErrorContext): PetstoreError {
  const detail = context.details?.find((each) => each.code === code)
  if (code === 'insufficient_stock' && detail?.petId !== undefined && detail.available !== undefined) {
    return new InsufficientStockError(message, context, detail.petId, detail.available)
  }
  if (code === 'order_closed' && detail?.state !== undefined) {
    return new OrderClosedError(message, context, detail.state)
  }
  return new PetstoreError(code, message, context)
}

/** Whether it is a PetstoreError, optionally with this code. */
export function isPetstoreError<Code extends PetstoreErrorCode = PetstoreErrorCode>(
  error: unknown,
  code?: Code,
): error is PetstoreError & { readonly code: Code } {
  return error instanceof PetstoreError && (code === undefined || error.code === code)
}
