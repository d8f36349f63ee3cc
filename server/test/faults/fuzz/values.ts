import { resolved, type Schema } from './contract.ts'

export type Random = () => number

/** The intended outcome of a part of a request: accepted, rejected, or either. */
export type Intent = 'valid' | 'invalid' | 'either'

export interface Value {
  readonly text: string
  readonly intent: Intent
}

export function oneOf<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T
}

export function chance(random: Random, probability: number): boolean {
  return random() < probability
}

export function integerFrom(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1))
}

/** Invalid percent-encoding: truncated, overlong, not UTF-8, control characters, an encoded slash. */
export const ODD_SEGMENTS = [
  ...['%', '%zz', '%0', '%00', '%0d%0a', '%ff%fe', '%c0%af', '%E0%A4%A', '%u0031', '1%2F2'],
  ...[
    '1;v=1',
    "1'--",
    '1%27%20OR%201=1',
    '$%7Bjndi:x%7D',
    '%F0%9F%90%B6',
    '%D9%A1',
    '{petId}',
    '*',
    '@',
    '~',
  ],
] as const

const WRONG_INTEGERS = [
  ...[
    'abc',
    '1.5',
    '1e3',
    '0x10',
    '+1',
    '-0',
    '00',
    '007',
    'NaN',
    'Infinity',
    'null',
    'true',
    '1_000',
    '1,0',
  ],
  ...['9223372036854775808', '-9223372036854775809', '9'.repeat(400), '%201', '1%20', '1%00', '%2B1', '--1'],
] as const

/** Ids are the only integers without a maximum. */
function isId({ format, maximum }: Schema): boolean {
  return format === 'int64' && maximum === undefined
}

/** A path segment for an int64. */
export function pathInteger(random: Random, known: readonly bigint[]): Value {
  const kind = random()
  if (kind < 0.7) return { text: String(oneOf(random, known)), intent: 'valid' }
  if (kind < 0.75) {
    // An unknown int64: some of them equal a known one as a double.
    const near = oneOf(random, known) + BigInt(integerFrom(random, 1_000, 2_000_000))
    return { text: String(BigInt.asIntN(64, near)), intent: 'either' }
  }
  if (kind < 0.8) {
    // A percent-encoded digit is the same digit.
    const text = String(oneOf(random, known))
    const first = text.charCodeAt(0).toString(16)
    return { text: `%${first}${text.slice(1)}`, intent: 'either' }
  }
  return { text: oneOf(random, [...WRONG_INTEGERS, ...ODD_SEGMENTS]), intent: 'invalid' }
}

/** `seen` are cursors returned by the service: unmodified they are valid, and modified they may be either. */
export function queryValue(random: Random, schema: Schema, seen: readonly string[]): Value {
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER, enum: values } = schema
  if (isId(schema)) return pathInteger(random, [0n, 1n, -1n, 9223372036854775807n])
  const isRight = chance(random, 0.6)
  if (type === 'integer') {
    if (isRight) return { text: String(integerFrom(random, minimum, maximum)), intent: 'valid' }
    const outside = [String(minimum - 1), String(maximum + 1)]
    return {
      text: oneOf(random, ['', 'abc', '1.5', '1e1', '-1', '0x1', '%31%', '9'.repeat(300), ...outside]),
      intent: 'invalid',
    }
  }
  if (values !== undefined) {
    if (isRight) return { text: oneOf(random, values), intent: 'valid' }
    return {
      text: oneOf(random, ['', 'SOLD', 'sold%00', 'unknown', 'sold,pending', ...ODD_SEGMENTS]),
      intent: 'invalid',
    }
  }
  if (seen.length > 0 && chance(random, 0.5))
    return { text: scratched(random, oneOf(random, seen)), intent: 'either' }
  return { text: garbled(random), intent: 'either' }
}

