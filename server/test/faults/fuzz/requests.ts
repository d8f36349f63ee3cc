import contract from '../../../../openapi.json'
import type { Random } from '../../sim/random.ts'

export interface FuzzRequest {
  /** `undefined` for a path that is not in the contract. */
  readonly operationId: string | undefined
  readonly method: string
  /** Relative to the base address, query included. */
  readonly path: string
  /** The complete request, one character per byte. */
  readonly bytes: string
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: { readonly enum?: readonly string[]; readonly type?: string }
}

interface Schema {
  readonly $ref?: string
  readonly examples?: readonly unknown[]
}

interface OperationEntry {
  readonly operationId: string
  readonly parameters: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>
  }
}

const PATHS = contract.paths as unknown as Readonly<Record<string, Readonly<Record<string, OperationEntry>>>>
const PARAMETERS = contract.components.parameters as unknown as Readonly<Record<string, Parameter>>
const SCHEMAS = contract.components.schemas as unknown as Readonly<Record<string, Schema>>

/** Every operation with the media type and an example of its body. */
const OPERATIONS = Object.entries(PATHS).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, parameters, requestBody }]) => {
    const [[mediaType, body] = []] = Object.entries(requestBody?.content ?? {})
    const schema = SCHEMAS[nameIn(body?.schema.$ref)] ?? body?.schema
    const example = body?.example ?? schema?.examples?.[0]
    return {
      operationId,
      method: method.toUpperCase(),
      path,
      mediaType,
      example,
      parameters: parameters.flatMap((entry) =>
        '$ref' in entry ? (PARAMETERS[nameIn(entry.$ref)] ?? []) : entry,
      ),
    }
  }),
)

export const OPERATION_IDS = OPERATIONS.map(({ operationId }) => operationId)

function nameIn(reference = ''): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

const MAX_SEEN = 60

/** The latest ids, cursors and tags in responses, which later requests use again. */
export class Seen {
  readonly ids: string[] = ['1', '2', '-1', '9007199254740993']
  readonly keyIds: string[] = ['key_4fT9cVq2Lw8ZsXyN']
  readonly cursors: string[] = ['0']
  readonly tags: string[] = ['*']
  readonly #ownKeyId: string

  /** Requests leave the key that they use alone. */
  constructor(ownKeyId: string) {
    this.#ownKeyId = ownKeyId
  }

