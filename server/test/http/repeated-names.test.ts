import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type JsonProblem, parseExactJson, RefusedJson } from '../../src/core/values/exact-json.ts'
import { TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

function send(method: string, path: string, body: string) {
  return service.call(method, path, { body, headers: { 'Content-Type': 'application/json' } })
}

describe('a body that names a field twice', () => {
  test.each([
    ['POST', '/store/orders', '{"petId": 1, "quantity": 1, "quantity": 2}', 'quantity'],
    ['PATCH', '/pets/1', '{"name": "Rex", "status": "sold", "name": "Max"}', 'name'],
    ['POST', '/categories', String.raw`{"name": "Dogs", "n\u0061me": "Cats"}`, 'name'],
  ])('is 400 for %s %s %s', async (method, path, body, field) => {
    const { status, error } = await send(method, path, body)
    expect([status, error.code, error.field]).toEqual([400, 'invalid_request', field])
    expect(error.message).toBe(`the field "${field}" is given twice; give it once`)
  })

  test('is 400 if an object inside it repeats the name', async () => {
    const body =
      '{"reason": "lost", "changes": [{"petId": 1, "delta": -1}, {"petId": 2, "delta": -1, "delta": 9}]}'
    const { status, error } = await send('POST', '/inventory/adjustments', body)
    expect([status, error.message]).toEqual([400, 'the field "delta" is given twice; give it once'])
  })

  test('is accepted by PATCH /inventory/{petId}, which ignores what it does not know', async () => {
    const { status, item } = await service.setQuantity(
      1n,
      '{"quantity": 5, "note": 1, "note": 2, "quantity": 6}',
    )
    expect([status, item.quantity]).toEqual([200, 6])
  })
})

describe('the check of a JSON text', () => {
  const rules = { maxNesting: 4, allowsRepeatedNames: false }

  function problemOf(text: string): JsonProblem | undefined {
    try {
      parseExactJson(text, rules)
    } catch (error) {
      if (error instanceof RefusedJson) return error.problem
      throw error
    }
    return undefined
  }

  test.each([
    '{"a": 1, "b": {"a": 1, "b": [{"a": 1}, {"a": 2}]}, "c": "a"}',
    String.raw`{"a": "\"b\": 1, \\", "b": "{\"a\": 1}", "c": ":", "d": "a\\"}`,
    '{"a": {}, "b": {"a": {}}, "": 1, "A": 1}',
    '[[[[1]]]]',
  ])('accepts %s', (text) => {
    expect(parseExactJson(text, rules)).toEqual(JSON.parse(text))
  })

  test.each([
    ['{"a": 1, "b": {"a": {"x": 1}}, "a": 2}', 'a', false],
    ['[{"a": 1}, {"b": 1, "c": [[]], "b": 2}]', 'b', true],
    [String.raw`{"\"": 1, "\u0022": 2}`, '"', false],
    ['{"__proto__": 1, "__proto__": 2}', '__proto__', false],
  ])('finds the repeated name in %s', (text, name, isInside) => {
    expect(problemOf(text)).toEqual({ type: 'repeats_name', name, isInside })
    expect(() => parseExactJson(text, { ...rules, allowsRepeatedNames: true })).not.toThrow()
  })
})
