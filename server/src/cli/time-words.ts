const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DURATION = /^(\d{1,6})([smhd])$/

/** `30d`, `12h`, `15m` or `90s`, in milliseconds. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = DURATION.exec(text) ?? []
  return count === undefined || unit === undefined ? undefined : Number(count) * (UNITS[unit] ?? 0)
}

/** A duration from now, or a day or time. */
export function parseWhen(text: string, now: number): number | undefined {
  const duration = parseDuration(text)
  return duration === undefined ? parseTime(text) : now + duration
}

/** A day or time in ISO 8601, in UTC where it names no zone. */
export function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/.test(text)) return undefined
  const time = Date.parse(/T.*\d$/.test(text) && !/[+-]\d{2}:\d{2}$/.test(text) ? `${text}Z` : text)
  return Number.isNaN(time) ? undefined : time
}
