import { SQL } from 'bun'
import { ServiceError } from '../../core/values/errors.ts'

/** The database gave no answer, not even that it took too long. */
export class Hung extends Error {
  override readonly name = 'Hung'

  constructor(afterMs: number) {
    super(`no answer within ${afterMs / 1_000} s`)
  }
}

/**
 * SQLSTATEs that say our own SQL or data is wrong: bugs, not a database in trouble. A table that is missing
 * (42P01), or that may not be used (42501), is the operator's to mend, and so is trouble.
 */
const OUR_FAULT = /^(21|22|23|2F|34|42(?!P01|501)|P0)/
/** The server is going, coming, full or refuses the login: another connection may fare no better. */
const SERVER_GONE = /^(08|28|3D|53|57P0)/

/** Whether the connection, rather than the statement, has failed. */
export function isLost(error: unknown): boolean {
  if (error instanceof Hung) return true
  if (!(error instanceof SQL.PostgresError)) return false
  return error.errno === undefined ? isConnectionCode(error.code) : SERVER_GONE.test(error.errno)
}

function isConnectionCode(code: string): boolean {
  return /CONNECT|TIMEOUT|TLS|SOCKET|AUTHENTICATION|PASSWORD|LIFETIME|BINDING/.test(code)
}

export function unavailable(cause: unknown): ServiceError {
  return new ServiceError(
    'service_unavailable',
    'the database cannot answer at the moment; try again shortly',
    { cause },
  )
}

/** Whether a new order was to get the id of one that is there. */
export function isTakenOrderId(error: unknown): boolean {
  return error instanceof SQL.PostgresError && error.errno === '23505' && error.constraint === 'orders_pkey'
}

export function asServiceError(error: unknown): unknown {
  const isTrouble =
    isLost(error) ||
    (error instanceof SQL.PostgresError && error.errno !== undefined && !OUR_FAULT.test(error.errno))
  return isTrouble ? unavailable(error) : error
}