function scratched(random: Random, text: string): string {
  const at = integerFrom(random, 0, text.length)
  const other = oneOf(random, ['', '0', '9', '-', 'A', '%00', '%ff', '.', '='])
  return oneOf(random, [text, text.slice(0, at) + other + text.slice(at + 1), text.slice(0, at), text + text])
}

/** A modified cursor. */
export function garbled(random: Random): string {
  return oneOf(random, [
    ...ODD_SEGMENTS,
    ...['', '0', '-1', '1.5', '9223372036854775807', '99999999999999999999', 'e30', 'bnVsbA', 'W10', '='],
    ...[
      '0-0',
      '1-2-3',
      '1:2',
      '1.2.3',
      '00000000-0000-0000-0000-000000000000',
      'a'.repeat(3_000),
      '18446744073709551615',
    ],
    base64(random),
    String(integerFrom(random, 0, 1_000_000)),
    `${integerFrom(random, 0, 99)}-${integerFrom(random, 0, 99)}`,
  ])
}

function base64(random: Random): string {
  const bytes = Uint8Array.from({ length: integerFrom(random, 1, 40) }, () => integerFrom(random, 0, 255))
  return Buffer.from(bytes).toString('base64url')
}

const ODD_TAGS = [
  ...[
    '*',
    '"',
    '""',
    'W/',
    'W/""',
    '"a"b"',
    'abc',
    '"1-sold',
    ',',
    ',,,,',
    '* , "1-sold"',
    '"\xff\xfe"',
    '"\t"',
  ],
  ...[
    '"0-available"',
    'W/"4-available"',
    '"4-available", "1-pending"',
    '"99999999999999999999-sold"',
    '"-1-sold"',
  ],
  ...[`"${'a'.repeat(4_000)}"`, '"a",'.repeat(500), ' '.repeat(3_000), '5-06abad0313733720cbf8a165f75a8160'],
] as const

/** A value for a header of the contract. */
export function headerValue(random: Random, name: string): string {
  return /match/i.test(name) ? oneOf(random, ODD_TAGS) : garbled(random)
}

