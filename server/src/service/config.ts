import type { KeyEnvironment } from '../core/keys/api-key.ts'
import { withoutPassword } from '../store/database-url.ts'
import type { PostgresSettings } from '../store/open-store.ts'
import {
  baseAddress,
  databaseAddress,
  day,
  nonEmpty,
  oneOf,
  optional,
  portOrOff,
  proxies,
  SettingError,
  wholeNumber,
} from './setting-parsers.ts'

export interface Config {
  readonly host: string
  readonly port: number
  readonly databaseUrl: string
  readonly pgPoolSize: number
  readonly pgConnectTimeoutSeconds: number
  readonly pgStatementTimeoutSeconds: number
  readonly processes: number
  readonly environment: KeyEnvironment
  readonly baseUrl: string
  readonly stagingBaseUrl: string
  /** How many of our own proxies stand in front; X-Forwarded-For is believed that far. */
  readonly trustProxy: number
  readonly anonymousPerMinute: number
  readonly petSunset: Date
  readonly metricsHost: string
  readonly metricsPort: number | 'off'
  readonly logFormat: 'auto' | 'json' | 'text'
  readonly logRequests: 'all' | 'errors' | 'failures' | 'none'
  /** Both are given or neither is. */
  readonly tlsCert: string | undefined
  readonly tlsKey: string | undefined
  readonly keepAliveSeconds: number
  readonly requestTimeoutSeconds: number
  readonly maxConnectionsPerAddress: number
  readonly maxUnsentMebibytes: number
  readonly stopDelaySeconds: number
  readonly stopGraceSeconds: number
  readonly eventsHeartbeatSeconds: number
}

interface Setting<Value> {
  /** The environment variable; the flag is the same in kebab-case. */
  readonly variable: string
  readonly fallback: string
  readonly help: string
  readonly parse: (text: string) => Value
}

/** All settings there are: `serve --help`, the flags and the environment are read off this table. */
export const SETTINGS: { readonly [Name in keyof Config]: Setting<Config[Name]> } = {
  host: {
    variable: 'HOST',
    fallback: '127.0.0.1',
    help: 'address to listen on; 0.0.0.0 opens it to the network',
    parse: nonEmpty,
  },
  port: {
    variable: 'PORT',
    fallback: '8080',
    help: 'port to listen on; 0 takes a free one',
    parse: wholeNumber(0, 65_535),
  },
  databaseUrl: {
    variable: 'DATABASE_URL',
    fallback: 'sqlite:data/petstore.db',
    help: 'where the data is: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    parse: databaseAddress,
  },
  pgPoolSize: {
    variable: 'PG_POOL_SIZE',
    fallback: '10',
    help: 'connections to PostgreSQL, for each process',
    parse: wholeNumber(2, 1_000),
  },
  pgConnectTimeoutSeconds: {
    variable: 'PG_CONNECT_TIMEOUT_SECONDS',
    fallback: '5',
    help: 'how long a connection to PostgreSQL may take',
    parse: wholeNumber(1, 300),
  },
  pgStatementTimeoutSeconds: {
    variable: 'PG_STATEMENT_TIMEOUT_SECONDS',
    fallback: '10',
    help: 'how long a statement of a request may take before it is 503; imports and the like take their time',
    parse: wholeNumber(1, 3_600),
  },
  processes: {
    variable: 'PROCESSES',
    fallback: '1',
    help: 'how many processes serve on the port, on PostgreSQL; one that dies is started again',
    parse: wholeNumber(1, 256),
  },
  environment: {
    variable: 'ENVIRONMENT',
    fallback: 'production',
    help: 'production or staging: decides how new keys begin (pst_live_ or pst_test_)',
    parse: oneOf('production', 'staging'),
  },
  baseUrl: {
    variable: 'BASE_URL',
    fallback: 'http://127.0.0.1:8080/v1',
    help: 'production address, as the contract shows it; ends in /v1',
    parse: baseAddress,
  },
  stagingBaseUrl: {
    variable: 'STAGING_BASE_URL',
    fallback: 'http://127.0.0.1:8081/v1',
    help: 'staging address, as the contract shows it; ends in /v1',
    parse: baseAddress,
  },
  trustProxy: {
    variable: 'TRUST_PROXY',
    fallback: 'off',
    help: 'off, on, or how many proxies of your own stand in front: X-Forwarded-For is believed that far',
    parse: proxies,
  },
  anonymousPerMinute: {
    variable: 'ANONYMOUS_PER_MINUTE',
    fallback: '300',
    help: 'requests a minute from one address without a valid key, before they get 429',
    parse: wholeNumber(1, 1_000_000_000),
  },
  petSunset: {
    variable: 'PET_SUNSET',
    fallback: '2030-12-05',
    help: 'day on which GET /pets/{petId} ends; it answers 410 from then on',
    parse: day,
  },
  metricsHost: {
    variable: 'METRICS_HOST',
    fallback: '127.0.0.1',
    help: 'address that /metrics listens on; it needs no key, so keep it out of the public network',
    parse: nonEmpty,
  },
  metricsPort: {
    variable: 'METRICS_PORT',
    fallback: '9090',
    help: 'port of /metrics; 0 takes a free one, off turns it off, as --demo does unless a port is given',
    parse: portOrOff,
  },
  logFormat: {
    variable: 'LOG_FORMAT',
    fallback: 'auto',
    help: 'json, text, or auto: text on a terminal and JSON lines elsewhere',
    parse: oneOf('auto', 'json', 'text'),
  },
  logRequests: {
    variable: 'LOG_REQUESTS',
    fallback: 'failures',
    help: 'which requests are logged: all, errors (4xx and failures), failures (5xx and slower than 1 s), none',
    parse: oneOf('all', 'errors', 'failures', 'none'),
  },
  tlsCert: {
    variable: 'TLS_CERT',
    fallback: '',
    help: 'certificate (chain) to serve https with: a PEM file; goes with --tls-key',
    parse: optional,
  },
  tlsKey: {
    variable: 'TLS_KEY',
    fallback: '',
    help: 'private key of the certificate: a PEM file without a passphrase',
    parse: optional,
  },
  keepAliveSeconds: {
    variable: 'KEEP_ALIVE_SECONDS',
    fallback: '75',
    help: 'how long a connection stays open between requests; longer than proxies in front keep theirs',
    parse: wholeNumber(1, 3_600),
  },
  requestTimeoutSeconds: {
    variable: 'REQUEST_TIMEOUT_SECONDS',
    fallback: '10',
    help: 'how long a request may take to arrive, head and body, before it is 408',
    parse: wholeNumber(1, 3_600),
  },
  maxConnectionsPerAddress: {
    variable: 'MAX_CONNECTIONS_PER_ADDRESS',
    fallback: '1000',
    help: 'connections from one address, proxies in front included; any more get 503',
    parse: wholeNumber(1, 1_000_000),
  },
  maxUnsentMebibytes: {
    variable: 'MAX_UNSENT_MEBIBYTES',
    fallback: '256',
    help: 'what may wait in memory for slow readers, all together; beyond it the slowest are cut off',
    parse: wholeNumber(1, 1_048_576),
  },
  stopDelaySeconds: {
    variable: 'STOP_DELAY_SECONDS',
    fallback: '0',
    help: 'how long a stop goes on serving while /readyz says 503, for balancers that need to notice',
    parse: wholeNumber(0, 3_600),
  },
  stopGraceSeconds: {
    variable: 'STOP_GRACE_SECONDS',
    fallback: '10',
    help: 'how long a stop waits for the requests under way before it cuts them off',
    parse: wholeNumber(0, 3_600),
  },
  eventsHeartbeatSeconds: {
    variable: 'EVENTS_HEARTBEAT_SECONDS',
    fallback: '15',
    help: 'how often an open event stream gets a sign of life; less than what proxies in front allow',
    parse: wholeNumber(1, 3_600),
  },
}

