import { ServiceError } from '../core/values/errors.ts'

/** What went wrong, for the operator: of a database in trouble also why, which callers of the service are not told. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isTrouble = error instanceof ServiceError && error.code === 'service_unavailable'
  return isTrouble && error.cause instanceof Error
    ? `the database cannot answer: ${error.cause.message}`
    : error.message
}
