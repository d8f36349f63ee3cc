import type { KeyEnvironment } from './core/api-key.ts'

/** A setting that cannot be used; the message says which, why, and what would do. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}

export interface Config {
  readonly host: string
  readonly port: number
  readonly databaseUrl: string
  readonly environment: KeyEnvironment
  readonly baseUrl: string
  readonly stagingBaseUrl: string
  /** How many of our own proxies stand in front; X-Forwarded-For is believed that far. */
  readonly trustProxy: number
  readonly anonymousPerMinute: number
  readonly petSunset: Date
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
    help: 'where the data is: sqlite:PATH',
    parse: matching(/^sqlite:.+/, 'of the form sqlite:PATH'),
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
}

export type SettingName = keyof typeof SETTINGS
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

/** `--trust-proxy` for `TRUST_PROXY`. */
export function flagOf(name: SettingName): string {
  return `--${SETTINGS[name].variable.toLowerCase().replaceAll('_', '-')}`
}

/** A flag wins over the environment, and that over the default. An empty variable counts as not set. */
export function readConfig(
  flags: Readonly<Partial<Record<SettingName, string>>>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const read = <Name extends SettingName>(name: Name): Config[Name] => {
    const setting = SETTINGS[name]
    const [text, source] =
      flags[name] !== undefined
        ? [flags[name], flagOf(name)]
        : [environment[setting.variable] || setting.fallback, setting.variable]
    try {
      return setting.parse(text)
    } catch (error) {
      if (error instanceof SettingError) {
        throw new SettingError(`${source} must be ${error.message}, got ${JSON.stringify(text)}`)
      }
      throw error
    }
  }
  return Object.freeze({
    host: read('host'),
    port: read('port'),
    databaseUrl: read('databaseUrl'),
    environment: read('environment'),
    baseUrl: read('baseUrl'),
    stagingBaseUrl: read('stagingBaseUrl'),
    trustProxy: read('trustProxy'),
    anonymousPerMinute: read('anonymousPerMinute'),
    petSunset: read('petSunset'),
  })
}

function nonEmpty(text: string): string {
  if (text.trim() === '') throw new SettingError('not empty')
  return text
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new SettingError(`a whole number from ${least} to ${most}`)
    }
    return value
  }
}

function matching(pattern: RegExp, description: string): (text: string) => string {
  return (text) => {
    if (!pattern.test(text)) throw new SettingError(description)
    return text
  }
}

function oneOf<const Value extends string>(...values: Value[]): (text: string) => Value {
  return (text) => {
    const found = values.find((value) => value === text)
    if (found === undefined) throw new SettingError(`one of ${values.join(', ')}`)
    return found
  }
}

function baseAddress(text: string): string {
  const address = URL.parse(text)
  if (address === null || !/^https?:$/.test(address.protocol) || !address.pathname.endsWith('/v1')) {
    throw new SettingError('an http or https address that ends in /v1')
  }
  return text
}

function proxies(text: string): number {
  const named: Readonly<Record<string, number>> = { off: 0, false: 0, on: 1, true: 1 }
  const value = named[text.toLowerCase()] ?? (/^\d{1,2}$/.test(text) ? Number(text) : undefined)
  if (value === undefined) throw new SettingError('off, on, or a number of proxies up to 99')
  return value
}

function day(text: string): Date {
  const date = new Date(`${text}T00:00:00Z`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(date.getTime())) {
    throw new SettingError('a day such as 2030-12-05')
  }
  return date
}
