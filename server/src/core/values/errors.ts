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

/** One of the changes that a request failed for; an order is the only one of its request. */
export interface ErrorDetail {
  /** Among the changes that were sent. */
  readonly index: number
  /** Absent where the change names none. */
  readonly petId?: bigint
  readonly code: ErrorCode
  readonly message: string
  /** With `insufficient_stock`: how many there are for it. */
  readonly available?: number
  /** With `order_closed`: what the order is. */
  readonly state?: string
}

export interface ServiceErrorOptions extends ErrorOptions {
  readonly details?: readonly ErrorDetail[]
  /** With `service_unavailable`: when the request can succeed, if that is known. */
  readonly retryAfterSeconds?: number
}

/** The one error that may reach a caller; its message is written for them. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[] | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, options?: ServiceErrorOptions) {
    super(message, options)
    this.code = code
    this.details = options?.details
    this.retryAfterSeconds = options?.retryAfterSeconds
  }
}
