import { describe, expect, test } from 'bun:test'
import type { AdjustmentChange, CommandOf, SubmittedCommand } from '../../src/core/stock/command.ts'
import { ANSWERS_KEPT_MS, answerId, decide, idempotencyKeysOf } from '../../src/core/stock/decide.ts'
import { type FactAnswer, type FactQuestion, questionId } from '../../src/core/stock/facts.ts'
import type { InventoryItem } from '../../src/core/stock/inventory.ts'
import { refusal } from '../../src/core/stock/refusal.ts'
import { DAY } from '../../src/core/values/clock.ts'
import { MAX_QUANTITY } from '../../src/core/values/field.ts'
import { entryWith } from '../store/plain-rows.ts'

const item = (petId: bigint, quantity: number): InventoryItem => ({ petId, quantity, status: 'available' })
const FOUND = new Map([
  [1n, entryWith(3)],
  [2n, entryWith(MAX_QUANTITY)],
])

const adjustment = (...changes: readonly AdjustmentChange[]): CommandOf<'adjust'> => ({
  type: 'adjust',
  keyId: 'key_a',
  at: 7,
  reason: 'received',
  reference: 'PO-1',
  changes,
})

const keyed = (key: string, fingerprint: string, request: CommandOf<'adjust'>): SubmittedCommand => ({
  ...request,
  idempotency: {
    key,
    fingerprint,
    answer: (outcome) => ('items' in outcome ? `${outcome.items.length} made` : 'refused'),
  },
})

/** The requested changes, and the result of each: its quantity if all succeed, otherwise the code of its failure. */
const CASES: readonly [title: string, changes: readonly AdjustmentChange[], result: readonly unknown[]][] = [
  ['more', [{ petId: 1n, delta: 2 }], [5]],
  ['a reduction to zero', [{ petId: 1n, delta: -3 }], [0]],
  ['a count', [{ petId: 1n, quantity: 9 }], [9]],
  ['the expected quantity', [{ petId: 1n, delta: 1, expected: 3 }], [4]],
  [
    'several',
    [
      { petId: 2n, delta: -1 },
      { petId: 1n, quantity: 0 },
    ],
    [MAX_QUANTITY - 1, 0],
  ],
  ['below zero', [{ petId: 1n, delta: -4 }], ['insufficient_stock']],
  ['above the maximum', [{ petId: 2n, delta: 1 }], ['invalid_request']],
  ['far above the maximum', [{ petId: 2n, delta: MAX_QUANTITY }], ['invalid_request']],
  ['an unknown pet', [{ petId: 3n, delta: 1 }], ['not_found']],
  ['another quantity than expected', [{ petId: 1n, quantity: 1, expected: 2 }], ['precondition_failed']],
  ['neither expected nor sufficient', [{ petId: 1n, delta: -9, expected: 2 }], ['precondition_failed']],
  [
    'one of several',
    [
      { petId: 1n, delta: 1 },
      { petId: 3n, delta: 1 },
    ],
    [undefined, 'not_found'],
  ],
]

