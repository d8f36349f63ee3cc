import { describe, expect, test } from 'bun:test'
import type { Adjustment, AdjustmentLine } from '../../src/core/stock/adjustment.ts'
import type { CommandOf } from '../../src/core/stock/command.ts'
import { decide } from '../../src/core/stock/decide.ts'
import { type FactAnswer, type FactQuestion, questionId } from '../../src/core/stock/facts.ts'
import type { LockedEntry } from '../../src/core/stock/inventory.ts'
import { entryWith } from '../store/plain-rows.ts'

const NOW = 1_000
/** The time of the adjustment that is reversed. */
const THEN = 100
const DOCUMENT = 5n

const line = (petId: bigint, delta: number, counted?: number): AdjustmentLine => ({
  petId,
  before: 0,
  after: 0,
  delta,
  ...(counted === undefined ? {} : { counted }),
  effect: 'applied',
  reversed: 0,
})
const adjustmentOf = (...lines: readonly AdjustmentLine[]): Adjustment => ({
  id: DOCUMENT,
  reason: 'sold',
  reference: 'PO-1',
  occurredAt: THEN,
  recordedAt: THEN,
  keyId: 'key_b',
  reversedBy: [],
  lines,
})
const SALE = adjustmentOf(line(1n, -3), line(2n, 4))
const COUNT = adjustmentOf(line(1n, 2, 12))

type Known = readonly (readonly [FactQuestion, FactAnswer])[]

interface Given {
  readonly adjustment?: Adjustment
  readonly entry?: Partial<LockedEntry>
  /** In addition to an unpruned history and no earlier reversal. */
  readonly facts?: Known
  readonly command?: Partial<CommandOf<'reverse'>>
}

/** Both pets have ten units. */
function reversed({ adjustment = SALE, entry, facts = [], command }: Given = {}) {
  const entries = new Map([
    [1n, entryWith(10, entry)],
    [2n, entryWith(10)],
  ])
  const known: Known = [
    [{ type: 'history_start' }, undefined],
    [{ type: 'reversed_units', document: DOCUMENT }, new Map()],
    ...facts,
  ]
  const decision = decide(
    [{ type: 'reverse', keyId: 'key_a', at: NOW, reason: 'correction', adjustment, ...command }],
    entries,
    { firstLogId: 9n, facts: new Map(known.map(([question, answer]) => [questionId(question), answer])) },
  )
  const [outcome] = decision.results
  return { outcome, entries: decision.entries }
}

const failures = (...codes: readonly object[]) => ({ type: 'refused', failures: codes })
const reversedUnits = (...units: readonly (readonly [bigint, number])[]) =>
  [{ type: 'reversed_units', document: DOCUMENT }, new Map(units)] as const
const withoutCount = (answer: FactAnswer<'stock_without_count'>) =>
  [{ type: 'stock_without_count', petId: 1n, document: DOCUMENT }, answer] as const
const countedNext = (answer: boolean) =>
  [{ type: 'was_counted_next', petId: 1n, document: DOCUMENT, time: THEN }, answer] as const

