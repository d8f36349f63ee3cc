import { join, resolve } from 'node:path'
import type { KeyEnvironment } from '../core/keys/api-key.ts'
import { timeZoneName } from '../core/reports/days.ts'
import { parseDateTime } from '../core/values/rfc3339.ts'
import { withoutPassword } from '../store/opening.ts'

/** The message names the setting, the value and what was expected. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}

/** Thrown by the parsers of settings. The message completes the sentence "PORT must be …". */
class InvalidValue extends Error {}

interface Setting {
  readonly fallback: string
  readonly help: string
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
  pgPoolSize: {
    fallback: '10',
    help: 'connections to PostgreSQL per process',
    parse: wholeNumber(2, 1_000),
  },
  minFreeDiskMebibytes: {
    fallback: '256',
    help: 'changes of a SQLite database are refused while its disk has less space free than this',
    parse: wholeNumber(0, 1_000_000),
  },
  backupTo: {
    fallback: '',
    help: 'folder on another disk, which must exist: a SQLite database is copied there within a second of each commit',
    parse: optionalPath,
  },
  baseUrl: {
    fallback: '',
    help: 'production address in the contract; ends in /v1; the listening address by default; https turns on HSTS',
    parse: optionalBaseAddress,
  },
  stagingBaseUrl: {
    fallback: '',
    help: 'staging address in the contract; ends in /v1. Set without BASE_URL, it makes this a staging service, whose new keys begin with pst_test_',
    parse: optionalBaseAddress,
  },
  trustProxy: {
    fallback: 'off',
    help: 'off, on, or the number of your own proxies in front of the service; trusts their X-Forwarded-For',
    parse: proxyCount,
  },
  corsOrigins: {
    fallback: '',
    help: 'origins whose pages may call the API from a browser, separated by commas (https://shop.example), or *',
    parse: originSet,
  },
  petSunset: {
    fallback: '2030-12-05',
    help: 'day from which GET /pets/{petId} answers 410',
    parse: day,
  },
  timeZone: {
    fallback: 'UTC',
    help: 'where a day of a report begins: a time zone such as Europe/Berlin',
    parse: timeZone,
  },
  customerRetentionDays: {
    fallback: 'off',
    help: 'off, or the days after which the customer and the note of a closed order are erased',
    parse: daysOrOff,
  },
  webhookPrivateAddresses: {
    fallback: 'off',
    help: 'on allows webhooks to private and loopback addresses, and http; keep it off if strangers have keys',
    parse: oneOf('on', 'off'),
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
  logRequests: {
    fallback: 'failures',
    help: 'which requests are logged: all; errors: 4xx, 5xx and requests slower than 1 s; failures: 5xx and requests slower than 1 s; none',
    parse: oneOf('all', 'errors', 'failures', 'none'),
  },
  tlsCert: {
    fallback: '',
    help: 'certificate (chain) to serve https with: a PEM file, read at the start; needs --tls-key',
    parse: optionalText,
  },
  tlsKey: {
    fallback: '',
    help: 'private key of the certificate: a PEM file without a passphrase',
    parse: optionalText,
  },
} as const satisfies Readonly<Record<string, Setting>>

export type SettingName = keyof typeof SETTINGS
export type Config = {
  readonly [Name in SettingName]: ReturnType<(typeof SETTINGS)[Name]['parse']>
}
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

/** `TRUST_PROXY` for `trustProxy`. */
export function variableOf(name: SettingName): string {
  return name.replace(/[A-Z]/g, '_$&').toUpperCase()
}

/** `--trust-proxy` for `trustProxy`. */
export function flagOf(name: SettingName): string {
  return `--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`
}

/** The texts of settings, before they are parsed. */
type SettingTexts = Readonly<Partial<Record<SettingName, string>>>
type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads all settings. A flag overrides an environment variable, which overrides the default. `defaultOverrides`
 * replace defaults of the table. An empty variable counts as not set.
 */
export function readConfig(
  flags: SettingTexts,
  environment: Environment = process.env,
  defaultOverrides: SettingTexts = {},
): Config {
  const { PETSTORE_DATA: folder, DATABASE_URL: address } = environment
  // Version 1.1 read it. Ignoring it would start with an empty database beside that of the shop.
  if (folder && !address && flags.databaseUrl === undefined) {
    throw new SettingError(
      `PETSTORE_DATA is no longer used: set DATABASE_URL=sqlite:${join(folder, 'petstore.db')} instead`,
    )
  }
  const read = (name: SettingName): Config[SettingName] => {
    const flagText = flags[name]
    if (flagText !== undefined) return parseSetting(name, flagText, flagOf(name))
    const variable = variableOf(name)
    const fallback = defaultOverrides[name] ?? SETTINGS[name].fallback
    return parseSetting(name, environment[variable] || fallback, variable)
  }
  // Each setting has the type that its parser returns.
  const config = Object.fromEntries(SETTING_NAMES.map((name) => [name, read(name)])) as unknown as Config
  if (config.tlsCert === undefined && config.tlsKey !== undefined) throw needsSetting('tlsKey', 'tlsCert')
  if (config.tlsKey === undefined && config.tlsCert !== undefined) throw needsSetting('tlsCert', 'tlsKey')
  if (config.backupTo !== undefined && !config.databaseUrl.startsWith('sqlite:')) {
    throw new SettingError(
      `${flagOf('backupTo')} (${variableOf('backupTo')}) is for SQLite; PostgreSQL archives its own log: docs/backup.md`,
    )
  }
  return Object.freeze(config)
}

/** `source` is the flag or the variable that the text comes from. */
function parseSetting(name: SettingName, text: string, source: string): Config[SettingName] {
  try {
    return SETTINGS[name].parse(text)
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    throw new SettingError(`${source} must be ${error.message}, got ${JSON.stringify(withoutPassword(text))}`)
  }
}

function needsSetting(present: SettingName, missing: SettingName): SettingError {
  return new SettingError(`${flagOf(present)} needs ${flagOf(missing)} (${variableOf(missing)}) as well`)
}

/** A service that names only a staging address is for staging: its new keys begin with pst_test_. */
export function environmentOf({ baseUrl, stagingBaseUrl }: Config): KeyEnvironment {
  return baseUrl === undefined && stagingBaseUrl !== undefined ? 'staging' : 'production'
}

/** Whether only programs on this machine can connect to a listener on this host. */
export function isLoopback(host: string): boolean {
  return host === '127.0.0.1' || host === '::1' || host === 'localhost'
}

/** The address at which this machine reaches a listener. */
export function reachableAddress(scheme: 'http' | 'https', host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `${scheme}://127.0.0.1:${port}`
  return host.includes(':') ? `${scheme}://[${host}]:${port}` : `${scheme}://${host}:${port}`
}

export function serviceAddress({ tlsCert, host }: Config, port: number): string {
  return reachableAddress(tlsCert === undefined ? 'http' : 'https', host, port)
}

function nonEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidValue('non-empty')
  return text
}

