/** Codes are part of the contract: never rename or reuse one. */
export const ERROR_CODES = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'gone',
  'insufficient_stock',
  'order_closed',
  'already_reversed',
  'too_late',
  'in_use',
  'already_exists',
  'precondition_failed',
  'payload_too_large',
  'idempotency_key_reused',
  'rate_limit_exceeded',
  'key_banned',
  'internal_error',
  'service_unavailable',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** A change of the request that could not be made. If the request is about a single order, that order is the change 0. */
export interface ErrorDetail {
  /** The index among the changes of the request. */
  readonly index: number
  /** The line of the file, if the request is an import. */
  readonly line?: number
  /** Absent if the change names no pet. */
  readonly petId?: bigint
  readonly code: ErrorCode
  readonly message: string
  /** With `invalid_request`: the field of the change that is wrong. */
  readonly field?: string
  /** With `insufficient_stock` or `already_reversed`: the units that the request could have taken or reversed. */
  readonly available?: number
  /** With `order_closed`: the state of the order. */
  readonly state?: string
}

interface ServiceErrorOptions extends ErrorOptions {
  readonly details?: readonly ErrorDetail[]
  /** With `invalid_request`: the field or parameter that is wrong, if it is a single one. */
  readonly field?: string | undefined
  /** With `service_unavailable`: when the request may succeed, if known. */
  readonly retryAfterSeconds?: number
}

/** The error of a change that may have been made or not. All other errors mean that nothing was changed. */
export function outcomeUnknown(reason: string, options?: ErrorOptions): ServiceError {
  return new ServiceError(
    'service_unavailable',
    `${reason}; it is unknown whether the change was made: read the data again, or repeat the request with the same Idempotency-Key`,
    options,
  )
}

/** The only error whose message callers see. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[] | undefined
  readonly field: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, options?: ServiceErrorOptions) {
    super(message, options)
    this.code = code
    this.details = options?.details
    this.field = options?.field
    this.retryAfterSeconds = options?.retryAfterSeconds
  }
}

export function notFound(message: string): ServiceError {
  return new ServiceError('not_found', message)
}
