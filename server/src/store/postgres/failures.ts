import { SQL } from 'bun'
import { ServiceError } from '../../core/values/errors.ts'

/** The database gave no answer, not even that it took too long. */
export class Hung extends Error {
  override readonly name = 'Hung'

  constructor(afterMs: number) {
    super(`no answer within ${afterMs / 1_000} s`)
  }
}

/** All sessions stayed in use by other callers. The database is there, so this is no outage. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded'

  constructor(afterMs: number) {
    super(`no database session became free within ${(afterMs / 1_000).toFixed(1)} s`)
  }
}

/** The server takes no changes: a standby, or one that an operator has set so. What it shows may be late. */
export class ReadOnly extends Error {
  override readonly name = 'ReadOnly'

  constructor(options?: ErrorOptions) {
    super('the database is read-only: a standby, or default_transaction_read_only is on', options)
  }
}

/** Another version of this program has made the tables into what this one cannot work with. */
export class NewerTables extends Error {
  override readonly name = 'NewerTables'

  constructor(found: number, known: number) {
    super(
      `the tables are of version ${found}, and this program works with ${known}; replace it by the newer program`,
    )
  }
}

/** None of the hosts of the address can be used; the message names each of them and its problem. */
export class UnusableHosts extends Error {
  override readonly name = 'UnusableHosts'
  readonly errors: readonly unknown[]

  constructor(message: string, errors: readonly unknown[]) {
    super(message, { cause: errors[0] })
    this.errors = errors
  }
}

export async function inTime<T>(work: Promise<T>, longestMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Hung(longestMs)), longestMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * SQLSTATEs that say our own SQL or data is wrong: bugs, not a database in trouble. A table that is missing
 * (42P01), or that may not be used (42501), is the operator's to mend, and so is trouble.
 */
const OUR_FAULT = /^(21|22|23|2F|34|42(?!P01|501)|P0)/
/** The server is going, coming, full or refuses the login: another connection may fare no better. */
const SERVER_GONE = /^(08|28|3D|53|57P0)/

const READ_ONLY = '25006'
/** The server has no connection left, or none for this role or database. */
export const TOO_MANY_CONNECTIONS = '53300'
/** A lock was not free within `lock_timeout`. */
export const LOCK_TIMEOUT = '55P03'
/** A statement was cancelled, usually by `statement_timeout`. */
export const CANCELLED = '57014'

export function isReadOnly(error: unknown): boolean {
  if (error instanceof UnusableHosts) return error.errors.some(isReadOnly)
  return error instanceof ReadOnly || stateOf(error) === READ_ONLY
}

/** Whether PostgreSQL reported this SQLSTATE, directly or as the cause of what callers see. */
export function hasState(error: unknown, state: string): boolean {
  return stateOf(error instanceof ServiceError ? error.cause : error) === state
}

function stateOf(error: unknown): string | undefined {
  return error instanceof SQL.PostgresError ? error.errno : undefined
}

/** Whether the connection, rather than the statement, has failed. */
export function isLost(error: unknown): boolean {
  if (error instanceof Hung || isReadOnly(error)) return true
  if (!(error instanceof SQL.PostgresError)) return false
  return error.errno === undefined ? isConnectionCode(error.code) : SERVER_GONE.test(error.errno)
}

function isConnectionCode(code: string): boolean {
  return /CONNECT|TIMEOUT|TLS|SOCKET|AUTHENTICATION|PASSWORD|LIFETIME|BINDING/.test(code)
}

export function unavailable(cause: unknown): ServiceError {
  if (cause instanceof Overloaded) {
    return new ServiceError('service_unavailable', 'the service is overloaded; try again shortly', { cause })
  }
  const trouble = isReadOnly(cause)
    ? 'is read-only'
    : cause instanceof NewerTables
      ? 'is of a newer version than this program'
      : 'cannot answer'
  return new ServiceError('service_unavailable', `the database ${trouble} at the moment; try again shortly`, {
    cause,
  })
}

const UNIQUE = new Set(['orders_pkey', 'pets_pkey', 'pets_by_barcode', 'stock_pkey', 'categories_pkey'])

/** Whether somebody else has just made what was to be made with the same id or barcode. */
export function isTaken(error: unknown): boolean {
  return error instanceof SQL.PostgresError && error.errno === '23505' && UNIQUE.has(String(error.constraint))
}

/** Whether a statement of ours is wrong, or what it was given; on tables that we do not know, it may well be. */
export function isOurFault(error: unknown): boolean {
  return OUR_FAULT.test(stateOf(error) ?? '')
}

/** If the server did not reject a statement with an SQLSTATE of ours, the result of its transaction is unknown. */
export function asServiceError(error: unknown): unknown {
  const isTrouble =
    error instanceof Overloaded || isLost(error) || (error instanceof SQL.PostgresError && !isOurFault(error))
  return isTrouble ? unavailable(error) : error
}
