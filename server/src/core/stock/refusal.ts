import { type ErrorCode, type ErrorDetail, ServiceError } from '../values/errors.ts'

/** In the order in which a request is checked: the first of them is what the whole request is refused with. */
const CHECKED: readonly ErrorCode[] = [
  'invalid_request',
  'not_found',
  'insufficient_stock',
  'order_closed',
  'precondition_failed',
]

/** What a request is refused with some of whose changes cannot be made. */
export function refusal(failures: readonly ErrorDetail[]): ServiceError {
  const first = CHECKED.flatMap((code) => failures.filter((failure) => failure.code === code))[0]
  if (first === undefined) throw new Error('a request is refused without a failure')
  const message =
    failures.length === 1
      ? `${first.message}; nothing was changed`
      : `${failures.length} changes cannot be made, so none was: details lists them; changes[${first.index}]: ${first.message}`
  return new ServiceError(first.code, message, { details: failures })
}
