import type { SQL } from 'bun'
import { type Clock, SECOND } from '../../core/values/clock.ts'

/** A TCP port, or a socket in the file system, where PostgreSQL listens. */
export type Host = { readonly hostname: string; readonly port: number } | { readonly path: string }

const DEFAULT_PORT = '5432'
/** A password may contain @ and ?, so the last @ before a query such as `?sslmode=require` separates it from the hosts. */
const ADDRESS_PATTERN =
  /^postgres(?:ql)?:\/\/(?:(?<user>(?:(?!\?\w+=).)*)@)?(?<hosts>[^/?#]*)(?:\/(?<database>[^?#]*))?(?:\?(?<query>[^#]*))?$/s

/**
 * Parses an address in the format of libpq: several hosts separated by commas, each with its own port, or one port for all. A
 * host may also be the folder of a Unix socket (%2Frun%2Fpostgresql, or ?host=/run/postgresql). The query may also have the
 * user and the password, which override those before the hosts.
 */
export function readAddress(url: string) {
  const parts = ADDRESS_PATTERN.exec(url)?.groups
  if (parts === undefined) {
    throw new Error('DATABASE_URL must be like postgres://USER:PASSWORD@HOST:PORT/DATABASE')
  }
  // A plus sign is itself here, and not a blank as in a form.
  const parameters = new URLSearchParams(parts.query?.replaceAll('+', '%2B'))
  const [username = '', ...password] = (parts.user ?? '').split(':')
  const attributes = parameters.get('target_session_attrs')
  if (attributes !== null && attributes !== 'read-write' && attributes !== 'primary') {
    throw new Error(`target_session_attrs in DATABASE_URL must be read-write or primary, got "${attributes}"`)
  }
  return {
    hosts: readHosts(parts.hosts ?? '', parameters),
    username: parameters.get('user') || decodeURIComponent(username) || 'postgres',
    password: parameters.get('password') ?? decodeURIComponent(password.join(':')),
    database: decodeURIComponent(parts.database ?? '') || 'postgres',
    parameters,
  }
}

export function hostText(host: Host): string {
  if ('path' in host) return host.path
  return host.hostname.includes(':') ? `[${host.hostname}]:${host.port}` : `${host.hostname}:${host.port}`
}

function readHosts(text: string, parameters: URLSearchParams): Host[] {
  const names = (parameters.get('host') ?? text).split(',')
  const ports = (parameters.get('port') ?? '').split(',')
  if (ports.length > 1 && ports.length !== names.length) {
    throw hostListError(
      `${names.length} hosts and ${ports.length} ports; give one port for all hosts, or one for each`,
    )
  }
  return names.map((name, index) => {
    if (name === '' && names.length > 1) throw hostListError(`host ${index + 1} of ${names.length} is empty`)
    const port = ports.length === 1 ? ports[0] : ports[index]
    return readHost(name, port || DEFAULT_PORT)
  })
}

function readHost(text: string, defaultPort: string): Host {
  const parts = /^(?:\[([^\]]*)\]|([^:]*))(?::([^:]*))?$/.exec(text)
  if (parts === null) {
    throw hostListError(`"${text}" is not a host; write an IPv6 address in brackets: [::1]:5432`)
  }
  const [, bracketed, plain = '', portText = defaultPort] = parts
  const port = Number(portText || defaultPort)
  if (!/^\d*$/.test(portText) || port < 1 || port > 65_535) {
    throw hostListError(`the port of "${text}" must be a number from 1 to 65535, got "${portText}"`)
  }
  const hostname = bracketed ?? decodeURIComponent(plain)
  if (hostname.startsWith('/')) return { path: `${hostname.replace(/\/+$/, '')}/.s.PGSQL.${port}` }
  return { hostname: hostname || 'localhost', port }
}

function hostListError(reason: string): Error {
  return new Error(`the list of hosts in DATABASE_URL is wrong: ${reason}`)
}

export interface PostgresSettings {
  /** The maximum number of connections in the pool. */
  readonly poolSize: number
  readonly connectTimeoutSeconds: number
  readonly statementTimeoutSeconds: number
  /** For tests: replaces the clock of the database. */
  readonly clock?: Clock
  /** Accepts a standby, whose data may be stale, if no host accepts writes. */
  readonly mayBeReadOnly?: boolean
}

/**
 * Session settings that the statements rely on. PgBouncer drops them, so docs/scaling.md asks operators to set them for the
 * role.
 */
export function sessionSettings(settings: PostgresSettings): Readonly<Record<string, string | number>> {
  return {
    statement_timeout: settings.statementTimeoutSeconds * SECOND,
    default_transaction_isolation: 'read committed',
    // Each session plans a statement only once. Planning the query of the live view takes longer than running it.
    plan_cache_mode: 'force_generic_plan',
    // Otherwise a plan that was made while a table was empty would scan the table when it has a million rows.
    enable_seqscan: 'off',
    // Before PostgreSQL 18, enable_seqscan=off makes the scan of a one-row table look so expensive that the server compiles
    // the statement with LLVM: 300 ms for a statement that takes 0.1 ms.
    jit: 'off',
    // If a process is suspended in a transaction, the server rolls the transaction back, which releases its locks.
    idle_in_transaction_session_timeout: settings.statementTimeoutSeconds * SECOND,
  }
}

/** The options of each host. All options are explicit, because Bun reads missing options from the environment. */
export function hostOptions(url: string, settings: PostgresSettings): SQL.PostgresOrMySQLOptions[] {
  const { hosts, username, password, database, parameters } = readAddress(url)
  const mode = parameters.get('sslmode')
  const common = {
    adapter: 'postgres',
    // Without a url, Bun reads DATABASE_URL from the environment. Bun cannot parse a list of hosts, and the variable may name
    // another database, whose sslmode Bun would use. The other options override the parts of this url.
    url: 'postgres://localhost',
    username,
    password,
    database,
    max: settings.poolSize,
    bigint: true,
    connectionTimeout: settings.connectTimeoutSeconds,
    connection: {
      application_name: parameters.get('application_name') ?? 'petstore',
      ...sessionSettings(settings),
    },
  } as const
  const tls = mode === null ? {} : { tls: parseSslMode(mode) }
  // Unix sockets do not use TLS.
  return hosts.map((host) => ('path' in host ? { ...common, ...host } : { ...common, ...host, ...tls }))
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

function parseSslMode(text: string): (typeof SSL_MODES)[number] {
  const mode = SSL_MODES.find((known) => known === text)
  if (mode === undefined) {
    throw new Error(`sslmode in DATABASE_URL must be one of ${SSL_MODES.join(', ')}, got "${text}"`)
  }
  return mode
}
