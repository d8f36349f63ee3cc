/** Codes are part of the contract: never rename or reuse one. */
export const ERROR_CODES = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'gone',
  'precondition_failed',
  'payload_too_large',
  'rate_limit_exceeded',
  'key_banned',
  'internal_error',
  'service_unavailable',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** The one error that may reach a caller; its message is written for them. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
