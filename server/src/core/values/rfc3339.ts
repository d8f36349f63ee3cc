const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?)(?:[Zz]|([+-](?:[01]\d|2[0-3]):[0-5]\d))$/
const EARLIEST = Date.parse('0000-01-01T00:00:00Z')
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/** Parses RFC 3339 into milliseconds. Rejects days that do not exist and years that do not have four digits in UTC. */
export function parseDateTime(text: string): number | undefined {
  const [, day, time, offset = 'Z'] = DATE_TIME.exec(text) ?? []
  if (day === undefined || time === undefined) return undefined
  // Date.parse would accept February 30 and read it as March 2.
  const midnight = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined
  const value = Date.parse(`${day}T${time}${offset}`)
  return value >= EARLIEST && value <= LATEST ? value : undefined
}
