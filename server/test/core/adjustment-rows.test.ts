import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decideRows, STOCK_COUNT_ROW_KIND } from '../../src/core/transfer/adjustment.ts'
import { MAX_QUANTITY } from '../../src/core/values/field.ts'
import { reasonOf } from './bad-row.ts'

const QUANTITY = `an integer from 0 to ${MAX_QUANTITY}`

describe('A line of a count', () => {
  test('is a pet and its number of units', () => {
    expect(STOCK_COUNT_ROW_KIND.read(['7', '0'])).toEqual({ petId: 7n, quantity: 0 })
    expect(reasonOf(() => STOCK_COUNT_ROW_KIND.read(['7', '']))).toBe(`quantity must be ${QUANTITY}, got ""`)
  })
})

describe('Decided rows', () => {
  const entry = (quantity: number) => ({ quantity, status: 'pending' as const })

  test('yield a new quantity, the same quantity, or a reason', () => {
    const rows = [
      { line: 2, value: { petId: 1n, delta: 3 }, entry: entry(4) },
      { line: 3, value: { petId: 2n, quantity: 5 }, entry: entry(5) },
      { line: 4, value: { petId: 3n, delta: -1 }, entry: undefined },
      { line: 5, value: { petId: 4n, delta: -6 }, entry: entry(5) },
      { line: 6, value: { petId: 5n, quantity: 6, expected: 5 }, entry: entry(4) },
      { line: 7, value: { petId: 6n, delta: MAX_QUANTITY }, entry: entry(1) },
      { line: 9, value: { petId: 7n, quantity: 0, expected: 5 }, entry: entry(5) },
    ]
    expect(decideRows(rows)).toEqual({
      changed: [
        { line: 2, petId: 1n, before: 4, after: 7 },
        { line: 9, petId: 7n, before: 5, after: 0 },
      ],
      refused: [
        { line: 4, petId: 3n, reason: 'there is no pet 3' },
        { line: 5, petId: 4n, reason: 'the quantity of petId 4 is 5, so 6 cannot be taken away' },
        {
          line: 6,
          petId: 5n,
          reason: 'the quantity of petId 5 is 4, not 5 as expected; read it again before you retry',
        },
        {
          line: 7,
          petId: 6n,
          reason: `the quantity of petId 6 is 1, and with ${MAX_QUANTITY} more it would be above ${MAX_QUANTITY}`,
        },
      ],
    })
  })

  test('have the same results together as alone', () => {
    const change = fc.record({
      delta: fc.constantFrom(-MAX_QUANTITY, -3, -1, 1, 4, MAX_QUANTITY),
      isDelta: fc.constantFrom(true, false),
      quantity: fc.integer({ min: 0, max: 4 }),
      expected: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
      found: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        const rows = changes.map(({ delta, isDelta, quantity, expected, found }, index) => ({
          line: index + 2,
          value: { petId: BigInt(index), expected, ...(isDelta ? { delta } : { quantity }) },
          entry: found === undefined ? undefined : entry(found),
        }))
        const alone = rows.map((row) => decideRows([row]))
        expect(decideRows(rows)).toEqual({
          changed: alone.flatMap(({ changed }) => changed),
          refused: alone.flatMap(({ refused }) => refused),
        })
      }),
    )
  })
})