describe('the decision on an adjustment', () => {
  test.each(CASES)('%s', (_, changes, result) => {
    const { results: outcomes, records } = decide([adjustment(...changes)], FOUND)
    const [outcome] = outcomes
    if (outcome === undefined || !('items' in outcome || 'failures' in outcome)) throw new Error('other')
    if ('items' in outcome) {
      expect(outcome.items).toEqual(
        changes.map(({ petId = 0n }, index) => item(petId, Number(result[index]))),
      )
      expect(
        records.filter((record) => record.kind === 'change').map(({ petId, after }) => item(petId, after)),
      ).toEqual([...outcome.items])
      return
    }
    const codes = changes.map((_, index) => outcome.failures.find((failure) => failure.index === index)?.code)
    expect(codes).toEqual(result as (typeof codes)[number][])
    expect(records).toEqual([])
  })

  const shown = (decision: ReturnType<typeof decide>) =>
    decision.results.map((outcome): unknown => ('failures' in outcome ? outcome.failures : outcome))

  test('a failure says what is wrong, and how many units could have been taken', () => {
    const request = adjustment(
      { petId: 1n, delta: -4 },
      { petId: 2n, delta: 1, expected: 9 },
      { petId: 2n, delta: 1 },
    )
    expect(shown(decide([request], FOUND))).toMatchObject([
      [
        {
          index: 0,
          petId: 1n,
          available: 3,
          message: 'the quantity of petId 1 is 3, so 4 cannot be taken away',
        },
        { index: 1, petId: 2n, message: expect.stringContaining('not 9 as expected') },
        { index: 2, petId: 2n, message: expect.stringContaining('it would be above 9007199254740991') },
      ],
    ])
  })

  test.each<[title: string, change: Pick<AdjustmentChange, 'delta' | 'quantity'>, result: unknown]>([
    ['units that nobody reserves may go', { delta: -1 }, 3],
    ['reserved units stay', { delta: -2 }, 'insufficient_stock'],
    ['and are not counted away', { quantity: 2 }, 'insufficient_stock'],
    ['more than there is stays as well', { delta: -9 }, 'insufficient_stock'],
    ['a delivery takes nothing', { delta: 1 }, 5],
  ])('with keepReserved, %s', (_, change, result) => {
    const request = { ...adjustment({ petId: 1n, ...change } as AdjustmentChange), keepReserved: true }
    const found = new Map([[1n, entryWith(4, { reserved: 3 })]])
    const [outcome] = shown(decide([request], found))
    if (typeof result === 'number') expect(outcome).toMatchObject({ items: [{ quantity: result }] })
    else expect(outcome).toMatchObject([{ code: result, available: 1 }])
  })

  test('without keepReserved, reserved units may be taken', () => {
    const found = new Map([[1n, entryWith(4, { reserved: 3 })]])
    expect(decide([adjustment({ petId: 1n, delta: -2 })], found).results).toMatchObject([{ type: 'done' }])
  })

  test('changes carry reason and reference, and a count that confirms the quantity is written too', () => {
    const request = adjustment({ petId: 1n, quantity: 3 }, { petId: 2n, delta: -1 })
    const { records } = decide([request], FOUND)
    expect(
      records
        .filter((record) => record.kind === 'change')
        .map(({ petId, by }) => [petId, by.reason, by.reference]),
    ).toEqual([
      [1n, 'received', 'PO-1'],
      [2n, 'received', 'PO-1'],
    ])
  })

  test('a rejected adjustment does not affect those before and after it', () => {
    const requests = [adjustment({ petId: 1n, delta: 1 }), adjustment({ petId: 1n, delta: -9 })]
    const { results: outcomes, records } = decide([...requests, adjustment({ petId: 1n, delta: -4 })], FOUND)
    expect(outcomes[2]).toMatchObject({ type: 'done', items: [item(1n, 0)] })
    expect(
      records.filter((record) => record.kind === 'change').map(({ before, after }) => [before, after]),
    ).toEqual([
      [3, 4],
      [4, 0],
    ])
  })

  test('with onConflict skip, lines that fail because of the stock are left out, unless all do', () => {
    const skip = { onConflict: 'skip' } as const
    const failing = [
      { petId: 1n, delta: -9 },
      { petId: undefined, barcode: 'X1', delta: 1 },
    ] as const
    const [outcome] = decide(
      [{ ...adjustment({ petId: 2n, delta: -1 }, ...failing), ...skip }],
      FOUND,
    ).results
    const skipped = [
      { index: 1, petId: 1n, code: 'insufficient_stock', available: 3 },
      { index: 2, code: 'not_found', message: 'no pet has the barcode X1' },
    ]
    expect(outcome).toMatchObject({ type: 'done', items: [{ petId: 2n }], skipped })
    expect(shown(decide([{ ...adjustment(...failing), ...skip }], FOUND))).toMatchObject([
      skipped.map(({ code }, index) => ({ index, code })),
    ])
    const invalid = { ...adjustment({ petId: 1n, delta: 1 }, { petId: 2n, delta: 1 }), ...skip }
    expect(shown(decide([invalid], FOUND))).toMatchObject([[{ index: 1, code: 'invalid_request' }]])
  })

  test('deciding on a duplicate pet in one adjustment throws', () => {
    const twice = adjustment({ petId: 1n, delta: 1 }, { petId: 1n, delta: 1 })
    expect(() => decide([twice], FOUND)).toThrow('twice')
  })
})

