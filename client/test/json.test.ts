import { expect, test } from 'bun:test'
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import { fieldsOf, parseJson, type SchemaName, serializeBody, stringify } from '../src/json.ts'

const parse = (text: string, schema: SchemaName) => parseJson(text, fieldsOf(schema), 'bigint')

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const space = fc.constantFrom('', ' ', '\n  ', '\t', '\r\n')
/** Names that look like the fields around them. */
const name = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '"id": 12345678901234567',
    '\\',
    '\\"',
    '"id":9223372036854775807,',
    '},{"id":',
    '12345678901234567',
  ),
)

test('every int64 is parsed exactly, whatever the strings around it contain', () => {
  const pet = fc.record({ id: int64, name, categoryId: int64, status: fc.constant('sold') })
  fc.assert(
    fc.property(fc.array(pet), space, (pets, gap) => {
      const objects = pets.map(
        (one) =>
          `{"id"${gap}:${gap}${one.id},${gap}"name":${JSON.stringify(one.name)},"categoryId":${one.categoryId}${gap},"status":"sold"}`,
      )
      expect(parse(`[${gap}${objects.join(`${gap},`)}]`, 'Pet')).toEqual(pets)
    }),
    { numRuns: 2_000 },
  )
})

test('other numbers stay numbers, even if they are as long', () => {
  const text =
    '{"petId":9223372036854775807,"quantity":9007199254740991,"status":"sold","new":0.1234567890123456}'
  expect(parse(text, 'InventoryItem')).toEqual({
    petId: 9223372036854775807n,
    quantity: 9007199254740991,
    status: 'sold',
    new: 0.1234567890123456,
  })
})

test('an id that is not an exact integer is an error and never a rounded number', () => {
  for (const petId of ['1.5', '9007199254740993e0', '"x"', 'null', 'true', '90071992547409930.0']) {
    expect(() => parse(`{"petId":${petId},"quantity":1}`, 'InventoryItem')).toThrow(SyntaxError)
  }
  // A field name with an escape is legal JSON, and the only case that the quoting misses.
  expect(() => parse('{"pet\\u0049d":9007199254740993}', 'InventoryItem')).toThrow(SyntaxError)
  expect(parse('{"pet\\u0049d":12}', 'InventoryItem')).toEqual({ petId: 12n })
})

test('ids in nested objects are parsed exactly as well', () => {
  const item = '{"petId":9223372036854775807,"quantity":1,"status":"sold"}'
  expect(parse(`{"items":[${item},${item}]}`, 'AdjustmentResult')).toMatchObject({
    items: [{ petId: 9223372036854775807n }, { petId: 9223372036854775807n }],
  })
  const error = (details: string) => `{"code":"not_found","message":"\\"petId\\":1","status":404${details}}`
  const petId = '{"index":0,"petId":9007199254740993,"code":"not_found","message":""}'
  expect(parse(error(`,"details":[${petId},{"index":1}]`), 'ErrorBody')).toMatchObject({
    details: [{ petId: 9007199254740993n }, { index: 1 }],
  })
  expect(parse(error(''), 'ErrorBody')).toMatchObject({ message: '"petId":1' })
  for (const items of ['[{}]', '[1]', '["x"]', 'null', '1']) {
    expect(() => parse(`{"items":${items}}`, 'AdjustmentResult')).toThrow(SyntaxError)
  }
  expect(() => parse('{}', 'AdjustmentResult')).toThrow(SyntaxError)
})

test('a request body is JSON with exact ids, with the same bytes for the same value', () => {
  const changes = [
    { petId: 9223372036854775807n, delta: -1, expected: undefined },
    { delta: 1, petId: 1n },
  ]
  expect(serializeBody({ reason: 'sold', changes, reference: 'order "17"' })).toBe(
    '{"changes":[{"delta":-1,"petId":9223372036854775807},{"delta":1,"petId":1}],"reason":"sold","reference":"order \\"17\\""}',
  )
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(serializeBody(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('text that is not JSON, or not made of objects, is an error', () => {
  for (const text of ['', '<html>', '{"petId":1', '[1]', 'null', '[[]]']) {
    expect(() => parse(text, 'InventoryItem')).toThrow(SyntaxError)
  }
})

test('a list of 100,000 entries with long ids is parsed exactly', () => {
  const entries = Array.from(
    { length: 100_000 },
    (_, index) =>
      `{"petId":${9223372036854775807n - BigInt(index)},"quantity":${index},"status":"available"}`,
  )
  const list = parse(`[${entries}]`, 'InventoryItem') as { petId: bigint }[]
  expect(list.every(({ petId }, index) => petId === 9223372036854775807n - BigInt(index))).toBe(true)
})

test('results are plain objects, and stringify writes their ids as strings', () => {
  const text = '{"change":"created","order":{"id":9007199254740993,"petId":1,"quantity":2},"at":"now"}'
  const event = parse(text, 'OrderEvent')
  const plain = { change: 'created', order: { id: 9007199254740993n, petId: 1n, quantity: 2 }, at: 'now' }
  deepStrictEqual(event, plain)
  expect(stringify({ list: [{ ...plain }] })).toBe(
    '{"list":[{"change":"created","order":{"id":"9007199254740993","petId":"1","quantity":2},"at":"now"}]}',
  )
  expect(stringify({ id: 1n }, 2)).toBe('{\n  "id": "1"\n}')
})

test('ids are strings if the client is asked for strings', () => {
  const item = '{"petId":9223372036854775807,"quantity":1,"status":"sold"}'
  deepStrictEqual(parseJson(`{"items":[${item}]}`, fieldsOf('AdjustmentResult'), 'string'), {
    items: [{ petId: '9223372036854775807', quantity: 1, status: 'sold' }],
  })
})

test('a request body accepts ids as bigint, safe integer or string', () => {
  const order = (petId: unknown) => serializeBody({ petId, quantity: 1 }, fieldsOf('NewOrder'))
  for (const petId of [5n, 5, '5', '005']) expect(order(petId)).toBe('{"petId":5,"quantity":1}')
  expect(order('-9223372036854775808')).toBe('{"petId":-9223372036854775808,"quantity":1}')
  expect(() => order(2 ** 53)).toThrow(TypeError)
  expect(() => order('9223372036854775808')).toThrow(RangeError)
  const changes = { changes: [{ petId: '9007199254740993', delta: 1 }] }
  expect(serializeBody(changes, fieldsOf('InventoryAdjustment'))).toContain('"petId":9007199254740993')
})
