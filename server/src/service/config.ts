import { join } from 'node:path'
import { withoutPassword } from '../store/opening.ts'
import {
  databaseAddress,
  day,
  nonEmpty,
  oneOf,
  optional,
  optionalBaseAddress,
  origins,
  portOrOff,
  proxies,
  SettingError,
  seconds,
  wholeNumber,
} from './setting-parsers.ts'

interface Setting {
  readonly fallback: string
  readonly help: string
  /** Where it is not named after the setting. */
  readonly variable?: string
  readonly parse: (text: string) => unknown
}

/** All settings there are: `serve --help`, the flags and the environment are read off this table and its names. */
export const SETTINGS = {
  host: {
    fallback: '127.0.0.1',
    help: 'address to listen on; 0.0.0.0 opens it to the network',
    parse: nonEmpty,
  },
  port: {
    fallback: '8080',
    help: 'port to listen on; 0 takes a free one',
    parse: wholeNumber(0, 65_535),
  },
  databaseUrl: {
    fallback: 'sqlite:data/petstore.db',
    help: 'where the data is: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    parse: databaseAddress,
  },
  data: {
    fallback: 'data',
    help: 'folder of petstore.db where no database is named; as a flag it wins over DATABASE_URL',
    variable: 'PETSTORE_DATA',
    parse: nonEmpty,
  },
  pgPoolSize: {
    fallback: '10',
    help: 'connections to PostgreSQL, for each process',
    parse: wholeNumber(2, 1_000),
  },
  pgConnectTimeoutSeconds: {
    fallback: '5',
    help: 'how long a connection to PostgreSQL may take',
    parse: wholeNumber(1, 300),
  },
  pgStatementTimeoutSeconds: {
    fallback: '10',
    help: 'how long a statement of a request may take before it is 503; imports and the like take their time',
    parse: wholeNumber(1, 3_600),
  },
  processes: {
    fallback: '1',
    help: 'how many processes serve on the port, on PostgreSQL; one that dies is started again',
    parse: wholeNumber(1, 256),
  },
  environment: {
    fallback: 'production',
    help: 'production or staging: decides how new keys begin (pst_live_ or pst_test_)',
    parse: oneOf('production', 'staging'),
  },
  baseUrl: {
    fallback: '',
    help: 'production address, as the contract shows it; ends in /v1. In production, where it is not set, the one listened on',
    parse: optionalBaseAddress,
  },
  stagingBaseUrl: {
    fallback: '',
    help: 'staging address, likewise',
    parse: optionalBaseAddress,
  },
  trustProxy: {
    fallback: 'off',
    help: 'off, on, or how many proxies of your own stand in front: X-Forwarded-For is believed that far',
    parse: proxies,
  },
  anonymousPerMinute: {
    fallback: '300',
    help: 'requests a minute from one address without a valid key, before they get 429',
    parse: wholeNumber(1, 1_000_000_000),
  },
  corsOrigins: {
    fallback: '',
    help: 'origins whose pages may call from browsers, with commas between (https://shop.example), or *',
    parse: origins,
  },
  petSunset: {
    fallback: '2030-12-05',
    help: 'day on which GET /pets/{petId} ends; it answers 410 from then on',
    parse: day,
  },
  webhookPrivateAddresses: {
    fallback: 'off',
    help: 'on lets webhooks reach private and loopback addresses, and http; keep it off where keys are given to strangers',
    parse: oneOf('on', 'off'),
  },
  webhookRetrySeconds: {
    fallback: '5,30,120,600,3600,10800',
    help: 'how long to wait before each repeat of a delivery that failed; the last one again and again, for 3 days',
    parse: seconds,
  },
  metricsHost: {
    fallback: '127.0.0.1',
    help: 'address that /metrics listens on; it needs no key, so keep it out of the public network',
    parse: nonEmpty,
  },
  metricsPort: {
    fallback: '7387',
    help: 'port of /metrics; 0 takes a free one, off turns it off, as --demo does unless a port is given',
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
    help: 'certificate (chain) to serve https with: a PEM file; goes with --tls-key',
    parse: optional,
  },
  tlsKey: {
    fallback: '',
    help: 'private key of the certificate: a PEM file without a passphrase',
    parse: optional,
  },
  firstByteTimeoutSeconds: {
    fallback: '10',
    help: 'how long a connection may stay open before it sends anything',
    parse: wholeNumber(1, 3_600),
  },
  keepAliveSeconds: {
    fallback: '75',
    help: 'how long a connection stays open between requests; longer than proxies in front keep theirs',
    parse: wholeNumber(1, 3_600),
  },
  requestTimeoutSeconds: {
    fallback: '10',
    help: 'how long a request may take to arrive, head and body, before it is 408',
    parse: wholeNumber(1, 3_600),
  },
  maxConnectionsPerAddress: {
    fallback: '1000',
    help: 'connections from one address, proxies in front included; idle ones without a valid key make room for more, then any more get 503',
    parse: wholeNumber(1, 1_000_000),
  },
  maxUnsentMebibytes: {
    fallback: '256',
    help: 'what may wait in memory for slow readers, all together; beyond it the slowest are cut off',
    parse: wholeNumber(1, 1_048_576),
  },
  stopDelaySeconds: {
    fallback: '0',
    help: 'how long a stop goes on serving while /readyz says 503, for balancers that need to notice',
    parse: wholeNumber(0, 3_600),
  },
  stopGraceSeconds: {
    fallback: '10',
    help: 'how long a stop waits for the requests under way before it cuts them off',
    parse: wholeNumber(0, 3_600),
  },
  eventsHeartbeatSeconds: {
    fallback: '15',
    help: 'how often an open event stream gets a sign of life; less than what proxies in front allow',
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

/** The address of a SQLite database of this name, in the folder for those that no address names. */
export function inDataFolder(file: string, flags: Texts, environment: Environment = process.env): string {
  const folder = flags.data ?? (environment[variableOf('data')] || SETTINGS.data.fallback)
  return `sqlite:${join(folder, file)}`
}

/**
 * A flag wins over the environment, and that over the default, which `fallbacks` can replace. An empty
 * variable counts as not set.
 */
export function readConfig(
  flags: Texts,
  environment: Environment = process.env,
  fallbacks: Texts = {},
): Config {
  if (flags.data !== undefined && flags.databaseUrl !== undefined) {
    throw new SettingError('--data and --database-url both say where the database is; give one of them')
  }
  const databaseUrl = inDataFolder('petstore.db', flags, environment)
  const asked: Texts = flags.data === undefined ? flags : { ...flags, databaseUrl }
  const defaults: Texts = { databaseUrl, ...fallbacks }
  const read = (name: SettingName): Config[SettingName] => {
    const [text, source] =
      asked[name] !== undefined
        ? [asked[name], flagOf(name)]
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
  // The type of each is that of its parser.
  const config = Object.fromEntries(SETTING_NAMES.map((name) => [name, read(name)])) as unknown as Config
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) {
    const [given, missing] =
      config.tlsCert === undefined ? (['tlsKey', 'tlsCert'] as const) : (['tlsCert', 'tlsKey'] as const)
    throw new SettingError(`${flagOf(given)} needs ${flagOf(missing)} (${variableOf(missing)}) as well`)
  }
  return Object.freeze(config)
}