describe('the time of an adjustment', () => {
  const COUNTED = 100 * DAY
  const MOVED = COUNTED + 10
  const NOW = COUNTED + DAY
  const entries = new Map([[1n, entryWith(10, { countedAt: COUNTED, movedAt: MOVED })]])
  const laterUnits = (time: number): readonly [FactQuestion, FactAnswer] => [
    { type: 'later_units', petId: 1n, time },
    -4,
  ]
  const decideAt = (
    occurredAt: number | undefined,
    what: { readonly delta: number } | { readonly quantity: number },
    { at = NOW, historyStart }: { readonly at?: number; readonly historyStart?: number } = {},
  ) => {
    const known: readonly (readonly [FactQuestion, FactAnswer])[] = [
      [{ type: 'history_start' }, historyStart],
      // Reading the later units takes long, so it is asked only for a count that they matter to.
      ...(occurredAt === undefined || occurredAt < COUNTED ? [] : [laterUnits(occurredAt)]),
    ]
    const facts = new Map(known.map(([question, answer]) => [questionId(question), answer]))
    return decide([{ ...adjustment({ petId: 1n, ...what }), at, occurredAt }], entries, { facts }).results[0]
  }

  test.each([
    ['a movement before the latest count', COUNTED - 1, { delta: 3 }, 'already_counted', 10],
    ['a movement in the millisecond of the count', COUNTED, { delta: 3 }, 'applied', 13],
    ['a count before the latest', COUNTED - 1, { quantity: 3 }, 'superseded', 10],
    ['a count before later movements', MOVED - 1, { quantity: 9 }, 'applied', 5],
    ['a count after all movements', MOVED, { quantity: 9 }, 'applied', 9],
  ])('decides the effect of %s', (_, occurredAt, what, effect, after) => {
    expect(decideAt(occurredAt, what)).toMatchObject({ document: { occurredAt, lines: [{ effect, after }] } })
  })

  test('is now by default, and not before earlier facts of the pet', () => {
    expect(decideAt(undefined, { delta: 1 })).toMatchObject({ document: { occurredAt: NOW } })
    expect(decideAt(undefined, { delta: 1 }, { at: COUNTED })).toMatchObject({
      document: { occurredAt: MOVED },
    })
  })

  test('is refused once it is 30 days ago, or before the history begins', () => {
    const at = COUNTED + 30 * DAY
    expect(decideAt(COUNTED, { delta: 1 }, { at })).toMatchObject({ type: 'done' })
    const late = expect.stringContaining('it happened more than 30 days ago')
    expect(decideAt(COUNTED - 1, { delta: 1 }, { at })).toMatchObject({ type: 'too_late', message: late })
    const historyStart = COUNTED + 1
    expect(decideAt(COUNTED, { delta: 1 }, { historyStart })).toMatchObject({ type: 'too_late' })
  })

  test('a late count that movements since would take below zero is refused', () => {
    expect(decideAt(MOVED - 1, { quantity: 3 })).toMatchObject({
      failures: [{ code: 'insufficient_stock', available: 3 }],
    })
  })

  test('a decision without the facts that it needs names all of them', () => {
    const late = { ...adjustment({ petId: 1n, quantity: 9 }), at: NOW, occurredAt: COUNTED }
    const questions = [{ type: 'history_start' }, laterUnits(COUNTED)[0]]
    expect(() => decide([late], entries)).toThrow(expect.objectContaining({ questions }))
  })
})

