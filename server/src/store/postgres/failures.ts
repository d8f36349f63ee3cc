import { connect, SQL } from 'bun'
import { SECOND } from '../../core/values/clock.ts'
import { outcomeUnknown, ServiceError } from '../../core/values/errors.ts'
import { type Host, hostText } from './connection-options.ts'

/** The database did not answer at all, not even with an error about its own timeout. */
export class AnswerTimeout extends Error {
  override readonly name = 'AnswerTimeout'
}

/** Other callers kept all sessions in use. The database is available, so this is not an outage. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded'
}

/** The server is a standby, or an operator has made it read-only. Its data may be stale. */
export class ReadOnly extends Error {
  override readonly name = 'ReadOnly'

  constructor() {
    super('the database is read-only: a standby, or default_transaction_read_only is on')
  }
}

/** A newer program has migrated the tables to a version that this program cannot use. */
export class NewerTablesError extends Error {
  override readonly name = 'NewerTablesError'
}

/** None of the hosts in DATABASE_URL can be used. The message names the problem of each host. */
export class UnusableHosts extends Error {
  override readonly name = 'UnusableHosts'
  readonly errors: readonly unknown[]

  constructor(message: string, errors: readonly unknown[]) {
    super(message, { cause: errors[0] })
    this.errors = errors
  }
}

export async function withTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new AnswerTimeout(`no answer within ${timeoutMs / SECOND} s`)),
    timeoutMs,
  )
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * SQLSTATEs of errors in the SQL or the values of this program. They are bugs, not database outages. A missing table (42P01)
 * and a missing permission (42501) count as outages, because the operator has to fix them.
 */
const PROGRAM_ERROR = /^(21|22|23|2F|34|42(?!P01|501)|P0)/
/** The server is stopping, starting or full, or refuses the login. Other connections may fail for the same reason. */
const SERVER_UNAVAILABLE = /^(08|28|3D|53|57P0)/

const SERVER_STOPPING = /^(08|57P0)/

const READ_ONLY = '25006'
/** The server, the role or the database has reached its connection limit. */
export const TOO_MANY_CONNECTIONS = '53300'
/** A lock was not free within `lock_timeout`. */
export const LOCK_TIMEOUT = '55P03'
/** A statement was cancelled, usually by `statement_timeout`. */
export const STATEMENT_CANCELLED = '57014'

export function isReadOnly(error: unknown): boolean {
  if (error instanceof UnusableHosts) return error.errors.some(isReadOnly)
  return error instanceof ReadOnly || stateOf(error) === READ_ONLY
}

/** Whether PostgreSQL reported this SQLSTATE, directly or as the cause of a ServiceError. */
export function hasState(error: unknown, state: string): boolean {
  return stateOf(error instanceof ServiceError ? error.cause : error) === state
}

function stateOf(error: unknown): string | undefined {
  return error instanceof SQL.PostgresError ? error.errno : undefined
}

/** Whether the connection, rather than the statement, has failed. */
export function isUnusableConnection(error: unknown): boolean {
  if (error instanceof AnswerTimeout || isReadOnly(error)) return true
  if (!(error instanceof SQL.PostgresError)) return false
  return error.errno === undefined ? isConnectionCode(error.code) : SERVER_UNAVAILABLE.test(error.errno)
}

/** Whether the connection ended without an answer to the last statement. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof AnswerTimeout) return true
  if (!(error instanceof SQL.PostgresError)) return false
  return error.errno === undefined ? isConnectionCode(error.code) : SERVER_STOPPING.test(error.errno)
}

function isConnectionCode(code: string): boolean {
  return /CONNECT|TIMEOUT|TLS|SOCKET|AUTHENTICATION|PASSWORD|LIFETIME|BINDING/.test(code)
}

export function unavailableError(cause: unknown): ServiceError {
  return new ServiceError('service_unavailable', `${problemOf(cause)}; try again shortly`, { cause })
}

/** The error if the connection was lost after COMMIT was sent. */
export function commitLostError(cause: unknown): ServiceError {
  return outcomeUnknown('the connection to the database was lost during the commit', { cause })
}

function problemOf(cause: unknown): string {
  if (hasState(cause, LOCK_TIMEOUT)) return 'another process keeps the data locked; nothing was changed'
  if (cause instanceof Overloaded) return 'the service is overloaded'
  if (isReadOnly(cause)) return 'the database is read-only at the moment'
  if (cause instanceof NewerTablesError)
    return 'the database has a newer version than this program at the moment'
  return 'the database cannot answer at the moment'
}

const UNIQUE_CONSTRAINTS = new Set([
  'orders_pkey',
  'pets_pkey',
  'pets_by_barcode',
  'stock_pkey',
  'categories_pkey',
])

/** Whether another transaction has just inserted a row with the same id or barcode. */
export function isDuplicateKey(error: unknown): boolean {
  return (
    error instanceof SQL.PostgresError &&
    error.errno === '23505' &&
    UNIQUE_CONSTRAINTS.has(String(error.constraint))
  )
}

/** Whether the statement or its values are wrong. This also happens if the tables have another version. */
export function isProgramError(error: unknown): boolean {
  return PROGRAM_ERROR.test(stateOf(error) ?? '')
}

/** Turns an outage into a ServiceError. Returns other errors, which are bugs, unchanged. */
export function toServiceError(error: unknown): unknown {
  const isOutage =
    error instanceof Overloaded ||
    isUnusableConnection(error) ||
    (error instanceof SQL.PostgresError && !isProgramError(error))
  return isOutage ? unavailableError(error) : error
}

/** What the error codes of the operating system mean. */
const NETWORK_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there (the port is closed)',
  ENOTFOUND: 'no host has that name',
  EAI_AGAIN: 'the host name cannot be resolved',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ENOENT: 'the socket does not exist',
  EACCES: 'this user may not use the socket',
}

/** Names each host and its problem. Bun itself reports only that it failed to connect. */
export async function unusableHostsError(
  hosts: readonly Host[],
  errors: readonly unknown[],
  timeoutMs: number,
): Promise<UnusableHosts> {
  const problems = await Promise.all(
    hosts.map(async (host, index) => {
      const error = errors[index]
      const reason = (await networkReason(host, error, timeoutMs)) ?? messageOf(error)
      return hosts.length === 1 && namesProblem(error) ? reason : `${hostText(host)}: ${reason}`
    }),
  )
  return new UnusableHosts(problems.join('; '), errors)
}

/** Whether the message of the error names the problem. A message of Bun itself, which has no SQLSTATE, does not. */
function namesProblem(error: unknown): boolean {
  return !(error instanceof SQL.PostgresError) || error.errno !== undefined
}

/** Why the host cannot be reached; `undefined` if the error already names the problem, or if a connection succeeds now. */
async function networkReason(host: Host, error: unknown, timeoutMs: number): Promise<string | undefined> {
  if (namesProblem(error)) return undefined
  const failure = await withTimeout(tryToConnect(host), timeoutMs).catch((error: unknown) => error)
  if (failure === undefined) return undefined
  return NETWORK_PROBLEMS[codeOf(failure)] ?? messageOf(failure)
}

async function tryToConnect(host: Host): Promise<void> {
  const socket = { data: () => {}, error: () => {}, connectError: () => {} }
  const connection = await ('path' in host
    ? connect({ unix: host.path, socket })
    : connect({ ...host, socket }))
  connection.end()
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
