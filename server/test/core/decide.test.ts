import { describe, expect, test } from 'bun:test'
import type { ChangeOrigin } from '../../src/core/stock/change-origin.ts'
import type { CommandOf, Result } from '../../src/core/stock/command.ts'
import { decide } from '../../src/core/stock/decide.ts'
import type { EntryState, LockedEntry } from '../../src/core/stock/inventory.ts'
import type { LogRecord } from '../../src/core/stock/stock-draft.ts'
import { MAX_QUANTITY } from '../../src/core/values/field.ts'
import { change, entryWith } from '../store/plain-rows.ts'

const set = (petId: bigint, quantity: number, onlyIf?: readonly EntryState[]): CommandOf<'adjust'> => ({
  ...change(petId, quantity),
  onlyIf,
})
const state = (quantity: number, status: EntryState['status'] = 'available'): EntryState => ({
  quantity,
  status,
})
const entryOf = (petId: bigint, quantity: number, status: EntryState['status'] = 'available') => ({
  petId,
  quantity,
  status,
})
const CONFLICT = 'precondition_failed'
const UNKNOWN = 'not_found'

/** The entry after the change, or the code of its failure. */
function shortForm(result: Result): unknown {
  if ('items' in result) return result.items[0]
  return 'failures' in result ? result.failures[0]?.code : result
}

const asFound = ([petId, { quantity, status }]: readonly [bigint, EntryState]): [bigint, LockedEntry] => [
  petId,
  entryWith(quantity, { status }),
]

const before = (record: LogRecord) => record.kind === 'change' && record.before

/** The requests, the current state, the outcomes, and the written changes: index and previous quantity. */
const CASES: readonly [
  title: string,
  changes: readonly CommandOf<'adjust'>[],
  found: readonly [bigint, EntryState][],
  outcomes: readonly unknown[],
  made: readonly [index: number, before: number][],
][] = [
  ['no request', [], [[1n, state(3)]], [], []],
  ['a quantity is set', [set(1n, 5)], [[1n, state(3, 'sold')]], [entryOf(1n, 5, 'sold')], [[0, 3]]],
  ['the same quantity is recorded as well', [set(1n, 3)], [[1n, state(3)]], [entryOf(1n, 3)], [[0, 3]]],
  ['an unknown pet', [set(2n, 5)], [[1n, state(3)]], [UNKNOWN], []],
  [
    'the minimum and the maximum',
    [set(1n, 0), set(1n, MAX_QUANTITY)],
    [[1n, state(3)]],
    [entryOf(1n, 0), entryOf(1n, MAX_QUANTITY)],
    [
      [0, 3],
      [1, 0],
    ],
  ],
  [
    'the same pet twice: the second change sees the first',
    [set(1n, 5), set(1n, 6)],
    [[1n, state(3)]],
    [entryOf(1n, 5), entryOf(1n, 6)],
    [
      [0, 3],
      [1, 5],
    ],
  ],
  [
    'there and back again keeps both changes',
    [set(1n, 5), set(1n, 3)],
    [[1n, state(3)]],
    [entryOf(1n, 5), entryOf(1n, 3)],
    [
      [0, 3],
      [1, 5],
    ],
  ],
  ['the named state', [set(1n, 5, [state(3)])], [[1n, state(3)]], [entryOf(1n, 5)], [[0, 3]]],
  [
    'one of the named states',
    [set(1n, 5, [state(9), state(3)])],
    [[1n, state(3)]],
    [entryOf(1n, 5)],
    [[0, 3]],
  ],
  ['another quantity than named', [set(1n, 5, [state(4)])], [[1n, state(3)]], [CONFLICT], []],
  ['another status than named', [set(1n, 5, [state(3, 'sold')])], [[1n, state(3)]], [CONFLICT], []],
  ['no state at all is allowed', [set(1n, 3, [])], [[1n, state(3)]], [CONFLICT], []],
  ['a condition on an unknown pet', [set(2n, 5, [state(3)])], [], [UNKNOWN], []],
  [
    'of two with the same condition one succeeds',
    [set(1n, 5, [state(3)]), set(1n, 6, [state(3)])],
    [[1n, state(3)]],
    [entryOf(1n, 5), CONFLICT],
    [[0, 3]],
  ],
  [
    'a condition that the previous change fulfils',
    [set(1n, 5), set(1n, 6, [state(5)])],
    [[1n, state(3)]],
    [entryOf(1n, 5), entryOf(1n, 6)],
    [
      [0, 3],
      [1, 5],
    ],
  ],
  [
    'others succeed next to a failed one',
    [set(1n, 5, [state(9)]), set(2n, 4), set(3n, 1)],
    [
      [1n, state(3)],
      [2n, state(0)],
    ],
    [CONFLICT, entryOf(2n, 4), UNKNOWN],
    [[1, 0]],
  ],
]

describe('the decision of a commit', () => {
  test.each(CASES)('%s', (_, changes, found, outcomes, made) => {
    const decision = decide(changes, new Map(found.map(asFound)))
    const asked: readonly ChangeOrigin[] = changes
    expect(decision.results.map(shortForm)).toEqual([...outcomes])
    expect(decision.records.map((record) => [asked.indexOf(record.by), before(record)])).toEqual(
      made.map((one) => [...one]),
    )
  })

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, MAX_QUANTITY + 1])(
    '%p is not a quantity, and deciding on it throws',
    (quantity) => {
      expect(() => decide([set(1n, quantity)], new Map([asFound([1n, state(3)])]))).toThrow(RangeError)
    },
  )
})
