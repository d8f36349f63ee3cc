import { expect, test } from 'bun:test'
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import { parseJson, serializeBody, stringify } from '../src/json.ts'

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const space = fc.constantFrom('', ' ', '\n  ', '\t', '\r\n')

test('every int64 is parsed exactly, whatever the strings around it contain', () => {
  const name = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"id": 12345678901234567', '\\"'))
  const pet = fc.record({ id: int64, name, categoryId: int64, status: fc.constant('sold') })
  fc.assert(
    fc.property(fc.array(pet), space, (pets, gap) => {
      const objects = pets.map(
        (one) =>
          `{"id"${gap}:${gap}${one.id},${gap}"name":${JSON.stringify(one.name)},"categoryId":${one.categoryId}${gap},"status":"sold"}`,
      )
      expect(parseJson(`[${gap}${objects.join(`${gap},`)}]`)).toEqual(pets)
    }),
  )
})

test('other numbers stay numbers, ids of keys stay strings, and results are plain objects', () => {
  const text =
    '{"petId":9223372036854775807,"quantity":9007199254740991,"key":{"id":"key_1"},"details":[{"pet\\u0049d":12}],"reversedBy":[9007199254740993]}'
  deepStrictEqual(parseJson(text), {
    petId: 9223372036854775807n,
    quantity: 9007199254740991,
    key: { id: 'key_1' },
    details: [{ petId: 12n }],
    reversedBy: [9007199254740993n],
  })
})

test('an id that is not an integer, and text that is not an object or a list, are errors', () => {
  for (const text of ['{"petId":1.5}', '{"petId":9e15}', '', '<html>', '{"petId":1', 'null', '1', '"x"']) {
    expect(() => parseJson(text)).toThrow(SyntaxError)
  }
})

test('a request body is JSON with exact ids, with the same bytes for the same value', () => {
  const changes = [
    { petId: 9223372036854775807n, delta: -1, expected: undefined },
    { delta: 1, petId: 1 },
  ]
  expect(serializeBody({ reason: 'sold', changes, reference: 'order "17"' })).toBe(
    '{"changes":[{"delta":-1,"petId":9223372036854775807},{"delta":1,"petId":1}],"reason":"sold","reference":"order \\"17\\""}',
  )
  const value = fc.letrec((tie) => ({
    json: fc.oneof(
      fc.string(),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.constant(null),
      tie('list'),
      tie('record'),
    ),
    list: fc.array(tie('json')),
    record: fc.dictionary(fc.string(), tie('json')),
  })).record
  fc.assert(fc.property(value, (body) => expect(JSON.parse(serializeBody(body) ?? '')).toEqual(body)))
})

test('stringify writes ids as strings', () => {
  expect(stringify({ list: [{ id: 9007199254740993n, quantity: 2 }] })).toBe(
    '{"list":[{"id":"9007199254740993","quantity":2}]}',
  )
  expect(stringify({ id: 1n }, 2)).toBe('{\n  "id": "1"\n}')
})

test('a runtime that rounds ids is refused with the versions that do not', async () => {
  const program = `delete JSON.rawJSON\nawait import('./client/src/index.ts')`
  const { stderr } = Bun.spawnSync([process.execPath, '-e', program], {
    cwd: new URL('../..', import.meta.url).pathname,
  })
  expect(stderr.toString()).toContain('@petstore/client needs Node 22')
})