/** A JSON text for the schema of a body. It changes only these pets. */
export function bodyText(random: Random, schema: Schema, pets: readonly bigint[]): Value {
  const { oneOf: variants = [schema] } = resolved(schema)
  const { properties = {}, required = [], additionalProperties = true } = resolved(oneOf(random, variants))
  const entries = Object.entries(properties).map(
    ([name, part]) => [name, idText(random, name) ?? valueText(random, nonNull(part), pets)] as const,
  )
  const members = entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`)
  const right = `{${members.join(',')}}`
  if (chance(random, 0.5)) {
    const dressed = [
      right,
      ` \r\n\t${right} `,
      `{${entries.map(([name, value]) => `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}":${value}`).join(',')}}`,
    ]
    // Operations that ignore unknown fields use the last of two fields with the same name; all others refuse both.
    const withStrayFields = [
      `{${entries.map(([name]) => `${JSON.stringify(name)}:1.5`).join(',')},${members.join(',')}}`,
      `{"x":[{"y":null}],${members.join(',')},"statu":"sold"}`,
      `{"__proto__":{"a":1},"constructor":1,${members.join(',')}}`,
    ]
    if (chance(random, 0.3)) {
      const intent = additionalProperties ? 'valid' : 'invalid'
      return { text: oneOf(random, withStrayFields), intent }
    }
    return { text: oneOf(random, dressed), intent: 'valid' }
  }
  const [name = 'x'] = required
  const five = resolved(properties[name] ?? {}).type === 'string' ? '5' : '"5"'
  const wrong = oneOf(random, [five, ...WRONG_JSON_VALUES])
  const spoiled = [
    ...Array<string>(4).fill(`{${JSON.stringify(name)}:${wrong}}`),
    `{${JSON.stringify(name.toUpperCase())}:1}`,
    right.slice(0, -1),
    `${right}}`,
    `${right}${right}`,
    `[${right}]`,
    right.replaceAll('"', "'"),
    `\xef\xbb\xbf${right.slice(1)}`,
    ...BROKEN_BODIES,
  ]
  return { text: oneOf(random, spoiled), intent: 'invalid' }
}

/** Ids of categories that exist, may be created, and do not exist. */
export const CATEGORY_IDS = [1n, 2n, 3n, 404n]
/** Ids of created pets and categories: nobody else has them. */
const NEW_IDS = 1_000_000_000

function idText(random: Random, name: string): string | undefined {
  if (name === 'categoryId') return String(oneOf(random, CATEGORY_IDS))
  if (name !== 'id') return undefined
  return chance(random, 0.1)
    ? String(oneOf(random, CATEGORY_IDS))
    : String(integerFrom(random, 1_000, NEW_IDS))
}

/** The schema of a field without null. */
function nonNull(schema: Schema): Schema {
  return resolved(schema.anyOf?.find(({ type }) => type !== 'null') ?? schema)
}

function valueText(random: Random, schema: Schema, pets: readonly bigint[]): string {
  if (schema.enum !== undefined) return JSON.stringify(oneOf(random, schema.enum))
  if (schema.type === 'boolean') return String(schema.const ?? chance(random, 0.5))
  if (isId(schema)) return String(oneOf(random, pets))
  if (schema.format === 'date-time')
    return oneOf(random, [
      '"2026-12-01T10:00:00Z"',
      '"9999-12-31t23:59:59.999z"',
      '"0001-01-01T00:00:00-23:59"',
    ])
  if (schema.type === 'string')
    return oneOf(random, ['""', '"PO-1043"', '"\\u043a \\"\\\\"', `"${'x'.repeat(200)}"`])
  if (schema.type !== 'array') return numberText(random, schema)
  const { enum: kinds, oneOf: variants = [] } = resolved(schema.items ?? {})
  if (kinds !== undefined) return JSON.stringify([oneOf(random, kinds)])
  const quantity = variants.map((variant) => resolved(variant).properties?.quantity).find(Boolean) ?? {}
  const named = pets.slice(integerFrom(random, 0, pets.length - 1)).slice(0, 5)
  return `[${named.map((petId) => `{"petId":${petId},"quantity":${numberText(random, quantity)}}`)}]`
}

function numberText(random: Random, { minimum = 0, maximum = 1_000 }: Schema): string {
  const value = chance(random, 0.1) ? maximum : integerFrom(random, minimum, Math.min(maximum, 100_000))
  if (value === 0) return '0'
  return oneOf(random, [String(value), String(value), `${value}.0`, `${value}.000e0`, `${value}0e-1`])
}

const WRONG_JSON_VALUES = [
  ...['true', 'null', '1.5', '-1', '[]', '{}', '[5]', '1e400', '9007199254740992', '9007199254740993'],
  ...['1.00000000000000001', '-0.5', '9'.repeat(2_000), `1${'0'.repeat(400)}`, '""', '"\\ud800"', '1e-7'],
] as const

const BROKEN_BODIES = [
  ...[
    '',
    ' ',
    'null',
    'true',
    '5',
    '"x"',
    '[]',
    '{',
    '}',
    '{}',
    '{"',
    '{"quantity"',
    '{"quantity":',
    '{"quantity":5,}',
  ],
  ...[
    '{quantity:5}',
    '{"quantity":05}',
    '{"quantity":+5}',
    '{"quantity":.5}',
    '{"quantity":5.}',
    '{"quantity":NaN}',
  ],
  ...[
    '{"quantity":0x5}',
    '{"quantity":5}//',
    '/**/{"quantity":5}',
    '{"quantity":5}\0',
    'quantity=5',
    '<quantity/>',
  ],
  ...['{"quantity":"\x80"}', '\xff\xfe{\0', '['.repeat(200), `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`],
  `{"quantity":5,"x":${'['.repeat(70)}${']'.repeat(70)}}`,
  `{"quantity":5,"x":"${'a'.repeat(70_000)}"}`,
] as const
