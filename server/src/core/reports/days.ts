/** The times from `since` on and before `until`. */
export interface TimeRange {
  readonly since: number
  readonly until: number
}

export interface DayRange extends TimeRange {
  /** Such as `2026-03-29`. */
  readonly day: string
}

/** The day that contains the time. It has 23 or 25 hours if the clocks change. */
export function dayOf(time: number, timeZone: string): DayRange {
  const date = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timeZone).toPlainDate()
  return rangeOf(date, timeZone)
}

/** Splits a range at the starts of days. The first and the last part may be a part of a day. */
export function* daysIn({ since, until }: TimeRange, timeZone: string): Generator<DayRange> {
  let date = Temporal.Instant.fromEpochMilliseconds(since).toZonedDateTimeISO(timeZone).toPlainDate()
  for (let start = since; start < until; ) {
    const { day, until: end } = rangeOf(date, timeZone)
    // A time zone that crosses the date line skips a day.
    if (end > start) yield { day, since: start, until: Math.min(end, until) }
    start = end
    date = date.add({ days: 1 })
  }
}

/** A day without a midnight begins when the clocks have been set forward. */
function rangeOf(date: Temporal.PlainDate, timeZone: string): DayRange {
  return {
    day: date.toString(),
    since: date.toZonedDateTime(timeZone).epochMilliseconds,
    until: date.add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds,
  }
}

/** The name of the time zone as IANA writes it; `undefined` if there is none. An offset such as +01:00 is no zone. */
export function timeZoneName(text: string): string | undefined {
  if (!/^[A-Za-z]/.test(text)) return undefined
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}