function optionalText(text: string): string | undefined {
  return text === '' ? undefined : text
}

function optionalPath(text: string): string | undefined {
  return text === '' ? undefined : resolve(text)
}

function portOrOff(text: string): number | 'off' {
  if (text === 'off') return 'off'
  if (!/^\d+$/.test(text) || Number(text) > 65_535) throw new InvalidValue('off or a port from 0 to 65535')
  return Number(text)
}

function daysOrOff(text: string): number | 'off' {
  if (text === 'off') return 'off'
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1)
    throw new InvalidValue('off or a number of days from 1 to 99999')
  return Number(text)
}

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidValue(`a whole number from ${min} to ${max}`)
    }
    return value
  }
}

const POSTGRES_ADDRESS = /^postgres(?:ql)?:\/\//

/**
 * Makes the path of a SQLite file absolute, because messages show it. A PostgreSQL address is parsed when the database is
 * opened: it may list several hosts with ports, which is not a valid URL.
 */
function databaseAddress(text: string): string {
  if (POSTGRES_ADDRESS.test(text)) return text
  // sqlite::memory: is refused: the readers of a store open their own connections, which would not see a database in memory.
  const path = /^sqlite:(?!:memory:$)(.+)$/s.exec(text)?.[1]
  if (path === undefined) {
    throw new InvalidValue('of the form sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE')
  }
  return `sqlite:${resolve(path)}`
}

function oneOf<const Value extends string>(...values: Value[]): (text: string) => Value {
  return (text) => {
    const match = values.find((value) => value === text)
    if (match === undefined) throw new InvalidValue(`one of ${values.join(', ')}`)
    return match
  }
}

function optionalBaseAddress(text: string): string | undefined {
  if (text === '') return undefined
  const address = URL.parse(text)
  if (address === null || !/^https?:$/.test(address.protocol) || !/^[^?#]+\/v1$/.test(text)) {
    throw new InvalidValue('an http or https address that ends in /v1')
  }
  return text
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.:[\]_-]+$/

/** Browsers send an origin with scheme and host in lower case, and with the port unless it is the default port. */
function isOrigin(text: string): boolean {
  return ORIGIN.test(text) && (!/^https?:/.test(text) || URL.parse(text)?.origin === text)
}

function originSet(text: string): ReadonlySet<string> | undefined {
  if (text.trim() === '') return undefined
  if (text.trim() === '*') return new Set(['*'])
  const origins = text.split(',').map((origin) => origin.trim())
  if (origins.every(isOrigin)) return new Set(origins)
  throw new InvalidValue(
    'origins without a path, separated by commas, such as https://shop.example or http://localhost:5173; or * alone',
  )
}

function proxyCount(text: string): number {
  if (/^(?:off|false)$/i.test(text)) return 0
  if (/^(?:on|true)$/i.test(text)) return 1
  if (/^\d{1,2}$/.test(text)) return Number(text)
  throw new InvalidValue('off, on, or a number of proxies from 0 to 99')
}

function timeZone(text: string): string {
  const name = timeZoneName(text)
  if (name === undefined)
    throw new InvalidValue('a time zone of the IANA database such as Europe/Berlin or UTC')
  return name
}

function day(text: string): Date {
  const midnight = parseDateTime(`${text}T00:00:00Z`)
  if (midnight === undefined) throw new InvalidValue('a day such as 2030-12-05')
  return new Date(midnight)
}
