// What the words on the command line mean. What means nothing is wrong use, which has an exit code of its own.
import { CommanderError } from 'commander'
import { parseInt64 } from '../core/values/int64.ts'

export function wrongUse(message: string): never {
  throw new CommanderError(1, 'petstore.wrongUse', message)
}

const idReader = (name: string) => (text: string) =>
  parseInt64(text) ??
  wrongUse(
    `${name} must be an integer from -9223372036854775808 to 9223372036854775807 in plain digits, got "${text}"`,
  )

export const readPetId = idReader('petId')
export const readOrderId = idReader('orderId')
export const readWebhookId = idReader('webhookId')

export function oneOf<Word extends string>(flag: string, words: readonly Word[]): (text: string) => Word {
  return (text) =>
    words.find((word) => word === text) ??
    wrongUse(`${flag} must be one of ${words.join(', ')}, got "${text}"`)
}

/** Names with commas between, in any order; or the one word that stands for no name, or for every one. */
export function listOf<Word extends string>(
  flag: string,
  words: readonly Word[],
  oneWord: 'none' | 'all' = 'none',
): (text: string) => Word[] {
  return (text) => {
    if (text === oneWord) return oneWord === 'all' ? [...words] : []
    const named = text.split(',').map((name) => name.trim())
    const unknown = named.find((name) => !words.some((word) => word === name))
    if (unknown === undefined) return words.filter((word) => named.includes(word))
    return wrongUse(
      `${flag} must be ${oneWord}, or some of ${words.join()} with commas between, got "${text}"`,
    )
  }
}

/** `min` is told where it is given. */
export function wholeNumber(flag: string, min?: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= (min ?? 0)) return value
    return wrongUse(
      `${flag} must be a whole number${min === undefined ? '' : ` of ${min} or more`}, got "${text}"`,
    )
  }
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `30d`, `12h`, `15m` or `90s`, in milliseconds. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return count === undefined || unit === undefined ? undefined : Number(count) * (UNITS[unit] ?? 0)
}

/** A day or time, or a duration: counted on from now, or back. */
export function readWhen(flag: string, text: string, now: number, direction: 'on' | 'back'): number {
  const duration = parseDuration(text)
  const time = duration === undefined ? parseTime(text) : direction === 'on' ? now + duration : now - duration
  return time ?? wrongUse(`${flag} must be like 90d, 12h or 2027-01-31, got "${text}"`)
}

/** In ISO 8601, in UTC where it names no zone. */
function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/.test(text)) return undefined
  const time = Date.parse(/T.*\d$/.test(text) && !/[+-]\d{2}:\d{2}$/.test(text) ? `${text}Z` : text)
  return Number.isNaN(time) ? undefined : time
}

const ADDRESS_WITH_PASSWORD = /\bpostgres(?:ql)?:\/\/[^\s/@:]*:[^\s@]+@|[?&]password=/i

/** What to tell an operator who gives a password as an argument; `undefined` where there is none. */
export function passwordInArguments(args: readonly string[]): string | undefined {
  return args.some((argument) => ADDRESS_WITH_PASSWORD.test(argument))
    ? 'everybody on this machine can read the password in the arguments; give the address in DATABASE_URL instead'
    : undefined
}
