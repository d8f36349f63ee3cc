// How commands declare and parse their flags and arguments.
import { Command, CommanderError, Option } from 'commander'
import { parseInt64 } from '../core/values/int64.ts'
import { flagOf, SETTINGS, type SettingName, variableOf } from '../service/config.ts'

export type SettingFlags = Partial<Record<SettingName, string>>

export interface JsonFlags extends SettingFlags {
  readonly json?: true
}

export interface ConfirmFlags extends SettingFlags {
  readonly yes?: true
}

export function setting(name: SettingName): Option {
  const { fallback, help } = SETTINGS[name]
  return new Option(`${flagOf(name)} <value>`, `${help} (${variableOf(name)}, default ${fallback || 'none'})`)
}

/** A command with methods for the flags that several commands have. */
export class PetstoreCommand extends Command {
  override createCommand(name?: string): PetstoreCommand {
    return new PetstoreCommand(name)
  }

  settings(...names: readonly SettingName[]): this {
    for (const name of names) this.addOption(setting(name))
    return this
  }

  databaseSettings(): this {
    return this.settings('databaseUrl', 'data')
  }

  /** See JsonFlags. */
  jsonOption(): this {
    return this.option('--json', 'print JSON')
  }

  /** See ConfirmFlags. `effect` is what the command does. Without a terminal, nobody could confirm. */
  confirmOption(effect: string): this {
    return this.option('--yes', 'do not ask for confirmation').hook('preAction', () => {
      const { yes, dryRun } = this.opts()
      if (yes === true || dryRun === true || process.stdin.isTTY) return
      wrongUse(`there is no terminal to ask for confirmation; --yes ${effect} without asking`)
    })
  }
}

/** Fails with the exit code for wrong use. */
export function wrongUse(message: string): never {
  throw new CommanderError(1, 'petstore.wrongUse', message)
}

const idParser = (name: string) => (text: string) =>
  parseInt64(text) ??
  wrongUse(
    `${name} must be an integer from -9223372036854775808 to 9223372036854775807 in plain digits, got "${text}"`,
  )

export const parsePetId = idParser('petId')
export const parseOrderId = idParser('orderId')
export const parseWebhookId = idParser('webhookId')

export function oneOf<Word extends string>(flag: string, words: readonly Word[]): (text: string) => Word {
  return (text) =>
    words.find((word) => word === text) ??
    wrongUse(`${flag} must be one of ${words.join(', ')}, got "${text}"`)
}

/** Parses names separated by commas, or the keyword for no name or for all names. */
export function listOf<Word extends string>(
  flag: string,
  words: readonly Word[],
  keyword: 'none' | 'all' = 'none',
): (text: string) => Word[] {
  return (text) => {
    if (text === keyword) return keyword === 'all' ? [...words] : []
    const names = text.split(',').map((name) => name.trim())
    if (names.every((name) => words.some((word) => word === name))) {
      return words.filter((word) => names.includes(word))
    }
    return wrongUse(`${flag} must be ${keyword} or a comma-separated list of ${words.join()}, got "${text}"`)
  }
}

/** The message names `min` and `max` only if they are given. */
export function wholeNumber(flag: string, min?: number, max?: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= (min ?? 0) && value <= (max ?? value))
      return value
    return wrongUse(`${flag} must be a whole number${rangeText(min, max)}, got "${text}"`)
  }
}

function rangeText(min: number | undefined, max: number | undefined): string {
  if (max !== undefined) return ` from ${min ?? 0} to ${max}`
  return min === undefined ? '' : ` of ${min} or more`
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `30d`, `12h`, `15m` or `90s` into milliseconds. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return count === undefined || unit === undefined ? undefined : Number(count) * (UNITS[unit] ?? 0)
}

/** A time that may be relative to the clock of the database, which is known when the database is open. */
export type When = (now: number) => number

/** Parses a day, a time, or a duration before or after now. */
export function timeIn(direction: 'past' | 'future', flag: string): (text: string) => When {
  return (text) => {
    const duration = parseDuration(text)
    const fixedTime = parseTime(text)
    const when = (now: number) => {
      const time = duration === undefined ? fixedTime : direction === 'past' ? now - duration : now + duration
      if (time === undefined) return wrongUse(`${flag} must be like 90d, 12h or 2027-01-31, got "${text}"`)
      const isInDirection = direction === 'past' ? time <= now : time > now
      return isInDirection ? time : wrongUse(`${flag} must be in the ${direction}, got "${text}"`)
    }
    // Reports a wrong argument before the database is opened.
    when(Date.now())
    return when
  }
}

/** Parses ISO 8601. A time without a zone is in UTC. */
function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/.test(text)) return undefined
  const time = Date.parse(/T.*\d$/.test(text) && !/[+-]\d{2}:\d{2}$/.test(text) ? `${text}Z` : text)
  return Number.isNaN(time) ? undefined : time
}

const ADDRESS_WITH_PASSWORD = /\bpostgres(?:ql)?:\/\/[^\s/@:]*:[^\s@]+@|[?&]password=/i

export function hasPassword(args: readonly string[]): boolean {
  return args.some((argument) => ADDRESS_WITH_PASSWORD.test(argument))
}
