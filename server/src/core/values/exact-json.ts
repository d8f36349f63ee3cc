/** The number of characters of a value that a message shows. */
const MAX_SHOWN = 40
/** Matches texts with a fraction, an exponent or 16 digits. Other numbers fit a double exactly. */
const MAY_CHANGE = /[0-9][.eE]|[0-9]{16}/
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
 * Parses JSON without rounding: 9007199254740993 and 1.00000000000000001 become `NumberText`. `isKept` decides for each
 * number whether its text is kept. It is asked only if the text contains a fraction, an exponent or 16 digits.
 */
export function parseExactJson(text: string, isKept = isRounded): unknown {
  if (!MAY_CHANGE.test(text)) return JSON.parse(text)
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && isKept(value, context.source)
      ? new NumberText(context.source)
      : value,
  )
}

/** Whether the double is an integer but the text is not that integer. */
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

/** A value as an error message shows it. The type is named because "5" is not 5. */
export function shown(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof NumberText) return shortened(value.text)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return `${quoted(value)} (a string)`
  if (typeof value === 'boolean') return `${value} (a boolean)`
  return String(value)
}

export function quoted(text: string): string {
  return JSON.stringify(shortened(text))
}

export function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
