import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { TSchema } from 'typebox'
import {
  EXAMPLES,
  EXAMPLES_WITH_KEY,
  exampleOf,
  startExampleShop,
  targetOf,
} from '../support/example-requests.ts'
import { type Answer, START, type TestService } from '../support/test-service.ts'

setDefaultTimeout(120_000)

let service: TestService
beforeAll(async () => {
  service = await startExampleShop()
})
afterAll(() => service.stop())

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minItems?: number
  readonly maxItems?: number
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly [Schema, Schema]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly choices?: Readonly<Record<string, readonly string[]>>
  readonly required?: readonly string[]
  readonly examples?: readonly Body[]
}

type Body = Readonly<Record<string, unknown>>

/** PostgreSQL cannot store either of them in a text. */
const UNSTORABLE = ['a\0b', 'a\ud800b']
const rawNumber = (text: string) => JSON.rawJSON(text)
const NO_NUMBERS = ['1', true, {}, rawNumber('1.5'), rawNumber('5.00000000000000000001')]

/** Values that the schema of a field excludes. */
function badValues({ anyOf, ...schema }: Schema): readonly unknown[] {
  if (anyOf !== undefined) return badValues(anyOf[0]).filter((value) => value !== null)
  const { type, format, minimum, maximum, minLength = 0, maxLength, minItems = 0, maxItems, items } = schema
  if (format === 'int64') return [...NO_NUMBERS, null, rawNumber('9223372036854775808')]
  if (format === 'date-time') return ['tomorrow', '2026-02-30T10:00:00Z', '2027-01-01', 1_790_000_000, null]
  if (schema.enum !== undefined) return ['other', '', 5, null, ...UNSTORABLE]
  switch (type) {
    case 'integer':
      return [...NO_NUMBERS, null, (minimum ?? 0) - 1, rawNumber(String(BigInt(maximum ?? 0) + 1n))]
    case 'boolean':
      return ['true', 1, null]
    case 'array': {
      const tooMany = Array.from({ length: (maxItems ?? 0) + 1 }, () => ({}))
      const [word] = items?.enum ?? []
      const lists = word === undefined ? [tooMany, [5], [null]] : [['other'], [word, word], UNSTORABLE]
      return [{}, 'text', null, ...lists, ...(minItems > 0 ? [[]] : [])]
    }
    default: {
      const tooLong = maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]
      return [5, null, ...UNSTORABLE, ...tooLong, ...(minLength > 0 ? [''] : [])]
    }
  }
}

/** The example that has a field of the same choice, or else the first, without fields that exclude the field. */
function bodyFor({ choices = {}, examples = [] }: Schema, field: string): Body {
  const groups = Object.values(choices)
  const group = groups.find((names) => names.includes(field)) ?? []
  const { petId, ...rest } = examples.find((each) => group.some((name) => name in each)) ?? examples[0] ?? {}
  const example = petId === undefined || field === 'barcode' ? rest : { petId, ...rest }
  if (group.length === 0) return example
  const others = groups.filter((names) => !names.includes(field)).flat()
  return Object.fromEntries(Object.entries(example).filter(([name]) => !others.includes(name)))
}

/** Each field of the body, also those of the elements of its list, with a function that makes a body from its value. */
function fieldsOf(operationId: string, schema: Schema) {
  const example = exampleOf(operationId, schema)
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const base = bodyFor(schema, name)
    const whole = { name, field, bodyWith: (value: unknown): Body => ({ ...base, [name]: value }) }
    const element = field.items?.properties === undefined ? undefined : field.items
    if (element === undefined || example[name] === undefined) return [whole]
    const parts = Object.entries(element.properties ?? {}).map(([part, partSchema]) => ({
      name: `${name}[0].${part}`,
      field: partSchema,
      bodyWith: (value: unknown): Body => ({
        ...base,
        [name]: [{ ...bodyFor(element, part), [part]: value }],
      }),
    }))
    return [whole, ...parts]
  })
}

function expectInvalid({ status, error }: Answer, field: string | undefined, sent: unknown): void {
  expect([sent, status, error.code, error.field]).toEqual([sent, 400, 'invalid_request', field])
}

const withBody = EXAMPLES.flatMap(({ operationId, body, ...operation }) =>
  body === undefined ? [] : [{ ...operation, operationId, body, schema: body as Schema }],
)

