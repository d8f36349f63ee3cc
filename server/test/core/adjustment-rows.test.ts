import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ADJUSTMENT_ROW_KIND, decideRows, STOCK_COUNT_ROW_KIND } from '../../src/core/transfer/adjustment.ts'
import { fieldsOfJson } from '../../src/core/transfer/files.ts'
import { MAX_QUANTITY } from '../../src/core/values/field.ts'
import { reasonOf } from './bad-row.ts'

const DELTA = `delta must be an integer other than 0 from -${MAX_QUANTITY} to ${MAX_QUANTITY}`
const QUANTITY = `an integer from 0 to ${MAX_QUANTITY}`

describe('A line of an adjustment', () => {
  test.each([
    [['1', '12', '', ''], { petId: 1n, delta: 12 }],
    [['1', '+12', '', ''], { petId: 1n, delta: 12 }],
    [['-9223372036854775808', `-${MAX_QUANTITY}`, '', '0'], { delta: -MAX_QUANTITY, expected: 0 }],
    [['1', String(MAX_QUANTITY), '', String(MAX_QUANTITY)], { delta: MAX_QUANTITY, expected: MAX_QUANTITY }],
    [['1', '', '0', ''], { petId: 1n, quantity: 0 }],
    [['9223372036854775807', '', String(MAX_QUANTITY), '5'], { quantity: MAX_QUANTITY, expected: 5 }],
  ])('%j is read exactly', (fields, change) => {
    expect(ADJUSTMENT_ROW_KIND.read(fields)).toMatchObject(change)
  })

  test('has no field for a blank column', () => {
    expect(Object.keys(ADJUSTMENT_ROW_KIND.read(['1', '12', '', '']))).toEqual(['petId', 'delta'])
    expect(Object.keys(ADJUSTMENT_ROW_KIND.read(['1', '', '5', '']))).toEqual(['petId', 'quantity'])
    expect(Object.keys(ADJUSTMENT_ROW_KIND.read(['1', undefined, '5', undefined]))).toEqual([
      'petId',
      'quantity',
    ])
  })

  test.each([
    [['1', '', '', ''], 'a change must have exactly one of delta and quantity, got neither'],
    [['1', '', '', '5'], 'a change must have exactly one of delta and quantity, got neither'],
    [['1', '2', '3', ''], 'a change must have exactly one of delta and quantity, got both'],
    [['1', '0', '', ''], `${DELTA}, got "0"`],
    [['1', '-0', '', ''], `${DELTA}, got "-0"`],
    [['1', '1.5', '', ''], `${DELTA}, got "1.5"`],
    [['1', '5.0', '', ''], `${DELTA}, got "5.0"`],
    [['1', '1e3', '', ''], `${DELTA}, got "1e3"`],
    [['1', ' 5', '', ''], `${DELTA}, got " 5"`],
    [['1', '9007199254740992', '', ''], `${DELTA}, got "9007199254740992"`],
    [['1', '-9007199254740992', '', ''], `${DELTA}, got "-9007199254740992"`],
    [['1', '', '-1', ''], `quantity must be ${QUANTITY}, got "-1"`],
    [['1', '', '1.5', ''], `quantity must be ${QUANTITY}, got "1.5"`],
    [['1', '', '9007199254740992', ''], `quantity must be ${QUANTITY}, got "9007199254740992"`],
    [['1', '1', '', 'x'], `expected must be ${QUANTITY}, got "x"`],
    [
      ['x', '1', '', ''],
      'petId must be an integer from -9223372036854775808 to 9223372036854775807 in plain digits, got "x"',
    ],
  ])('%j is rejected with the reason', (fields, reason) => {
    expect(reasonOf(() => ADJUSTMENT_ROW_KIND.read(fields))).toBe(reason)
  })

  test.each([
    ['{"petId":1,"delta":5}', ['1', '5', undefined, undefined]],
    ['{"petId":1,"expected":0,"quantity":5}', ['1', undefined, '5', '0']],
    ['{"petId":1}', ['1', undefined, undefined, undefined]],
    ['{"petId":1,"delta":null,"quantity":5}', ['1', '', '5', undefined]],
  ])('%s in JSON may omit optional fields', (line, fields) => {
    expect(fieldsOfJson(line, ADJUSTMENT_ROW_KIND.columns)).toEqual(fields)
  })

  test.each([
    ['{"petId":1,"delta":"5"}', `${DELTA}, got "5" (a string)`],
    ['{"petId":1,"quantity":true}', `quantity must be ${QUANTITY}, got true`],
    [
      '{"petId":1,"delta":5,"reason":"lost"}',
      '"reason" is not one of the names petId,delta,quantity,expected',
    ],
    ['{"delta":5}', 'petId is missing; it must be'],
  ])('%s in JSON is rejected with the reason', (line, reason) => {
    expect(reasonOf(() => fieldsOfJson(line, ADJUSTMENT_ROW_KIND.columns))).toStartWith(reason)
  })
})

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
