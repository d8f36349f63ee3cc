import { join, resolve } from 'node:path'
import { withoutPassword } from '../store/opening.ts'

/** The message names the setting, the value and what was expected. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}

interface Setting {
  readonly fallback: string
  readonly help: string
  /** The environment variable, if it is not derived from the setting's name. */
  readonly variable?: string
  readonly parse: (text: string) => unknown
}

/** All settings. Flags, environment variables and `serve --help` derive from this table. */
export const SETTINGS = {
  host: {
    fallback: '127.0.0.1',
    help: 'address to listen on; 0.0.0.0 makes the service reachable from the network',
    parse: nonEmpty,
  },
  port: {
    fallback: '8080',
    help: 'port to listen on; 0 chooses a free port',
    parse: wholeNumber(0, 65_535),
  },
  databaseUrl: {
    fallback: 'sqlite:data/petstore.db',
    help: 'the database: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    parse: databaseAddress,
  },
  data: {
    fallback: 'data',
    help: 'folder of petstore.db if DATABASE_URL is not set; as a flag it overrides DATABASE_URL',
    variable: 'PETSTORE_DATA',
    parse: nonEmpty,
  },
  pgPoolSize: {
    fallback: '10',
    help: 'connections to PostgreSQL per process',
    parse: wholeNumber(2, 1_000),
  },
  pgConnectTimeoutSeconds: {
    fallback: '5',
    help: 'timeout for opening a connection to PostgreSQL',
    parse: wholeNumber(1, 300),
  },
  pgStatementTimeoutSeconds: {
    fallback: '10',
    help: 'timeout for a SQL statement of a request, which then gets 503; imports and exports have no timeout',
    parse: wholeNumber(1, 3_600),
  },
  processes: {
    fallback: '1',
    help: 'number of processes that serve the port, on PostgreSQL; a process that dies is restarted',
    parse: wholeNumber(1, 256),
  },
  environment: {
    fallback: 'production',
    help: 'production or staging: decides the prefix of new keys (pst_live_ or pst_test_)',
    parse: oneOf('production', 'staging'),
  },
  baseUrl: {
    fallback: '',
    help: 'production address in the contract; ends in /v1. In production it defaults to the listening address',
    parse: optionalBaseAddress,
  },
  stagingBaseUrl: {
    fallback: '',
    help: 'staging address in the contract; ends in /v1. In staging it defaults to the listening address',
    parse: optionalBaseAddress,
  },
  trustProxy: {
    fallback: 'off',
    help: 'off, on, or the number of your own proxies in front of the service; trusts their X-Forwarded-For',
    parse: proxies,
  },
  anonymousPerMinute: {
    fallback: '300',
    help: 'requests per minute from one address without a valid key; more get 429',
    parse: wholeNumber(1, 1_000_000_000),
  },
  corsOrigins: {
    fallback: '',
    help: 'origins whose pages may call the API from a browser, separated by commas (https://shop.example), or *',
    parse: origins,
  },
  petSunset: {
    fallback: '2030-12-05',
    help: 'day from which GET /pets/{petId} answers 410',
    parse: day,
  },
  webhookPrivateAddresses: {
    fallback: 'off',
    help: 'on allows webhooks to private and loopback addresses, and http; keep it off if strangers have keys',
    parse: oneOf('on', 'off'),
  },
  webhookRetrySeconds: {
    fallback: '5,30,120,600,3600,10800',
    help: 'delays before the retries of a failed delivery; the last delay repeats for 3 days',
    parse: seconds,
  },
  metricsHost: {
    fallback: '127.0.0.1',
    help: 'address that /metrics listens on; it needs no key, so keep it out of the public network',
    parse: nonEmpty,
  },
  metricsPort: {
    fallback: '7387',
    help: 'port of /metrics; 0 chooses a free port, off turns it off; --demo turns it off unless a port is given',
    parse: portOrOff,
  },
  logFormat: {
    fallback: 'auto',
    help: 'json, text, or auto: text on a terminal and JSON lines elsewhere',
    parse: oneOf('auto', 'json', 'text'),
  },
  logRequests: {
    fallback: 'failures',
    help: 'which requests are logged: all, errors (4xx and failures), failures (5xx and slower than 1 s), none',
    parse: oneOf('all', 'errors', 'failures', 'none'),
  },
  tlsCert: {
    fallback: '',
    help: 'certificate (chain) to serve https with: a PEM file; needs --tls-key',
    parse: optional,
  },
  tlsKey: {
    fallback: '',
    help: 'private key of the certificate: a PEM file without a passphrase',
    parse: optional,
  },
  firstByteTimeoutSeconds: {
    fallback: '10',
    help: 'timeout for the first byte on a new connection',
    parse: wholeNumber(1, 3_600),
  },
  keepAliveSeconds: {
    fallback: '75',
    help: 'how long an idle connection stays open; must be longer than the idle timeout of proxies in front',
    parse: wholeNumber(1, 3_600),
  },
  requestTimeoutSeconds: {
    fallback: '10',
    help: 'timeout for receiving the head and the body of a request, which then gets 408',
    parse: wholeNumber(1, 3_600),
  },
  maxConnectionsPerAddress: {
    fallback: '1000',
    help: 'maximum number of connections from one address, which may be a proxy; beyond it, idle connections without a valid key are closed first, then new connections get 503',
    parse: wholeNumber(1, 1_000_000),
  },
  maxUnsentMebibytes: {
    fallback: '256',
    help: 'total unsent data in memory for slow readers; beyond it the slowest are disconnected',
    parse: wholeNumber(1, 1_048_576),
  },
  stopDelaySeconds: {
    fallback: '0',
    help: 'how long a stop keeps serving while /readyz answers 503, so that load balancers notice',
    parse: wholeNumber(0, 3_600),
  },
  stopGraceSeconds: {
    fallback: '10',
    help: 'how long a stop waits for requests under way before it closes their connections',
    parse: wholeNumber(0, 3_600),
  },
  eventsHeartbeatSeconds: {
    fallback: '15',
    help: 'interval of heartbeats on event streams; must be shorter than the idle timeout of proxies in front',
    parse: wholeNumber(1, 3_600),
  },
} as const satisfies Readonly<Record<string, Setting>>

