const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MONTH = 30 * DAY

const TO_THE_MINUTE = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const
const THIS_YEAR = new Intl.DateTimeFormat('en-GB', TO_THE_MINUTE)
const ANY_YEAR = new Intl.DateTimeFormat('en-GB', { ...TO_THE_MINUTE, year: 'numeric' })
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' })
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * DAY],
  ['month', MONTH],
  ['hour', HOUR],
  ['minute', MINUTE],
]

/** The moment in local time, to the minute; with the year unless it is this one. */
export function momentWords(at: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date().getFullYear()
  return (isThisYear ? THIS_YEAR : ANY_YEAR).format(at)
}

/** The moment in local time, to the second and with its time zone. */
export function exactMomentWords(at: number): string {
  return EXACT.format(at)
}

/** How long ago, in the largest unit that fits. Days are those of the calendar: yesterday is not 24 hours ago. */
export function agoWords(at: number, now: number): string {
  const ago = now - at
  if (ago >= DAY && ago < MONTH) return RELATIVE.format(-daysBetween(at, now), 'day')
  for (const [unit, length] of UNITS) {
    if (ago >= length) return RELATIVE.format(-Math.floor(ago / length), unit)
  }
  return 'just now'
}

function daysBetween(at: number, now: number): number {
  const [from, to] = [new Date(at).setHours(0, 0, 0, 0), new Date(now).setHours(0, 0, 0, 0)]
  // A day may have 23 or 25 hours.
  return Math.round((to - from) / DAY)
}

/** How long until then. If it is more than two minutes away, also the time of day. */
export function untilWords(at: number, now: number): string {
  const left = Math.max(0, at - now)
  const seconds = Math.ceil(left / SECOND)
  if (seconds <= 120) return `in ${seconds} s`
  const minutes = Math.ceil(left / MINUTE)
  if (minutes < 60) return `in ${minutes} min, at ${CLOCK.format(at)}`
  return `in ${Math.floor(minutes / 60)} h ${minutes % 60} min, at ${CLOCK.format(at)}`
}

/** When a local day begins, or the day `daysAfter` it; `undefined` if the text is not a day. */
export function startOfDay(day: string, daysAfter = 0): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []
  const start = new Date(Number(year), Number(month) - 1, Number(date) + daysAfter)
  return year === undefined || Number.isNaN(start.getTime()) ? undefined : start.toISOString()
}
