import { describe, expect, test } from 'bun:test'
import type { MadeRequest } from './keyed-load.ts'
import { type LogRow, logContradictions } from './log-check.ts'

const chain = (...quantities: readonly number[]): LogRow[] =>
  quantities.map((after, index) => ({ before: quantities[index - 1] ?? 0, after }))
const update = (
  petId: number,
  after: number,
  began: number,
  ended: number,
  before?: number,
): MadeRequest => ({
  changes: [before === undefined ? { petId, after } : { petId, before, after }],
  began,
  ended,
})
/** Changes both pets to the same quantity. */
const both = (after: number, began: number, ended: number): MadeRequest => ({
  changes: [1, 2].map((petId) => ({ petId, after })),
  began,
  ended,
})

const initial = new Map([
  [1, 0],
  [2, 0],
])
const findings = (
  logs: readonly [LogRow[], LogRow[]],
  made: readonly MadeRequest[],
  lists: readonly (readonly [number, number])[] = [],
  unsure: readonly number[] = [],
) =>
  logContradictions({
    logs: new Map([...logs.entries()].map(([index, rows]) => [index + 1, rows])),
    initial,
    made,
    unsure: new Map([[1, new Set(unsure)]]),
    listings: lists.map((list) => ({
      quantities: new Map(list.map((quantity, index) => [index + 1, quantity])),
    })),
  })

describe('the check of requests against the log', () => {
  test.each([
    ['nothing', findings([[], []], [], [[0, 0]])],
    [
      'adjustments of both, one after the other',
      findings(
        [chain(3, 4), chain(3, 4)],
        [both(3, 1, 2), both(4, 3, 4)],
        [
          [0, 0],
          [3, 3],
          [4, 4],
        ],
      ),
    ],
    [
      'an update between them',
      findings(
        [chain(3, 5, 4), chain(3, 4)],
        [both(3, 1, 2), update(1, 5, 3, 4), both(4, 5, 6)],
        [
          [5, 3],
          [4, 4],
        ],
      ),
    ],
    [
      'concurrent requests, in any order',
      findings([chain(4, 3), chain(4, 3)], [both(3, 1, 9), both(4, 2, 8)], [[4, 4]]),
    ],
    [
      'a delta, which implies the quantity before',
      findings([chain(3, 8), []], [update(1, 3, 1, 2), update(1, 8, 3, 4, 3)]),
    ],
    ['either outcome of an unanswered request', findings([chain(3), []], [], [], [3, 4])],
    [
      'a list that was read during separate changes of both',
      findings(
        [chain(3), chain(4)],
        [update(1, 3, 1, 9), update(2, 4, 2, 8)],
        [
          [0, 4],
          [3, 0],
        ],
      ),
    ],
  ])('accepts %s', (_, found) => {
    expect(found).toEqual([])
  })

  test.each([
    ['a list with half of an adjustment', findings([chain(3), chain(3)], [both(3, 1, 2)], [[3, 0]])],
    [
      'a list with half of a later adjustment',
      findings([chain(3, 4), chain(3, 4)], [both(3, 1, 2), both(4, 3, 4)], [[4, 3]]),
    ],
    [
      'adjustments in another order for the other pet',
      findings([chain(3, 4), chain(4, 3)], [both(3, 1, 9), both(4, 2, 8)]),
    ],
    ['half of an adjustment in the log', findings([chain(3), []], [both(3, 1, 2)])],
    [
      'an update that was made twice',
      findings([chain(3, 4, 3), []], [update(1, 3, 1, 9), update(1, 4, 2, 8)]),
    ],
    [
      'a delta that was made twice',
      findings([chain(3, 8, 13), []], [update(1, 3, 1, 2), update(1, 8, 3, 4, 3)]),
    ],
    [
      'a change on another state',
      findings([chain(3, 4, 8), []], [update(1, 3, 1, 2), update(1, 4, 1, 9), update(1, 8, 3, 4, 3)]),
    ],
    ['a change without a request', findings([chain(3), []], [])],
    ['a gap', findings([[{ before: 2, after: 3 }], []], [update(1, 3, 1, 2)])],
    [
      'another order than that of the responses',
      findings([chain(4, 3), []], [update(1, 3, 1, 2), update(1, 4, 3, 4)]),
    ],
    [
      'a list that never existed',
      findings([chain(3), chain(4)], [update(1, 3, 1, 2), update(2, 4, 3, 4)], [[0, 4]]),
    ],
  ])('finds %s', (_, found) => {
    expect(found).not.toEqual([])
  })
})
