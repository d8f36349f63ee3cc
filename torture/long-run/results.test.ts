import { describe, expect, test } from 'bun:test'
import { checksOf, type LongRunResults, type Slice } from './results.ts'

/** A steady run of 20 minutes, except for what `change` does to a slice; `part` goes from 0 to 1. */
function steadyRun(
  change: (part: number) => Partial<Slice> = () => ({}),
  facts: Partial<LongRunResults> = {},
): LongRunResults {
  const slices = Array.from(
    { length: 120 },
    (_, index): Slice => ({
      atSeconds: 10 * (index + 1),
      pace: index % 3 === 2 ? 'flat-out' : 'steady',
      requestsPerSecond: index % 3 === 2 ? 10_000 : 6_000,
      p50Ms: 1,
      p99Ms: 5,
      residentBytes: 100_000_000,
      handles: 47,
      serverCpu: 1,
      loadCpu: 0.4,
      streams: 12,
      slowReads: 9,
      ...change(index / 119),
    }),
  )
  return {
    store: 'SQLite',
    minutes: 20,
    seed: 1,
    pets: 3_000,
    offeredPerSecond: 6_000,
    began: 'today',
    environment: {},
    slices,
    handlesBefore: 12,
    handlesAfter: 12,
    updatesStored: 1,
    surprises: {},
    ...facts,
  }
}

const unmet = (results: LongRunResults) =>
  checksOf(results).flatMap(({ what, isMet }) => (isMet ? [] : [what.split(',')[0]]))

describe('a long run fails', () => {
  test.each<[string, LongRunResults, readonly string[]]>([
    [
      'if memory grows',
      steadyRun((part) => ({ residentBytes: 1e8 * (1 + 0.2 * part) })),
      ['resident memory'],
    ],
    [
      'if it slows down',
      steadyRun((part) => ({ requestsPerSecond: 10_000 - 2_500 * part })),
      ['requests a second', 'requests for each second of processor time', 'requests a second'],
    ],
    [
      'if handles are not released',
      steadyRun((part) => ({ handles: Math.round(47 + 10 * part) }), { handlesAfter: 22 }),
      ['open handles under load', 'open handles before and after the load'],
    ],
    [
      'if a response is wrong',
      steadyRun(undefined, { surprises: { 'read answered 500': 1 } }),
      ['answers that a request should not have got'],
    ],
    ['unless everything stays constant after the warm-up', steadyRun(), []],
    [
      'unless it only changed during the warm-up',
      steadyRun((part) => (part < 0.2 ? { residentBytes: 5e7, requestsPerSecond: 20_000 } : {})),
      [],
    ],
  ])('%s', (_, results, expected) => {
    expect(unmet(results)).toEqual([...expected])
  })
})
