import type { SQL } from 'bun'
import { type Clock, SECOND } from '../../core/values/clock.ts'
import { readAddress } from './hosts.ts'

export interface PostgresSettings {
  /** Connections of one process. */
  readonly poolSize: number
  readonly connectTimeoutSeconds: number
  readonly statementTimeoutSeconds: number
  /** For tests, instead of the database's own clock. */
  readonly clock?: Clock
  /** For who changes nothing, and may be shown what is late: a standby will do where no host takes writes. */
  readonly mayBeReadOnly?: boolean
}

/**
 * Session settings that the statements rely on, whatever the server's defaults are. PgBouncer drops them:
 * docs/scaling.md tells operators to set the same ones for the role.
 */
export function sessionSettings(settings: PostgresSettings): Readonly<Record<string, string | number>> {
  return {
    statement_timeout: settings.statementTimeoutSeconds * SECOND,
    default_transaction_isolation: 'read committed',
    // Every statement is planned once per session: planning the live view's query takes longer than running it.
    plan_cache_mode: 'force_generic_plan',
    // A plan made while a table is empty would scan the whole table, and keep doing so when it has a million rows.
    enable_seqscan: 'off',
    // Before PostgreSQL 18, enable_seqscan=off makes the scan of a one-row table look so expensive that the server compiles
    // the statement with LLVM: 300 ms for a statement that takes 0.1 ms.
    jit: 'off',
    // A process that stands still in the middle of a transaction must not hold its locks for ever.
    idle_in_transaction_session_timeout: settings.statementTimeoutSeconds * SECOND,
  }
}

/** For each host. Every setting is given in so many words: Bun would take what is missing from the environment. */
export function optionsFrom(url: string, settings: PostgresSettings): SQL.PostgresOrMySQLOptions[] {
  const { hosts, username, password, database, parameters } = readAddress(url)
  const mode = parameters.get('sslmode')
  const common = {
    adapter: 'postgres',
    // In the place of DATABASE_URL, which Bun would read otherwise: a list of hosts is no URL to it, and the sslmode in it may
    // be another database's. What stands beside it counts.
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
  const tls = mode === null ? {} : { tls: sslMode(mode) }
  // Nothing is encrypted on the way to a socket.
  return hosts.map((host) => ('path' in host ? { ...common, ...host } : { ...common, ...host, ...tls }))
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

function sslMode(text: string): (typeof SSL_MODES)[number] {
  const mode = SSL_MODES.find((known) => known === text)
  if (mode === undefined) {
    throw new Error(`sslmode in DATABASE_URL must be one of ${SSL_MODES.join(', ')}, got "${text}"`)
  }
  return mode
}