  add(text: string, headers: Headers): void {
    for (const [, id = ''] of text.matchAll(/"(?:id|petId|categoryId)":(-?\d+)/g)) keep(this.ids, id)
    for (const [, id = ''] of text.matchAll(/"id":"(key_\w+)"/g)) {
      if (id !== this.#ownKeyId) keep(this.keyIds, id)
    }
    const cursor = /[?&]cursor=([^&>]+)/.exec(headers.get('Link') ?? '')?.[1]
    if (cursor !== undefined) keep(this.cursors, cursor)
    const tag = headers.get('ETag')
    if (tag !== null) keep(this.tags, tag)
  }
}

function keep(list: string[], value: string): void {
  list.push(value)
  if (list.length > MAX_SEEN) list.shift()
}

/**
 * Integers that are none or too large, percent-encodings that are truncated, overlong or of control characters, cursors and tags
 * that nobody issued.
 */
const ODD_TEXTS = [
  ...'abc 1.5 1e3 0x10 +1 -0 00 007 NaN Infinity null true 1_000 1,0 --1 -1 9223372036854775807'.split(' '),
  ...'9223372036854775808 -9223372036854775809 18446744073709551615 %201 1%20 1%00 %2B1 %31'.split(' '),
  ...'% %zz %0 %00 %0d%0a %ff%fe %c0%af %E0%A4%A %u0031 1%2F2 1;v=1 {petId} * @ ~ = 0-0 1-2-3 1:2 1.2.3'.split(
    ' ',
  ),
  ...`1'-- 1%27%20OR%201=1 $%7Bjndi:x%7D %F0%9F%90%B6 %D9%A1 e30 bnVsbA W10 sold%00 sold,pending`.split(' '),
  ...'" "" W/ W/"" "a"b" "1-sold , ,,,, "0-available" "4-available","1-pending" "-1-sold"'.split(' '),
  '',
  '9'.repeat(400),
  'a'.repeat(3_000),
  '"a",'.repeat(500),
]

const STRAY_PATHS = [
  ...'/ // /inventory/ /inventory/../pets/x /%2e%2e/openapi /inventory/%2e%2e/%2e%2e/x /INVENTORY'.split(' '),
  ...'/inventory;x /inventory/1/2/3 /store /store/orders/1/2 /a\\b /\x80\xff /.git/config'.split(' '),
  '',
  `/${'a/'.repeat(2_000)}`,
]

const ODD_METHODS = ['DELETE', 'PUT', 'POST', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PURGE', 'LOCK']

/** Headers that must have no effect. */
const NEUTRAL_HEADERS = [
  'Range: bytes=5-,-1,x',
  'Accept: image/png',
  'Accept-Encoding: gzip;q=x, zstd;q=-1, *;q=0',
  'Expect: 100-continue',
  'Upgrade: websocket',
  'Origin: null',
  'X-HTTP-Method-Override: DELETE',
  'X-Forwarded-For: 1.2.3.4, unknown, ::ffff:1.2.3.4, %',
  `X-Request-Id: ${'x'.repeat(3_000)}`,
  `Cookie: ${'a=b; '.repeat(500)}`,
  'Accept-Language: \xe4\xf6\xfc',
  'If-Modified-Since: yesterday',
  'TE: trailers',
]

const ODD_VALUES = [
  ...[null, true, -1, 1.5, '', 'x', [], {}, [5], [null], 1e300, Number.MAX_SAFE_INTEGER],
  ...['1e400', '9007199254740993', '1.00000000000000001', '-0.5', '1e-7', '9'.repeat(2_000), '"\\ud800"'].map(
    (text) => JSON.rawJSON(text),
  ),
]

const BROKEN_BODIES = [
  ...[' ', 'null', '5', '"x"', '[]', '{', '}', '{}', '{"', '{"quantity":', '{"quantity":5,}', '{quantity:5}'],
  ...['{"quantity":05}', '{"quantity":+5}', '{"quantity":NaN}', '{"quantity":0x5}', '{"quantity":5}\0'],
  ...['<quantity/>', '{"quantity":"\x80"}', '\xff\xfe{\0', '['.repeat(200), '{"a":'.repeat(100)],
  `{"quantity":5,"x":${'['.repeat(70)}${']'.repeat(70)}}`,
  `{"quantity":5,"x":"${'a'.repeat(70_000)}"}`,
]

/** Generates one request from the contract. Most parts of it are right. */
export function nextRequest(random: Random, key: string, seen: Seen): FuzzRequest {
  if (random.chance(0.04)) {
    const [method, path] = [random.pick(['GET', ...ODD_METHODS]), random.pick(STRAY_PATHS)]
    return assembled(undefined, method, path, [`Authorization: Bearer ${key}`])
  }
  const operation = random.pick(OPERATIONS)
  const method = random.chance(0.95) ? operation.method : random.pick(ODD_METHODS)
  const isRight = (probability = 0.9) => random.chance(probability)
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => {
    if (!isRight()) return random.pick(ODD_TEXTS).replaceAll(/[ "\\{}]/g, '')
    return random.pick(name === 'keyId' ? seen.keyIds : seen.ids)
  })
  const query = operation.parameters
    .filter((parameter) => parameter.in === 'query' && random.chance(0.3))
    .map(
      ({ name, schema }) =>
        `${name}=${isRight() ? queryValue(random, name, schema, seen) : random.pick(ODD_TEXTS)}`,
    )
  if (!isRight(0.97)) query.push(random.pick(['x=1', '&&&', '%', '=%00', '?', ...query]))
  const headers = operation.parameters
    .filter((parameter) => parameter.in === 'header' && random.chance(0.25))
    .map(({ name }) => `${name}: ${isRight(0.6) ? headerValue(random, name, seen) : random.pick(ODD_TEXTS)}`)
  if (isRight(0.95)) headers.push(`Authorization: Bearer ${key}`)
  else
    headers.push(
      random.pick(['Authorization:', `Authorization: Basic ${key}`, `Authorization: Bearer ${key}x`]),
    )
  headers.push(...NEUTRAL_HEADERS.filter(() => random.chance(0.02)))
  const body = operation.mediaType === undefined ? undefined : bodyText(random, operation.example, seen)
  if (body !== undefined) {
    headers.push(
      `Content-Type: ${isRight(0.97) ? operation.mediaType : random.pick(['', 'text/plain', '\xff'])}`,
    )
  }
  const target = query.length === 0 ? path : `${path}?${query.join('&').replaceAll(/[ "\\]/g, '')}`
  return assembled(operation.operationId, method, target, headers, body)
}

function queryValue(
  random: Random,
  name: string,
  { enum: values, type }: Parameter['schema'],
  seen: Seen,
): string {
  if (name === 'cursor') return random.pick(random.chance(0.3) ? seen.ids : seen.cursors)
  if (values !== undefined) return random.pick(values)
  if (type === 'integer') return name.endsWith('Id') ? random.pick(seen.ids) : String(random.integer(1, 100))
  return random.pick(['true', 'Biscuit', 'b', '2026-12-01T10:00:00Z', 'received', '%D0%BC%D1%83'])
}

function headerValue(random: Random, name: string, seen: Seen): string {
  return /match/i.test(name) ? random.pick(seen.tags) : `key-${random.integer(1, 500)}`
}

/** A JSON text like the example. */
function bodyText(random: Random, example: unknown, seen: Seen): string {
  const text = typeof example === 'string' ? example : JSON.stringify(varied(random, '', example, seen))
  if (random.chance(0.8)) return Buffer.from(text).toString('latin1')
  const at = random.integer(0, text.length)
  return random.pick([
    ...[
      text.slice(0, at),
      text.slice(at),
      text + text,
      `[${text}]`,
      text.replaceAll('"', "'"),
      `\xef\xbb\xbf${text}`,
    ],
    text.replace('{', '{"__proto__":{"a":1},"constructor":1,'),
    text.replace(/^\{(.*)\}$/s, '{$1,$1}'),
    ...BROKEN_BODIES,
  ])
}

function varied(random: Random, name: string, value: unknown, seen: Seen): unknown {
  if (name !== '' && random.chance(0.05)) return random.pick(ODD_VALUES)
  if (Array.isArray(value)) return value.map((element) => varied(random, '', element, seen))
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(() => random.chance(0.95))
    return Object.fromEntries(entries.map(([field, part]) => [field, varied(random, field, part, seen)]))
  }
  if (/^id$|Id$/.test(name)) return JSON.rawJSON(random.pick(seen.ids))
  if (typeof value === 'number') {
    return random.pick([value, value, random.integer(0, 9), JSON.rawJSON(`${value}.0`)])
  }
  if (typeof value !== 'string') return value
  return random.pick([
    value,
    value,
    `${value}${random.integer(0, 999)}`,
    'Мурка, the "Great"',
    'x'.repeat(200),
  ])
}

function assembled(
  operationId: string | undefined,
  method: string,
  path: string,
  headers: readonly string[],
  body?: string,
): FuzzRequest {
  const framing = body === undefined ? [] : [`Content-Length: ${body.length}`]
  const head = [`${method} /v1${path} HTTP/1.1`, 'Host: petstore.test', ...headers, ...framing]
  return { operationId, method, path, bytes: `${head.join('\r\n')}\r\n\r\n${body ?? ''}` }
}
