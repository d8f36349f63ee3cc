/** The measurements of one slice of a long run. */
export interface Slice {
  /** Since the start of the load, at the end of the slice. */
  readonly atSeconds: number
  readonly pace: 'steady' | 'flat-out'
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly residentBytes: number
  readonly handles: number
  /** Shares of one core. */
  readonly serverCpu: number
  readonly loadCpu: number
  readonly streams: number
  readonly slowReads: number
}

export interface LongRunResults {
  readonly store: 'SQLite' | 'PostgreSQL'
  readonly minutes: number
  readonly seed: number
  readonly pets: number
  readonly offeredPerSecond: number
  readonly began: string
  readonly environment: Readonly<Record<string, string>>
  readonly slices: readonly Slice[]
  /** Before the load, and after all clients have disconnected. */
  readonly handlesBefore: number
  readonly handlesAfter: number
  readonly updatesStored: number
  readonly surprises: Readonly<Record<string, number>>
}

/** One guarantee, met or not. */
export interface Check {
  readonly what: string
  readonly atBeginning: string
  readonly atEnd: string
  readonly wanted: string
  readonly isMet: boolean
}

/** The first fifth is warm-up; of the rest, the first quarter is compared with the last. */
const WARM_UP = 1 / 5
const COMPARED = 1 / 4
const MAX_CHANGE = 0.1
/** Streams and slow readers come and go: a few more handles at one moment are no leak. */
const HANDLES_TO_AND_FRO = 4

export function warmUpSeconds({ minutes }: Pick<LongRunResults, 'minutes'>): number {
  return minutes * 60 * WARM_UP
}

export function titleOf({ minutes, store }: Pick<LongRunResults, 'minutes' | 'store'>): string {
  return `${minutes} minute${minutes === 1 ? '' : 's'} of mixed load on ${store}`
}

export function checksOf(results: LongRunResults): Check[] {
  const { slices, handlesBefore, handlesAfter, offeredPerSecond, surprises } = results
  const warm = slices.filter(({ atSeconds }) => atSeconds > warmUpSeconds(results))
  const compare = (from: readonly Slice[], pick: (slice: Slice) => number) => {
    const size = Math.max(1, Math.floor(from.length * COMPARED))
    return [median(from.slice(0, size).map(pick)), median(from.slice(-size).map(pick))] as const
  }
  const steady = warm.filter(({ pace }) => pace === 'steady')
  const flatOut = warm.filter(({ pace }) => pace === 'flat-out')
  const [capacityThen, capacityNow] = compare(flatOut, ({ requestsPerSecond }) => requestsPerSecond)
  const perCore = ({ requestsPerSecond, serverCpu }: Slice) => requestsPerSecond / serverCpu
  const [workThen, workNow] = compare(flatOut, perCore)
  const [rateThen, rateNow] = compare(steady, ({ requestsPerSecond }) => requestsPerSecond)
  const [memoryThen, memoryNow] = compare(warm, ({ residentBytes }) => residentBytes)
  const [handlesThen, handlesNow] = compare(warm, ({ handles }) => handles)
  const surprising = Object.values(surprises).reduce((sum, count) => sum + count, 0)
  return [
    {
      what: 'requests a second, as fast as it can',
      atBeginning: count(capacityThen),
      atEnd: signed(capacityThen, capacityNow, count),
      wanted: 'at most 10 % less',
      isMet: capacityNow >= capacityThen * (1 - MAX_CHANGE),
    },
    {
      what: 'requests for each second of processor time',
      atBeginning: count(workThen),
      atEnd: signed(workThen, workNow, count),
      wanted: 'at most 10 % less',
      isMet: workNow >= workThen * (1 - MAX_CHANGE),
    },
    {
      what: `requests a second, of ${count(offeredPerSecond)} offered`,
      atBeginning: count(rateThen),
      atEnd: signed(rateThen, rateNow, count),
      wanted: 'at most 10 % less',
      isMet: rateNow >= rateThen * (1 - MAX_CHANGE),
    },
    {
      what: 'resident memory',
      atBeginning: megabytes(memoryThen),
      atEnd: signed(memoryThen, memoryNow, megabytes),
      wanted: 'at most 10 % more',
      isMet: memoryNow <= memoryThen * (1 + MAX_CHANGE),
    },
    {
      what: 'open handles under load',
      atBeginning: count(handlesThen),
      atEnd: count(handlesNow),
      wanted: 'no more',
      isMet: handlesNow <= handlesThen + HANDLES_TO_AND_FRO,
    },
    {
      what: 'open handles before and after the load',
      atBeginning: count(handlesBefore),
      atEnd: count(handlesAfter),
      wanted: 'no more',
      isMet: handlesAfter <= handlesBefore + HANDLES_TO_AND_FRO,
    },
    {
      what: 'answers that a request should not have got',
      atBeginning: '-',
      atEnd: count(surprising),
      wanted: 'none',
      isMet: surprising === 0,
    },
  ]
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

function signed(before: number, now: number, shown: (value: number) => string): string {
  const percent = (now / before - 1) * 100
  return `${shown(now)} (${percent < 0 ? '' : '+'}${percent.toFixed(1)} %)`
}