describe.each(withBody)(
  '$operationId',
  ({ operationId, method, target, sentBody = '', ignoresUnknownInput, schema }) => {
    const fields = fieldsOf(operationId, schema)
    const send = (body: unknown, headers = {}) => service.send(method, target, body, { headers })

    test('rejects each value that the schema of a field excludes, names the field, and changes nothing', async () => {
      const before = await service.contents()
      for (const { name, field, bodyWith } of fields) {
        for (const value of badValues(field)) {
          const answer = await send(bodyWith(value))
          // The invalid elements of a list are all listed; the first of them is the field.
          const isElement =
            Array.isArray(value) && field.items?.properties !== undefined && value.length === 1
          expectInvalid(answer, isElement ? answer.error.field : name, [name, value])
          if (name.includes('[') || isElement) expect(answer.error.details).toMatchObject([{ index: 0 }])
        }
      }
      expect(await service.contents()).toEqual(before)
    })

    test('accepts the longest texts, counted in characters, and the largest numbers', async () => {
      for (const { name, field, bodyWith } of fields) {
        await service.setQuantity(1n, '{"quantity": 5}')
        const { type, format, minimum, maximum, maxLength, pattern } = field.anyOf?.[0] ?? field
        if (type === 'string' && maxLength !== undefined && name !== 'url') {
          const sent = (pattern === undefined ? '🐶' : 'x').repeat(maxLength)
          expect([name, (await send(bodyWith(sent))).status]).not.toEqual([name, 400])
        }
        // The limits of a key depend on its plan, and a delta on the stock.
        if (type !== 'integer' || format === 'int64' || /^per|delta/.test(name)) continue
        for (const sent of [minimum, maximum]) {
          expect([name, sent, (await send(bodyWith(sent))).status]).not.toEqual([name, sent, 400])
        }
      }
    })

    test('rejects bodies that are not JSON objects', async () => {
      const before = await service.contents()
      for (const body of ['', '[]', 'null', '5', sentBody.slice(0, -1), `${sentBody}x`]) {
        expectInvalid(await send(body), undefined, body)
      }
      for (const [name, value] of [
        ['Content-Type', 'text/plain'],
        ['Content-Encoding', 'gzip'],
      ] as const) {
        expectInvalid(await send(sentBody, { [name]: value }), undefined, value)
      }
      expect(await service.contents()).toEqual(before)
    })

    const chosen = Object.values(schema.choices ?? {}).flat()
    const required = (schema.required ?? []).filter((name) => !chosen.includes(name))
    test.if(required.length > 0)('names a missing field', async () => {
      for (const name of required) {
        const { [name]: _, ...rest } = exampleOf(operationId, schema)
        const answer = await send(rest)
        expectInvalid(answer, name, name)
        expect(answer.error.message).toMatch(/ is missing; it must be |got nothing/)
      }
    })

    test.if(!ignoresUnknownInput)(
      'rejects unknown and repeated fields, and suggests the closest name',
      async () => {
        for (const { name, bodyWith } of fields) {
          const field = name.split('.').at(-1) ?? ''
          const body = JSON.stringify(bodyWith(1))
          const other = field.toUpperCase()
          const unknown = await send(body.replace(`"${field}":`, `"${other}":1,"${field}":`))
          expectInvalid(unknown, name.replace(/\w+$/, other), name)
          expect(unknown.error.message).toContain(`unknown field "${other}" (did you mean ${field}?)`)
          const escaped = `"\\u${(field.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}${field.slice(1)}":1`
          const repeated = await send(body.replace(`"${field}":`, `${escaped},"${field}":`))
          expectInvalid(repeated, name.includes('[') ? undefined : field, name)
          expect(repeated.error.message).toBe(`the field "${field}" is given twice; give it once`)
        }
      },
    )
  },
)

describe('PATCH /inventory/{petId}, an operation of the specification,', () => {
  test('ignores unknown and repeated names', async () => {
    const body = '{"quantity": 5, "note": 1, "note": 2, "quantity": 6, "status": "sold"}'
    const { status, item } = await service.setQuantity(1n, body)
    expect([status, item]).toEqual([200, { petId: 1, quantity: 6, status: 'available' }])
  })
})

const BAD_TEXTS: Readonly<Record<string, readonly string[]>> = {
  integer: ['', 'x', '1.5', '5.0', '05', '+5', '1e1', '9223372036854775808'],
  boolean: ['', '1', 'TRUE'],
  array: ['', 'other'],
  'date-time': ['', 'yesterday', '2026-01-01', '2026-09-01T10:00:00'],
}

function badTexts(schema: Schema): readonly string[] {
  const { type = '', format = '', minimum, maximum, minLength = 0, maxLength } = schema
  if (schema.enum !== undefined) return ['', 'other']
  const limits = [
    minimum === undefined ? [] : [minimum - 1],
    maximum === undefined ? [] : [BigInt(maximum) + 1n],
  ]
  const lengths = [minLength > 0 ? [''] : [], maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]]
  return [...(BAD_TEXTS[format] ?? BAD_TEXTS[type] ?? []), ...limits.flat().map(String), ...lengths.flat()]
}

