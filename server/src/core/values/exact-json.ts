/** Error messages show at most this many characters of a value. */
const MAX_VALUE_LENGTH = 40
/** Matches JSON with a fraction, an exponent or 16 digits in a row. A double represents all other numbers exactly. */
const MAY_BE_ROUNDED = /[0-9][.eE]|[0-9]{16}/
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

export type JsonObject = Readonly<Record<string, unknown>>

/** A JSON number that is kept as its source text. */
export class NumberText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * Parses JSON without rounding: 9007199254740993 and 1.00000000000000001 become `NumberText`. `keepsText` decides which
 * numbers become `NumberText`. It is not called if no number can be rounded.
 */
export function parseExactJson(text: string, keepsText = isRounded): unknown {
  if (!MAY_BE_ROUNDED.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && keepsText(value, context.source)
      ? new NumberText(context.source)
      : value,
  )
}

/**
 * Whether the double is an integer that differs from the number in the source, or is too large to be exact. A double
 * with a fraction counts as not rounded.
 */
function isRounded(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return true
  if (!Number.isInteger(value) || String(value) === source) return false
  if (!Number.isSafeInteger(value)) return true
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return false
  // The value is significant × 10^scale, so it is an integer only if the scale is not negative. A safe integer has at
  // most 16 digits, so the compared texts stay short.
  const scale = Number(exponent) - fraction.length + digits.length - significant.length
  return scale < 0 || significant + '0'.repeat(scale) !== String(Math.abs(value))
}

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText)
  )
}

/** Describes a value for an error message. Names the type, because "5" is not 5. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof NumberText) return shorten(value.text)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return `${quote(value)} (a string)`
  if (typeof value === 'boolean') return `${value} (a boolean)`
  return String(value)
}

export function quote(text: string): string {
  return JSON.stringify(shorten(text))
}

export function shorten(text: string): string {
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text
}
