const SHAPE =
  /^(\d{4}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?)(?:[Zz]|([+-](?:[01]\d|2[0-3]):[0-5]\d))$/
const FIRST = Date.parse('0000-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Reads an RFC 3339 date-time into milliseconds since the Unix epoch; what is finer is cut off. A day that is not
 * in the calendar is refused, and so is a time whose year in UTC has more than four digits.
 */
export function parseDateTime(text: string): number | undefined {
  const [, day, time, offset = 'Z'] = SHAPE.exec(text) ?? []
  if (day === undefined || time === undefined) return undefined
  // Date.parse takes February 30 for March 2.
  const midnight = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined
  const value = Date.parse(`${day}T${time}${offset}`)
  return value >= FIRST && value <= LAST ? value : undefined
}
