import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { readExactly, writeExactly } from '../src/exact-json.ts'

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

test('every int64 comes out exactly, whatever the strings around it hold', () => {
  const pet = fc.record({ id: int64, name, categoryId: int64, status: fc.constant('sold') })
  fc.assert(
    fc.property(fc.array(pet), space, (pets, gap) => {
      const objects = pets.map(
        (one) =>
          `{"id"${gap}:${gap}${one.id},${gap}"name":${JSON.stringify(one.name)},"categoryId":${one.categoryId}${gap},"status":"sold"}`,
      )
      expect(readExactly(`[${gap}${objects.join(`${gap},`)}]`, 'Pet')).toEqual(pets)
    }),
    { numRuns: 2_000 },
  )
})

test('other numbers stay numbers, though they are as long', () => {
  const text =
    '{"petId":9223372036854775807,"quantity":9007199254740991,"status":"sold","new":0.1234567890123456}'
  expect(readExactly(text, 'InventoryItem')).toEqual({
    petId: 9223372036854775807n,
    quantity: 9007199254740991,
    status: 'sold',
    new: 0.1234567890123456,
  })
})

test('an id that cannot be kept whole is an error and never a rounded number', () => {
  for (const petId of ['1.5', '9007199254740993e0', '"x"', 'null', 'true', '90071992547409930.0']) {
    expect(() => readExactly(`{"petId":${petId},"quantity":1}`, 'InventoryItem')).toThrow(SyntaxError)
  }
  // The field's name spelled with an escape is legal, and the one thing that the quoting does not see.
  expect(() => readExactly('{"pet\\u0049d":9007199254740993}', 'InventoryItem')).toThrow(SyntaxError)
  expect(readExactly('{"pet\\u0049d":12}', 'InventoryItem')).toEqual({ petId: 12n })
})

test('ids in objects that an answer holds come out exactly as well', () => {
  const item = '{"petId":9223372036854775807,"quantity":1,"status":"sold"}'
  expect(readExactly(`{"items":[${item},${item}]}`, 'AdjustmentResult')).toMatchObject({
    items: [{ petId: 9223372036854775807n }, { petId: 9223372036854775807n }],
  })
  const error = (details: string) => `{"code":"not_found","message":"\\"petId\\":1","status":404${details}}`
  const petId = '{"index":0,"petId":9007199254740993,"code":"not_found","message":""}'
  expect(readExactly(error(`,"details":[${petId},{"index":1}]`), 'ErrorBody')).toMatchObject({
    details: [{ petId: 9007199254740993n }, { index: 1 }],
  })
  expect(readExactly(error(''), 'ErrorBody')).toMatchObject({ message: '"petId":1' })
  for (const items of ['[{}]', '[1]', '["x"]', 'null', '1']) {
    expect(() => readExactly(`{"items":${items}}`, 'AdjustmentResult')).toThrow(SyntaxError)
  }
  expect(() => readExactly('{}', 'AdjustmentResult')).toThrow(SyntaxError)
})

test('what is written is JSON with exact ids, the same bytes for the same value', () => {
  const changes = [
    { petId: 9223372036854775807n, delta: -1, expected: undefined },
    { delta: 1, petId: 1n },
  ]
  expect(writeExactly({ reason: 'sold', changes, reference: 'order "17"' })).toBe(
    '{"changes":[{"delta":-1,"petId":9223372036854775807},{"delta":1,"petId":1}],"reason":"sold","reference":"order \\"17\\""}',
  )
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(writeExactly(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('what is no JSON, or not made of objects, is an error', () => {
  for (const text of ['', '<html>', '{"petId":1', '[1]', 'null', '[[]]']) {
    expect(() => readExactly(text, 'InventoryItem')).toThrow(SyntaxError)
  }
})

/** Were each entry to cost more than the one before it, the time of the test would be over long before. */
test('a list of 100,000 entries with long ids is read, each id whole', () => {
  const entries = Array.from(
    { length: 100_000 },
    (_, index) =>
      `{"petId":${9223372036854775807n - BigInt(index)},"quantity":${index},"status":"available"}`,
  )
  const list = readExactly(`[${entries}]`, 'InventoryItem') as { petId: bigint }[]
  expect(list.every(({ petId }, index) => petId === 9223372036854775807n - BigInt(index))).toBe(true)
})

test('what was read can be written as JSON, with every id as text, and is a plain object in all else', () => {
  const text = '{"change":"created","order":{"id":9007199254740993,"petId":1,"quantity":2},"at":"now"}'
  const event = readExactly(text, 'OrderEvent')
  expect(JSON.stringify({ list: [event] })).toBe(
    '{"list":[{"change":"created","order":{"id":"9007199254740993","petId":"1","quantity":2},"at":"now"}]}',
  )
  expect(Object.keys(Object(event))).toEqual(['change', 'order', 'at'])
  expect(Bun.inspect(readExactly('{"petId":1}', 'RemovedEvent'), { compact: true })).toBe('{ petId: 1n }')
})