export type SettingName = keyof typeof SETTINGS
export type Config = {
  readonly [Name in SettingName]: ReturnType<(typeof SETTINGS)[Name]['parse']>
}
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

/** `TRUST_PROXY` for `trustProxy`. */
export function variableOf(name: SettingName): string {
  const { variable }: Setting = SETTINGS[name]
  return variable ?? name.replace(/[A-Z]/g, '_$&').toUpperCase()
}

/** `--trust-proxy` for `trustProxy`. */
export function flagOf(name: SettingName): string {
  return `--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`
}

type Texts = Readonly<Partial<Record<SettingName, string>>>
type Environment = Readonly<Record<string, string | undefined>>

/** The address of a SQLite file in the data folder. */
export function inDataFolder(file: string, flags: Texts, environment: Environment = process.env): string {
  const folder = flags.data ?? (environment[variableOf('data')] || SETTINGS.data.fallback)
  return `sqlite:${join(folder, file)}`
}

/**
 * A flag overrides the environment, which overrides the default. `fallbacks` replace defaults. An empty variable counts
 * as not set.
 */
export function readConfig(
  flags: Texts,
  environment: Environment = process.env,
  fallbacks: Texts = {},
): Config {
  if (flags.data !== undefined && flags.databaseUrl !== undefined) {
    throw new SettingError('--data and --database-url both name the database; use only one of them')
  }
  const databaseUrl = inDataFolder('petstore.db', flags, environment)
  const given: Texts = flags.data === undefined ? flags : { ...flags, databaseUrl }
  const defaults: Texts = { databaseUrl, ...fallbacks }
  const read = (name: SettingName): Config[SettingName] => {
    const [text, source] =
      given[name] !== undefined
        ? [given[name], flagOf(name)]
        : [environment[variableOf(name)] || (defaults[name] ?? SETTINGS[name].fallback), variableOf(name)]
    try {
      return SETTINGS[name].parse(text)
    } catch (error) {
      if (!(error instanceof SettingError)) throw error
      throw new SettingError(
        `${source} must be ${error.message}, got ${JSON.stringify(withoutPassword(text))}`,
      )
    }
  }
  // Each setting has the type that its parser returns.
  const config = Object.fromEntries(SETTING_NAMES.map((name) => [name, read(name)])) as unknown as Config
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    const [present, missing] =
      config.tlsCert === undefined ? (['tlsKey', 'tlsCert'] as const) : (['tlsCert', 'tlsKey'] as const)
    throw new SettingError(`${flagOf(present)} needs ${flagOf(missing)} (${variableOf(missing)}) as well`)
  }
  return Object.freeze(config)
}

