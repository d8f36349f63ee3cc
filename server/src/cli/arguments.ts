// How commands declare and parse their flags and arguments.
import { Command, CommanderError } from 'commander'
import { parseDateTime } from '../core/values/rfc3339.ts'
import { flagOf, SETTINGS, type SettingName, variableOf } from '../service/config.ts'
import { type OpenedStore, withStore } from './with-store.ts'

export type SettingFlags = Partial<Record<SettingName, string>>

export interface ConfirmFlags extends SettingFlags {
  readonly yes?: true
}

/** A command with methods for the flags that several commands have. */
export class PetstoreCommand extends Command {
  override createCommand(name?: string): PetstoreCommand {
    return new PetstoreCommand(name)
  }

  settings(...names: readonly SettingName[]): this {
    for (const name of names) {
      const { fallback, help } = SETTINGS[name]
      this.option(`${flagOf(name)} <value>`, `${help} (${variableOf(name)}, default ${fallback || 'none'})`)
    }
    return this
  }

  databaseSettings(): this {
    return this.settings('databaseUrl')
  }

  /** Adds the flags that name the database, and runs the work with that database. */
  storeAction<Arguments extends readonly unknown[]>(
    work: (opened: OpenedStore, ...args: Arguments) => Promise<void>,
  ): this {
    return this.databaseSettings().action((...args: [...Arguments]) =>
      withStore(this.opts(), 'require_current_tables', (opened) => work(opened, ...args)),
    )
  }

  /** Adds `--yes`, which is required without a terminal. `effect` is like "removes the pet". */
  confirmOption(effect: string): this {
    return this.option('--yes', 'do not ask for confirmation').hook('preAction', () => {
      const { yes, dryRun } = this.opts()
      if (yes === true || dryRun === true || process.stdin.isTTY) return
      throwUsageError(`there is no terminal to ask for confirmation; --yes ${effect} without asking`)
    })
  }
}

export const EXIT_USAGE_ERROR = 2

export function throwUsageError(message: string): never {
  throw new CommanderError(EXIT_USAGE_ERROR, 'petstore.usageError', message)
}

export function choiceParser<Word extends string>(
  flag: string,
  words: readonly Word[],
): (text: string) => Word {
  return (text) =>
    words.find((word) => word === text) ??
    throwUsageError(`${flag} must be one of ${words.join(', ')}, got "${text}"`)
}

/** Parses a comma-separated list of the words, or `none`. */
export function listParser<Word extends string>(
  flag: string,
  words: readonly Word[],
): (text: string) => Word[] {
  return (text) => {
    if (text === 'none') return []
    const names = text.split(',').map((name) => name.trim())
    const areAllKnown = names.every((name) => words.some((word) => word === name))
    if (areAllKnown) return words.filter((word) => names.includes(word))
    return throwUsageError(`${flag} must be none or a comma-separated list of ${words.join()}, got "${text}"`)
  }
}

export function wholeNumberParser(
  flag: string,
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    return throwUsageError(`${flag} must be a whole number ${range}, got "${text}"`)
  }
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `30d`, `12h`, `15m` or `90s` into milliseconds. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const unitMs = UNIT_MS[unit]
  return unitMs === undefined ? undefined : Number(count) * unitMs
}

/** Returns the time that a flag names. A value such as `90d` is relative to `now`, the current time of the database. */
export type TimeResolver = (now: number) => number

/** Parses a day, a time, or a duration before or after now. */
export function timeParser(direction: 'past' | 'future', flag: string): (text: string) => TimeResolver {
  const sign = direction === 'past' ? -1 : 1
  return (text) => {
    const duration = parseDuration(text)
    const timeAt = (now: number) => {
      const time = duration === undefined ? parseTime(text) : now + sign * duration
      if (time === undefined)
        return throwUsageError(`${flag} must be like 90d, 12h or 2027-01-31, got "${text}"`)
      const isInDirection = direction === 'past' ? time <= now : time > now
      return isInDirection ? time : throwUsageError(`${flag} must be in the ${direction}, got "${text}"`)
    }
    // Reports a wrong argument before the database is opened.
    timeAt(Date.now())
    return timeAt
  }
}

const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/

/** Parses ISO 8601. A time without a zone is in UTC. */
function parseTime(text: string): number | undefined {
  const match = ISO_TIME.exec(text)
  if (match === null) return undefined
  const [, day, hoursAndMinutes = '00:00', seconds = ':00', zone = 'Z'] = match
  return parseDateTime(`${day}T${hoursAndMinutes}${seconds}${zone}`)
}
