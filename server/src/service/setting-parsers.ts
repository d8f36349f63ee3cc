// How each kind of setting is read from text. What cannot be read throws SettingError.
import { resolve } from 'node:path'

/** A setting that cannot be used; the message says which, why, and what would do. */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}

export function nonEmpty(text: string): string {
  if (text.trim() === '') throw new SettingError('not empty')
  return text
}

export function optional(text: string): string | undefined {
  return text === '' ? undefined : text
}

export function portOrOff(text: string): number | 'off' {
  if (text === 'off') return 'off'
  if (!/^\d+$/.test(text) || Number(text) > 65_535) throw new SettingError('off or a port from 0 to 65535')
  return Number(text)
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new SettingError(`a whole number from ${min} to ${max}`)
    }
    return value
  }
}

/** Seconds with commas in between. */
export function seconds(text: string): readonly number[] {
  if (!/^\d{1,6}(,\d{1,6})*$/.test(text))
    throw new SettingError('whole seconds with commas in between, such as 5,30,120')
  return text.split(',').map(Number)
}

const POSTGRES_ADDRESS = /^postgres(?:ql)?:\/\//

/**
 * A path becomes an absolute one, so that whoever is told of it knows the place. An address of PostgreSQL is read where it
 * is opened: a list of hosts with their ports is no URL.
 */
export function databaseAddress(text: string): string {
  const isPostgres = POSTGRES_ADDRESS.test(text)
  if (!isPostgres && !/^sqlite:.+/.test(text)) {
    throw new SettingError('of the form sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE')
  }
  return isPostgres || text === 'sqlite::memory:' ? text : `sqlite:${resolve(text.slice('sqlite:'.length))}`
}

export function oneOf<const Value extends string>(...values: Value[]): (text: string) => Value {
  return (text) => {
    const found = values.find((value) => value === text)
    if (found === undefined) throw new SettingError(`one of ${values.join(', ')}`)
    return found
  }
}

export function optionalBaseAddress(text: string): string | undefined {
  if (text === '') return undefined
  const address = URL.parse(text)
  if (address === null || !/^https?:$/.test(address.protocol) || !address.pathname.endsWith('/v1')) {
    throw new SettingError('an http or https address that ends in /v1')
  }
  return text
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.:[\]_-]+$/

/** What a browser sends as Origin: the scheme and the host in lower case, the port where it is not the usual one. */
function isOrigin(text: string): boolean {
  return ORIGIN.test(text) && (!/^https?:/.test(text) || URL.parse(text)?.origin === text)
}

/** `undefined` where there are none; `*` alone is all. */
export function origins(text: string): ReadonlySet<string> | undefined {
  if (text.trim() === '') return undefined
  const named = text.split(',').map((origin) => origin.trim())
  if (named.length === 1 && named[0] === '*') return new Set(named)
  if (named.every(isOrigin)) return new Set(named)
  throw new SettingError(
    'origins such as https://shop.example or http://localhost:5173, without a path, with commas between, or * alone',
  )
}

export function proxies(text: string): number {
  const named: Readonly<Record<string, number>> = { off: 0, false: 0, on: 1, true: 1 }
  const value = named[text.toLowerCase()] ?? (/^\d{1,2}$/.test(text) ? Number(text) : undefined)
  if (value === undefined) throw new SettingError('off, on, or a number of proxies up to 99')
  return value
}

export function day(text: string): Date {
  const date = new Date(`${text}T00:00:00Z`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || Number.isNaN(date.getTime())) {
    throw new SettingError('a day such as 2030-12-05')
  }
  return date
}
