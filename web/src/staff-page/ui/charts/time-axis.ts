const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export interface TimeTick {
  readonly at: number
  readonly label: string
}

type Unit = 'time' | 'day' | 'month'

interface Step {
  readonly unit: Unit
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
export function timeTicks(from: number, to: number, most: number): readonly TimeTick[] {
  const least = (to - from) / Math.max(1, most)
  const step = STEPS.find(({ length }) => length >= least) ?? months(1200)
  const ticks: TimeTick[] = []
  for (const at of moments(step, from)) {
    if (at > to) break
    if (at >= from) ticks.push({ at, label: labelOf(at, step) })
  }
  return ticks
}

/** Endless; starts at or before `from`. The calendar counts days and months, because their lengths differ. */
function* moments({ unit, count }: Step, from: number): Generator<number, never, undefined> {
  const start = new Date(from)
  const [year, month, day] = [start.getFullYear(), start.getMonth(), start.getDate()]
  if (unit === 'time') {
    for (let offset = 0; ; offset++) {
      const midnight = new Date(year, month, day + offset).getTime()
      const end = new Date(year, month, day + offset + 1).getTime()
      const first = midnight + Math.max(0, Math.floor((from - midnight) / count)) * count
      for (let at = first; at < end; at += count) yield at
    }
  }
  const firstMonth = unit === 'month' ? Math.floor((year * 12 + month) / count) * count : 0
  for (let index = 0; ; index += count) {
    yield unit === 'day'
      ? new Date(year, month, day + index).getTime()
      : new Date(0, firstMonth + index - 1900 * 12, 1).getTime()
  }
}

function labelOf(at: number, { unit, length }: Step): string {
  if (unit === 'month') return MONTH.format(at)
  const moment = new Date(at)
  const isMidnight = moment.getHours() === 0 && moment.getMinutes() === 0 && moment.getSeconds() === 0
  if (unit === 'day' || isMidnight) return DATE.format(at)
  return (length < MINUTE ? CLOCK_SECONDS : CLOCK).format(at)
}