const withQuery = EXAMPLES.flatMap(({ operationId, method, target, query, ignoresUnknownInput }) =>
  query === undefined || method !== 'GET'
    ? []
    : [
        {
          operationId,
          target,
          query: query as Readonly<Record<string, TSchema & Schema>>,
          ignoresUnknownInput,
        },
      ],
)

describe.each(withQuery)('the query of $operationId', ({ target, query }) => {
  const get = (parameters: string) => service.call('GET', `${target}?${parameters}`)

  test('is rejected with a value that the schema of a parameter excludes, and with one that is given twice', async () => {
    for (const [name, schema] of Object.entries(query)) {
      for (const text of badTexts(schema)) {
        expectInvalid(await get(new URLSearchParams({ [name]: text }).toString()), name, [name, text])
      }
      const twice = await get(`${name}=1&${name}=1`)
      expectInvalid(twice, name, name)
      expect(twice.error.message).toBe(`the query parameter ${name} is given twice; give it once`)
    }
  })

  test('is rejected with U+0000, which PostgreSQL cannot compare', async () => {
    for (const name of Object.keys(query)) expectInvalid(await get(`${name}=a%00b`), name, name)
  })
})

describe.each(EXAMPLES_WITH_KEY)('$operationId with an unknown query parameter', (example) => {
  const { method, target, sentBody, query = {}, ignoresUnknownInput } = example
  const [known] = Object.keys(query)

  test.if(ignoresUnknownInput === true)('ignores it', async () => {
    expect((await service.send(method, `${target}?unknown=1`, sentBody)).status).toBe(200)
  })

  test.if(!ignoresUnknownInput)('rejects it, and suggests the closest name', async () => {
    const unknown = known?.toUpperCase() ?? 'verbose'
    const separator = target.includes('?') ? '&' : '?'
    const answer = await service.send(method, `${target}${separator}${unknown}=1`, sentBody)
    expectInvalid(answer, unknown, target)
    const advice = known === undefined ? 'this operation has none' : `did you mean ${known}?`
    expect(answer.error.message).toBe(`unknown query parameter "${unknown}" (${advice})`)
  })
})

const withParams = EXAMPLES.filter(({ params }) => params !== undefined)

describe.each(withParams)(
  '$operationId with an id in its path',
  ({ method, path, sentBody, params = {} }) => {
    const [name = ''] = Object.keys(params)
    const sendFor = (id: string) =>
      service.send(
        method,
        targetOf({ method, path }, () => id),
        sentBody,
      )
    const invalid =
      name === 'keyId' ? ['17', 'key_a.b'] : ['abc', '1.5', '-', '', '9223372036854775808', '007', '+1']

    test.each([...invalid, '%zz'])('"%s" is 400', async (id) => {
      const answer = await sendFor(id)
      expectInvalid(answer, name, id)
      const problem = id === '' ? 'is missing in the path; it must be' : 'must be'
      expect(answer.error.message).toStartWith(`${name} ${problem}`)
    })

    const unknown = name === 'keyId' ? ['key_404'] : ['404', '-9223372036854775808', '9223372036854775806']
    test.each(unknown)('%s is 404', async (id) => {
      const { status, error } = await sendFor(id)
      expect([status, error.code]).toEqual([404, 'not_found'])
      expect(error.message).toContain(id)
    })
  },
)

const GROUPS =
  'either at least one of complete, onlyIfOpen, evenIfExpired and occurredAt or at least one of lines, reference, shipDate, customer, note, metadata and holdSeconds, got'
const ORDER = { petId: 1, quantity: 1 }
const SALE = { ...ORDER, complete: true }
const TIME = new Date(START).toISOString()
const AHEAD = new Date(START + 300_001).toISOString()

