import { describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import {
  type JsonProblem,
  NumberText,
  parseExactJson,
  RefusedJson,
} from '../../src/core/values/exact-json.ts'

const exact = (text: string) => new NumberText(text)

/** Compares the decimal with its double by whole numbers. */
function isRounded(source: string): boolean {
  const value = Number(source)
  if (!Number.isInteger(value)) return Math.abs(value) === Number.POSITIVE_INFINITY
  if (!Number.isSafeInteger(value)) return true
  const [, mantissa = '', exponent = '0'] = /^([^eE]*)(?:[eE](.*))?$/.exec(source) ?? []
  const [whole = '', fraction = ''] = mantissa.split('.')
  const scale = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  return scale >= 0
    ? digits * 10n ** BigInt(scale) !== BigInt(value)
    : digits !== BigInt(value) * 10n ** BigInt(-scale)
}

function parseWithReviver(text: string): unknown {
  return JSON.parse(text, (_name, value, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && isRounded(context.source)
      ? exact(context.source)
      : value,
  )
}

const digits = (maxLength: number) => fc.stringMatching(new RegExp(`^(0|[1-9][0-9]{0,${maxLength - 1}})$`))
const numberSource = fc.oneof(
  fc.constantFrom('0', '-0', '0.0', '5.0', '-5.000', '5.00000000000000000001', '0e5', '1e400', '1e-400'),
  fc.constantFrom('9007199254740991', '9007199254740991.0', '9007199254740992', '9007199254740993'),
  fc
    .tuple(
      fc.constantFrom('', '-'),
      digits(19),
      fc.option(fc.stringMatching(/^[0-9]{1,20}$/)),
      fc.option(fc.integer({ min: -30, max: 30 })),
    )
    .map(
      ([sign, whole, fraction, exponent]) =>
        `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${exponent === null ? '' : `e${exponent}`}`,
    ),
)
const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '0', '"', '\\', '{', '1e400'))
const { text: jsonText } = fc.letrec((tie) => ({
  text: fc.oneof(
    { maxDepth: 4 },
    numberSource,
    fc.string().map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'false', 'null', '"\\u0031"', '[]', '{}', ' [ 1 , 2.0 ] '),
    fc.array(tie('text')).map((texts) => `[${texts.join()}]`),
    fc
      .uniqueArray(fc.tuple(name, tie('text')), { selector: ([name]) => name })
      .map((members) => `{${members.map(([name, text]) => `${JSON.stringify(name)} : ${text}`).join()}}`),
  ),
}))

describe('parseExactJson', () => {
  test('keeps the text of every number whose double is another integer, or is not exact', () => {
    fc.assert(
      fc.property(jsonText as fc.Arbitrary<string>, (text) => {
        expect(parseExactJson(text)).toEqual(parseWithReviver(text))
      }),
      { numRuns: 2_000 },
    )
  })

  test('never walks over the document with a reviver', () => {
    const parse = spyOn(JSON, 'parse')
    try {
      parseExactJson(`{"a": 1.0, "id": 9007199254740993, "b": [${'[],'.repeat(1_000)}[]]}`)
      expect(parse.mock.calls.map((args) => args.length)).toEqual([1])
    } finally {
      parse.mockRestore()
    }
  })

  test('counts the nesting outside of strings, before it parses', () => {
    const parse = (text: string) => parseExactJson(text, { maxNesting: 2 })
    expect(parse('{"[[[": [1, 2, "[{\\"["]}')).toEqual({ '[[[': [1, 2, '[{"['] })
    expect(parse('[[], [], {}]')).toEqual([[], [], {}])
    expect(() => parse('[[[]]]')).toThrow(RefusedJson)
    expect(() => parse('[[{')).toThrow(RefusedJson)
  })

  test('keeps the last value of a name that occurs twice', () => {
    expect(parseExactJson('{"a": 9007199254740993, "a": 5}')).toEqual({ a: 5 })
    expect(parseExactJson('{"a": [9007199254740993], "a": {"b": 1}}')).toEqual({ a: { b: 1 } })
    expect(parseExactJson('{"a": {"constructor": {"length": 1.00000000000000000001}}, "a": {}}')).toEqual({
      a: {},
    })
  })

  test.each([
    '',
    '{',
    ']',
    '[1,]',
    '{"a" 1}',
    '1-1',
    '-',
    '"\\',
    '{"\\u": 1}',
    ':',
    ',',
    '[]]:',
    '}}}]',
    ':::',
    '{"\\x": 1, "\\x": 1',
    '{"a": {"b": ]}',
  ])('rejects %j, which is not JSON', (text) => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError)
    expect(() => parseExactJson(text, { allowsRepeatedNames: false })).toThrow(SyntaxError)
  })

  test('compares 250,000 digits', () => {
    const zeros = '0'.repeat(250_000)
    expect(parseExactJson(`[1.${zeros}1]`)).toEqual([exact(`1.${zeros}1`)])
    expect(parseExactJson(`[1.${zeros}]`)).toEqual([1])
  })
})

describe('the rules for a JSON text', () => {
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
