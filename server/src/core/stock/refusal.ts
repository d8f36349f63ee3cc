import { type ErrorCode, type ErrorDetail, ServiceError } from '../values/errors.ts'

/** By precedence: the code of the whole request is the first of these that any of its changes failed with. */
const PRECEDENCE: readonly ErrorCode[] = [
  'invalid_request',
  'not_found',
  'insufficient_stock',
  'order_closed',
  'precondition_failed',
]

/** The error for a request with changes that cannot be made. */
export function refusal(failures: readonly ErrorDetail[]): ServiceError {
  const first = PRECEDENCE.flatMap((code) => failures.filter((failure) => failure.code === code))[0]
  if (first === undefined) throw new Error('a refused request must have at least one failure')
  const message =
    failures.length === 1
      ? `${first.message}; nothing was changed`
      : `${failures.length} changes cannot be made, so none was: details lists them; changes[${first.index}]: ${first.message}`
  return new ServiceError(first.code, message, { details: failures })
}
