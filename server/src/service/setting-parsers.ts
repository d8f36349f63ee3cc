// How each kind of setting is read from text. What cannot be read throws SettingError.

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

const POSTGRES_ADDRESS = /^postgres(?:ql)?:\/\//

export function databaseAddress(text: string): string {
  const isPostgres = POSTGRES_ADDRESS.test(text) && URL.parse(text) !== null
  if (!isPostgres && !/^sqlite:.+/.test(text)) {
    throw new SettingError('of the form sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE')
  }
  return text
}

export function oneOf<const Value extends string>(...values: Value[]): (text: string) => Value {
  return (text) => {
    const found = values.find((value) => value === text)
    if (found === undefined) throw new SettingError(`one of ${values.join(', ')}`)
    return found
  }
}

export function baseAddress(text: string): string {
  const address = URL.parse(text)
  if (address === null || !/^https?:$/.test(address.protocol) || !address.pathname.endsWith('/v1')) {
    throw new SettingError('an http or https address that ends in /v1')
  }
  return text
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
