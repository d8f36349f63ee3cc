const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

interface Step {
  readonly unit: 'time' | 'day' | 'month'
  /** In milliseconds, days or months, according to the unit. */
  readonly count: number
  readonly length: number
}

const time = (length: number): Step => ({ unit: 'time', count: length, length })
const days = (count: number): Step => ({ unit: 'day', count, length: count * DAY })
const months = (count: number): Step => ({ unit: 'month', count, length: count * 30 * DAY })

/** The steps that people expect on a time axis. */
const STEPS: readonly Step[] = [
  ...[1, 2, 5, 10, 15, 30].map((count) => time(count * SECOND)),
  ...[1, 2, 5, 10, 15, 30].map((count) => time(count * MINUTE)),
  ...[1, 2, 3, 6, 12].map((count) => time(count * HOUR)),
  ...[1, 2, 3, 4, 7, 14].map(days),
  ...[1, 2, 3, 6, 12, 24, 60, 120].map(months),
]

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const CLOCK_SECONDS = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric' })

/** Round moments of the local calendar between the two, about `most` at most. */
export function timeTicks(from: number, to: number, most: number) {
  const least = (to - from) / Math.max(1, most)
  const step = STEPS.find(({ length }) => length >= least) ?? months(1200)
  const ticks: { readonly at: number; readonly label: string }[] = []
  for (let at = roundDown(from, step); at <= to; at = nextMoment(at, step)) {
    if (at >= from) ticks.push({ at, label: labelOf(at, step) })
  }
  return ticks
}

/** The latest moment at or before `at` on which a step can begin. */
function roundDown(at: number, { unit, count }: Step): number {
  const date = new Date(at)
  if (unit === 'month') {
    const month = date.getFullYear() * 12 + date.getMonth()
    return new Date(0, month - (month % count) - 1900 * 12).getTime()
  }
  const midnight = date.setHours(0, 0, 0, 0)
  return unit === 'day' ? midnight : midnight + Math.floor((at - midnight) / count) * count
}

/** The calendar counts days and months, because their lengths differ. Every day begins with a moment. */
function nextMoment(at: number, { unit, count }: Step): number {
  const date = new Date(at)
  if (unit === 'month') return date.setMonth(date.getMonth() + count)
  if (unit === 'day') return date.setHours(24 * count, 0, 0, 0)
  return Math.min(at + count, date.setHours(24, 0, 0, 0))
}

function labelOf(at: number, { unit, length }: Step): string {
  if (unit === 'month') return MONTH.format(at)
  const moment = new Date(at)
  const isMidnight = moment.getHours() === 0 && moment.getMinutes() === 0 && moment.getSeconds() === 0
  if (unit === 'day' || isMidnight) return DATE.format(at)
  return (length < MINUTE ? CLOCK_SECONDS : CLOCK).format(at)
}