export type SettingName = keyof typeof SETTINGS
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

/** `--trust-proxy` for `TRUST_PROXY`. */
export function flagOf(name: SettingName): string {
  return `--${SETTINGS[name].variable.toLowerCase().replaceAll('_', '-')}`
}

/**
 * A flag wins over the environment, and that over the default, which `fallbacks` can replace. An empty
 * variable counts as not set.
 */
export function readConfig(
  flags: Readonly<Partial<Record<SettingName, string>>>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
  fallbacks: Readonly<Partial<Record<SettingName, string>>> = {},
): Config {
  const read = <Name extends SettingName>(name: Name): Config[Name] => {
    const setting = SETTINGS[name]
    const [text, source] =
      flags[name] !== undefined
        ? [flags[name], flagOf(name)]
        : [environment[setting.variable] || (fallbacks[name] ?? setting.fallback), setting.variable]
    try {
      return setting.parse(text)
    } catch (error) {
      if (error instanceof SettingError) {
        throw new SettingError(
          `${source} must be ${error.message}, got ${JSON.stringify(withoutPassword(text))}`,
        )
      }
      throw error
    }
  }
  const [tlsCert, tlsKey] = [read('tlsCert'), read('tlsKey')]
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    const [given, missing] =
      tlsCert === undefined ? (['tlsKey', 'tlsCert'] as const) : (['tlsCert', 'tlsKey'] as const)
    throw new SettingError(
      `${flagOf(given)} needs ${flagOf(missing)} (${SETTINGS[missing].variable}) as well`,
    )
  }
  return Object.freeze({
    host: read('host'),
    port: read('port'),
    databaseUrl: read('databaseUrl'),
    pgPoolSize: read('pgPoolSize'),
    pgConnectTimeoutSeconds: read('pgConnectTimeoutSeconds'),
    pgStatementTimeoutSeconds: read('pgStatementTimeoutSeconds'),
    processes: read('processes'),
    environment: read('environment'),
    baseUrl: read('baseUrl'),
    stagingBaseUrl: read('stagingBaseUrl'),
    trustProxy: read('trustProxy'),
    anonymousPerMinute: read('anonymousPerMinute'),
    petSunset: read('petSunset'),
    metricsHost: read('metricsHost'),
    metricsPort: read('metricsPort'),
    logFormat: read('logFormat'),
    logRequests: read('logRequests'),
    tlsCert,
    tlsKey,
    keepAliveSeconds: read('keepAliveSeconds'),
    requestTimeoutSeconds: read('requestTimeoutSeconds'),
    maxConnectionsPerAddress: read('maxConnectionsPerAddress'),
    maxUnsentMebibytes: read('maxUnsentMebibytes'),
    stopDelaySeconds: read('stopDelaySeconds'),
    stopGraceSeconds: read('stopGraceSeconds'),
    eventsHeartbeatSeconds: read('eventsHeartbeatSeconds'),
  })
}

export function postgresSettings(config: Config): PostgresSettings {
  return {
    poolSize: config.pgPoolSize,
    connectTimeoutSeconds: config.pgConnectTimeoutSeconds,
    statementTimeoutSeconds: config.pgStatementTimeoutSeconds,
  }
}