describe('a reversal', () => {
  test('undoes all lines at the time of the adjustment, which it names', () => {
    expect(reversed().outcome).toMatchObject({
      type: 'done',
      items: [
        { petId: 1n, quantity: 13 },
        { petId: 2n, quantity: 6 },
      ],
      document: { id: 9n, reverses: DOCUMENT, occurredAt: THEN, by: { reference: 'PO-1', keyId: 'key_a' } },
    })
  })

  test('undoes the named units, or the units that are left', () => {
    const lines = [{ petId: 1n, quantity: 2 }]
    expect(reversed({ command: { lines } }).outcome).toMatchObject({ items: [{ petId: 1n, quantity: 12 }] })
    const facts = [reversedUnits([1n, 2], [2n, 4])]
    expect(reversed({ facts }).outcome).toMatchObject({ items: [{ petId: 1n, quantity: 11 }] })
  })

  test('because of returned goods happens now, never before what is known', () => {
    const command = { reason: 'returned' } as const
    expect(reversed({ command }).outcome).toMatchObject({ document: { occurredAt: NOW } })
    const entry = { countedAt: NOW + 5 }
    expect(reversed({ command, entry }).outcome).toMatchObject({
      document: { occurredAt: NOW + 5 },
      items: [{ quantity: 13 }, { quantity: 6 }],
    })
  })

  test.each<[string, Given, object]>([
    [
      'of what is reversed already',
      { facts: [reversedUnits([1n, 3], [2n, 4])] },
      { type: 'already_reversed', message: 'adjustment 5 is already reversed' },
    ],
    [
      'of more units than are left',
      { facts: [reversedUnits([1n, 2])], command: { lines: [{ petId: 1n, quantity: 2 }] } },
      failures({ index: 0, petId: 1n, code: 'already_reversed', available: 1 }),
    ],
    [
      'of a reversal',
      { adjustment: { ...SALE, reverses: 3n } },
      { type: 'already_reversed', message: expect.stringContaining('a reversal cannot be reversed') },
    ],
    [
      'of a line that the adjustment lacks',
      { command: { lines: [{ petId: 7n, quantity: 1 }] } },
      failures({ index: 0, petId: 7n, code: 'not_found' }),
    ],
    [
      'for a pet that was removed',
      { adjustment: adjustmentOf(line(7n, -1)) },
      failures({ index: 0, petId: 7n, code: 'not_found' }),
    ],
    [
      'of units that are gone',
      { adjustment: adjustmentOf(line(1n, 11)) },
      failures({ index: 0, petId: 1n, code: 'insufficient_stock', available: 10 }),
    ],
    [
      'of part of a count',
      {
        adjustment: COUNT,
        facts: [withoutCount(undefined)],
        command: { lines: [{ petId: 1n, quantity: 2 }] },
      },
      failures({ index: 0, petId: 1n, code: 'invalid_request', field: 'quantity' }),
    ],
    [
      'of a count whose earlier count was pruned',
      { adjustment: COUNT, facts: [withoutCount(undefined)] },
      { type: 'too_late', message: expect.stringContaining('the history has no other count of petId 1') },
    ],
    [
      'of what happened before the history begins',
      { facts: [[{ type: 'history_start' }, THEN + 1]] },
      { type: 'too_late', message: expect.stringContaining('the history begins at') },
    ],
  ])('%s is refused', (_, given, outcome) => {
    const result = reversed(given)
    expect(result.outcome).toMatchObject(outcome)
    expect(result.entries.size).toBe(0)
  })

  test.each<[string, Given, effect: string, after: number]>([
    ['before the latest count', { entry: { countedAt: THEN + 1 } }, 'already_counted', 10],
    ['after the latest count', { entry: { countedAt: THEN - 1 } }, 'applied', 13],
    [
      'in the millisecond of a count that was recorded later',
      { entry: { countedAt: THEN }, facts: [countedNext(true)] },
      'already_counted',
      10,
    ],
    [
      'in the millisecond of a count that was recorded earlier',
      { entry: { countedAt: THEN }, facts: [countedNext(false)] },
      'applied',
      13,
    ],
  ])('of a sale %s', (_, given, effect, after) => {
    const command = { lines: [{ petId: 1n, quantity: 3 }] }
    expect(reversed({ ...given, command }).outcome).toMatchObject({
      document: { lines: [{ effect, after }] },
    })
  })

  test.each([
    ['the earlier count with the movements since', false, 8, 50],
    ['the stock as it is, if there was a later count', true, 10, 70],
  ])('of a count leaves %s', (_, isLater, quantity, countedAt) => {
    const facts = [withoutCount({ quantity: 8, countedAt, isLater })]
    const { outcome, entries } = reversed({ adjustment: COUNT, facts })
    expect(outcome).toMatchObject({ items: [{ petId: 1n, quantity }] })
    expect(entries.get(1n)?.entry).toMatchObject({ quantity, countedAt })
  })
})