describe('a message says what is expected', () => {
  test.each([
    [
      '/inventory/history?since=2026-01-01',
      'a date and time with its zone such as 2026-09-01T10:00:00Z, got "2026-01-01"',
    ],
    ['/catalog?limit=0', 'the query parameter limit must be an integer from 1 to 10000, got "0"'],
    [
      '/catalog?cursor=x',
      'must come from the Link header of a page, got "x"; leave it out to start with the first',
    ],
    ['/store/orders?customer=!%3F', 'customer must be 1 to 200 characters with at least one letter or digit'],
  ])('GET %s', async (path, message) => {
    const { error } = await service.call('GET', path)
    expect([error.status, error.message]).toEqual([400, expect.stringContaining(message)])
  })

  test.each<[string, object, string]>([
    [
      'POST /categories',
      { name: 'Dogs', colour: 'red' },
      'unknown field "colour" (known: name, lowStockAt, id)',
    ],
    [
      'POST /store/orders',
      { ...ORDER, holdSecond: 9 },
      'unknown field "holdSecond" (did you mean holdSeconds?)',
    ],
    ['PATCH /store/orders/1', {}, `the body must have ${GROUPS} neither`],
    ['PATCH /store/orders/1', { complete: true, note: 'x' }, `the body must have ${GROUPS} both`],
    ['PATCH /store/orders/1', { onlyIfOpen: true }, 'complete is missing'],
    ['POST /store/orders', {}, 'either lines or at least one of petId, barcode and quantity, got neither'],
    ['POST /store/orders', { ...ORDER, lines: [ORDER] }, 'petId, barcode and quantity, got both'],
    ['POST /store/orders', { quantity: 1 }, 'the order must have either petId or barcode, got neither'],
    ['POST /store/orders', { ...ORDER, barcode: 'SCANNED' }, 'must have either petId or barcode, got both'],
    ['POST /store/orders', { ...ORDER, occurredAt: TIME }, 'occurredAt is possible only with complete'],
    [
      'POST /store/orders',
      { ...ORDER, evenIfReserved: true },
      'evenIfReserved is possible only with complete',
    ],
    ['POST /store/orders', { ...SALE, holdSeconds: 9 }, 'holdSeconds is possible only without complete'],
    ['POST /store/orders', { ...SALE, occurredAt: AHEAD }, 'occurredAt must be at most 5 minutes ahead'],
    ['PATCH /store/orders/1', { complete: true, occurredAt: AHEAD }, 'at most 5 minutes ahead'],
    [
      'PATCH /store/orders/1',
      { complete: false },
      'must be true (DELETE cancels an order), got false (a boolean)',
    ],
    [
      'PATCH /pets/1',
      {},
      'at least one of name, categoryId, status, barcode, lowStockAt and metadata, got none of them',
    ],
    ['PATCH /webhooks/1', {}, 'the body must have at least one of url, kinds and paused, got none of them'],
    ['POST /pets', { name: '   ', categoryId: 1 }, 'at least one of them visible'],
    ['POST /store/orders', { ...ORDER, customer: 'Anna\nSmith' }, 'without line ends'],
    ['POST /store/orders', { ...ORDER, note: 'bell\u0007' }, 'control characters other than line breaks'],
    [
      'POST /pets',
      { name: 'Rex', categoryId: 1, barcode: 'a b' },
      'must be 1 to 48 visible ASCII characters',
    ],
    ['POST /inventory/adjustments', { reason: 'sold', reference: 'a\u0007' }, 'without control characters'],
  ])('%s %j', async (operation, body, message) => {
    const [method = '', path = ''] = operation.split(' ')
    const { error } = await service.send(method, path, body)
    expect([error.status, error.message]).toEqual([400, expect.stringContaining(message)])
  })

  test('also about one of several elements', async () => {
    const changes = [
      { petId: 1, delta: -1 },
      { petId: 2, delta: 0 },
      { petId: 1, delta: 1 },
      { petId: 3 },
      { petId: 4, delta: 1, quantity: 1 },
    ]
    const { error } = await service.send('POST', '/inventory/adjustments', { reason: 'lost', changes })
    expect(error.details?.map(({ index, petId, message }) => [index, petId, message])).toEqual([
      [1, 2, expect.stringContaining('delta must be an integer other than 0')],
      [2, 1, 'petId 1 occurs twice; name each pet once'],
      [3, 3, 'a change must have either delta or quantity, got neither'],
      [4, 4, 'a change must have either delta or quantity, got both'],
    ])
  })
})

test('a hostile name is bounded, and a key in it is hidden', async () => {
  const { error } = await service.send('POST', '/categories', `{"${'x'.repeat(30_000)}": 1}`)
  expect(error.message.length).toBeLessThan(200)
  expect(error.field?.length).toBeLessThan(50)
  const { error: basket } = await service.send('POST', '/store/orders', `{"lines": [{"${service.key}": 1}]}`)
  expect(basket).toMatchObject({ details: [{ index: 0, field: expect.stringContaining('[hidden]') }] })
})

test('a body nests one level deeper than a valid one at most, and up to 16 levels if unknown fields are ignored', async () => {
  const adjust = (body: string) => service.send('POST', '/inventory/adjustments', body)
  const { error } = await adjust('{"reason": "lost", "changes": [{"petId": [[1]], "delta": 1}]}')
  expect(error.message).toStartWith('the request body nests deeper than 4 levels')
  expect((await adjust('['.repeat(250_000))).error.message).toContain('nests deeper than 4 levels')
})
