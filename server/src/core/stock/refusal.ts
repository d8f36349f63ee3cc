import { type ErrorCode, type ErrorDetail, ServiceError } from '../values/errors.ts'

/** If changes fail with different codes, the request fails with the code that comes first in this list. */
const PRECEDENCE: readonly ErrorCode[] = [
  'forbidden',
  'invalid_request',
  'not_found',
  'already_exists',
  'already_reversed',
  'insufficient_stock',
  'order_closed',
  'precondition_failed',
]

/** The code of a request with these failures. */
export function decisiveCode(failures: readonly ErrorDetail[]): ErrorCode {
  const code = PRECEDENCE.find((each) => failures.some((failure) => failure.code === each))
  if (code !== undefined) return code
  const codes = failures.map((failure) => failure.code).join(', ')
  throw new Error(
    `a refused request must have a failure whose code is in PRECEDENCE, got ${codes || 'no failures'}`,
  )
}

/** The error for a request with changes that cannot be made. `list` is the field of the body that has the changes. */
export function refusal(failures: readonly ErrorDetail[], list = 'changes'): ServiceError {
  const decisive = decisiveCode(failures)
  const first = failures.find(({ code }) => code === decisive)
  if (first === undefined) throw new Error(`no failure has the code ${decisive}`)
  const message =
    failures.length === 1
      ? `${first.message}; nothing was changed`
      : `${failures.length} ${list} cannot be saved, so nothing was changed; see details for each of them. The error code comes from ${list}[${first.index}]: ${first.message}`
  const field = first.field === undefined ? undefined : `${list}[${first.index}].${first.field}`
  return new ServiceError(first.code, message, { details: failures, field })
}

/** `index` is the position of the change in the request. */
export function toFailure(
  { code, message, field }: ServiceError,
  index: number,
  petId: bigint | undefined,
): ErrorDetail {
  return {
    index,
    ...(petId === undefined ? {} : { petId }),
    code,
    message,
    ...(field === undefined ? {} : { field }),
  }
}