describe('the decision on a request with an idempotency key', () => {
  const one = adjustment({ petId: 1n, delta: 1 })
  const remembered = (at: number) => {
    const forgetAt = at + ANSWERS_KEPT_MS
    const answer = { keyId: 'key_a', idempotencyKey: 'k', fingerprint: 'f', answer: 'as before', forgetAt }
    return new Map([[answerId(answer), answer]])
  }

  test('the first is made and stored, the same one in the same commit is a replay', () => {
    const {
      results: outcomes,
      records,
      answers,
    } = decide([keyed('k', 'f', one), keyed('k', 'f', one)], FOUND)
    expect(outcomes).toEqual([
      { type: 'decided', outcome: expect.objectContaining({ type: 'done' }) },
      { type: 'replayed', answer: '1 made' },
    ])
    expect(records).toHaveLength(1)
    expect(answers).toEqual([
      {
        keyId: 'key_a',
        idempotencyKey: 'k',
        fingerprint: 'f',
        answer: '1 made',
        forgetAt: 7 + ANSWERS_KEPT_MS,
      },
    ])
  })

  test('a request of an earlier commit is replayed, a different one under its key is not made', () => {
    const {
      results: outcomes,
      records,
      answers,
    } = decide([keyed('k', 'f', one), keyed('k', 'g', one)], FOUND, {
      answers: remembered(7),
    })
    expect(outcomes).toEqual([{ type: 'replayed', answer: 'as before' }, { type: 'key_reused' }])
    expect([records, answers]).toEqual([[], []])
  })

  test('after a day it is a new request', () => {
    const request = keyed('k', 'g', { ...one, at: ANSWERS_KEPT_MS })
    expect(decide([request], FOUND, { answers: remembered(1) }).results).toEqual([{ type: 'key_reused' }])
    expect(decide([request], FOUND, { answers: remembered(0) }).answers).toMatchObject([
      { fingerprint: 'g', forgetAt: 2 * ANSWERS_KEPT_MS },
    ])
  })

  test('a request that says when it happened is remembered for 31 days', () => {
    const facts = new Map([[questionId({ type: 'history_start' }), undefined]])
    const dated = keyed('k', 'f', { ...one, occurredAt: 7 })
    expect(decide([dated], FOUND, { facts }).answers).toMatchObject([{ forgetAt: 7 + 31 * DAY }])
  })

  test('rejections that depend on the stock are stored, invalid requests are not', () => {
    const less = keyed('a', 'f', adjustment({ petId: 1n, delta: -9 }))
    const tooMuch = keyed('b', 'f', adjustment({ petId: 2n, delta: 1 }))
    const { results: outcomes, answers } = decide([less, tooMuch], FOUND)
    expect(outcomes).toMatchObject(Array(2).fill({ type: 'decided', outcome: { type: 'refused' } }))
    expect(answers.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['a'])
  })

  test('the same key of another caller is independent', () => {
    const other = { ...keyed('k', 'g', one), keyId: 'key_b' }
    expect(decide([other], FOUND, { answers: remembered(7) }).records).toHaveLength(1)
  })

  test('each key is locked once, in a fixed order', () => {
    const requests = [keyed('b', 'f', one), one, keyed('a', 'f', one), keyed('b', 'g', one)]
    expect(idempotencyKeysOf(requests).map(({ idempotencyKey }) => idempotencyKey)).toEqual(['a', 'b'])
  })
})

describe('the response to a rejected request', () => {
  test('has the code of the first failed check', () => {
    const failure = (index: number, code: 'not_found' | 'insufficient_stock' | 'precondition_failed') => ({
      index,
      petId: 1n,
      code,
      message: code,
    })
    const all = [failure(0, 'precondition_failed'), failure(1, 'insufficient_stock'), failure(2, 'not_found')]
    expect(refusal(all).code).toBe('not_found')
    expect(refusal(all.slice(0, 2)).code).toBe('insufficient_stock')
    expect(refusal(all.slice(0, 1))).toMatchObject({ code: 'precondition_failed', details: [all[0]] })
  })
})