/** The address at which this machine reaches a listener. */
export function reachableAddress(scheme: 'http' | 'https', host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

// Parsers of settings. They throw a SettingError whose message completes the sentence "PORT must be …".

function nonEmpty(text: string): string {
  if (text.trim() === '') throw new SettingError('non-empty')
  return text
}

function optional(text: string): string | undefined {
  return text === '' ? undefined : text
}

function portOrOff(text: string): number | 'off' {
  if (text === 'off') return 'off'
  if (!/^\d+$/.test(text) || Number(text) > 65_535) throw new SettingError('off or a port from 0 to 65535')
  return Number(text)
}

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new SettingError(`a whole number from ${min} to ${max}`)
    }
    return value
  }
}

function seconds(text: string): readonly number[] {
  if (!/^\d{1,6}(,\d{1,6})*$/.test(text))
    throw new SettingError('whole seconds separated by commas, such as 5,30,120')
  return text.split(',').map(Number)
}

const POSTGRES_ADDRESS = /^postgres(?:ql)?:\/\//

/**
 * Makes a path absolute, because messages name it. A PostgreSQL address is parsed when it is opened, because a list of
 * hosts with ports is not a valid URL.
 */
function databaseAddress(text: string): string {
  const isPostgres = POSTGRES_ADDRESS.test(text)
  if (!isPostgres && !/^sqlite:.+/.test(text)) {
    throw new SettingError('of the form sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE')
  }
  return isPostgres || text === 'sqlite::memory:' ? text : `sqlite:${resolve(text.slice('sqlite:'.length))}`
}

function oneOf<const Value extends string>(...values: Value[]): (text: string) => Value {
  return (text) => {
    const match = values.find((value) => value === text)
    if (match === undefined) throw new SettingError(`one of ${values.join(', ')}`)
    return match
  }
}

function optionalBaseAddress(text: string): string | undefined {
  if (text === '') return undefined
  const address = URL.parse(text)
  if (address === null || !/^https?:$/.test(address.protocol) || !address.pathname.endsWith('/v1')) {
    throw new SettingError('an http or https address that ends in /v1')
  }
  return text
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.:[\]_-]+$/

/** Whether a browser sends this text as Origin: scheme and host in lower case, and the port unless it is the default. */
function isOrigin(text: string): boolean {
  return ORIGIN.test(text) && (!/^https?:/.test(text) || URL.parse(text)?.origin === text)
}

function origins(text: string): ReadonlySet<string> | undefined {
  if (text.trim() === '') return undefined
  const named = text.split(',').map((origin) => origin.trim())
  if (named.length === 1 && named[0] === '*') return new Set(named)
  if (named.every(isOrigin)) return new Set(named)
  throw new SettingError(
    'origins without a path, separated by commas, such as https://shop.example or http://localhost:5173; or * alone',
  )
}

function proxies(text: string): number {
  const named: Readonly<Record<string, number>> = { off: 0, false: 0, on: 1, true: 1 }
  const value = named[text.toLowerCase()] ?? (/^\d{1,2}$/.test(text) ? Number(text) : undefined)
  if (value === undefined) throw new SettingError('off, on, or a number of proxies from 0 to 99')
  return value
}

function day(text: string): Date {
  const date = new Date(`${text}T00:00:00Z`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(date.getTime())) {
    throw new SettingError('a day such as 2030-12-05')
  }
  return date
}
