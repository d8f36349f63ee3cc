import { createSecret } from '../../../src/core/keys/api-key.ts'
import { CONTRACT_OPERATIONS, type ContractOperation } from './contract.ts'
import {
  bodyText,
  CATEGORY_IDS,
  chance,
  garbled,
  headerValue,
  type Intent,
  integerFrom,
  oneOf,
  pathInteger,
  queryValue,
  type Random,
} from './values.ts'

export interface FuzzRequest {
  readonly method: string
  /** Relative to the base address, query included. */
  readonly path: string
  /** The complete request, one character per byte. */
  readonly bytes: string
  /** `valid`: a 4xx response would be wrong; `invalid`: a response below 400 would be. */
  readonly intent: Intent
  /** Whether the service sees the same path as the test. It does not if the path has `..` segments. */
  readonly isRouted: boolean
  /** As sent, if there is one. */
  readonly body: string | undefined
  /** The expected response of a successful update, if known. */
  readonly update: { readonly petId: bigint; readonly quantity: number } | undefined
}

export interface Ingredients {
  readonly random: Random
  readonly key: string
  /** The pets that only this sender changes. */
  readonly pets: readonly bigint[]
  /** The orders that it has created for them. */
  readonly orders: readonly bigint[]
  /** Pets that it has created, and may remove; nobody orders them. */
  readonly madePets: readonly bigint[]
  /** Cursors returned by the service. */
  readonly cursors: readonly string[]
}

/** These ignore unknown query parameters. */
const IN_SPECIFICATION = new Set(['listInventory', 'updateInventory', 'getPet', 'listOrders'])

/** Operations that change something are tried more often. */
const OPERATIONS = CONTRACT_OPERATIONS.flatMap((operation) =>
  Array<ContractOperation>(operation.body === undefined ? 3 : 5).fill(operation),
)

/** Generates one request from the contract: most of them almost valid. */
export function nextRequest(ingredients: Ingredients): FuzzRequest {
  const { random } = ingredients
  return chance(random, 0.06) ? strayRequest(ingredients) : operationRequest(ingredients)
}

function operationRequest({ random, key, pets, orders, madePets, cursors }: Ingredients): FuzzRequest {
  const operation = oneOf(random, OPERATIONS)
  const intents: Intent[] = []
  const { path, petId } = fillPath(operation, random, { pets, orders, madePets }, intents)
  // The outcome also depends on the stock, and on whether the order exists and is open.
  if (isAboutOrders(operation) || dependsOnWhatIsThere(operation)) intents.push('either')
  const query = fillQuery(operation, random, cursors, intents)
  const method = chooseMethod(operation, random, intents)
  const lines = [...authorization(random, key, intents), ...contractHeaders(operation, random, intents)]
  const body = operation.body === undefined || method !== operation.method ? undefined : operation.body
  const text = body === undefined ? undefined : bodyText(random, body, pets)
  if (text !== undefined) {
    intents.push(text.intent)
    // Whether units are reserved depends on the orders of other requests.
    if (/"[^"]*(?:eepReserved":true|ccurredAt"|arcode")/.test(text.text)) intents.push('either')
    lines.push(...mediaType(random, intents))
  } else if (method === 'GET' && chance(random, 0.03)) {
    // An unexpected body is read and ignored.
    return assemble(method, path + query, [...lines, ...neutralHeaders(random)], '{"quantity":1}', intents)
  }
  lines.push(...neutralHeaders(random))
  const request = assemble(method, path + query, lines, text?.text, intents)
  const quantity = text?.intent === 'valid' ? quantityOf(text.text) : undefined
  const update = petId === undefined || quantity === undefined ? undefined : { petId, quantity }
  return { ...request, update }
}

/** A request for an unknown resource, or with a wrong path. */
function strayRequest({ random, key }: Ingredients): FuzzRequest {
  const path = oneOf(random, [
    ...[
      '/',
      '',
      '//',
      '/inventory/',
      '/inventory/../pets/x',
      '/%2e%2e/openapi',
      '/inventory/%2e%2e/%2e%2e/x',
    ],
    ...[
      '/INVENTORY',
      '/inventory;x',
      '/inventory/1/2/3',
      '/store',
      '/store/orders/1/2',
      '/a\\b',
      '/\x80\xff',
      '/.git/config',
    ],
    `/${garbled(random)}`,
    `/${'a/'.repeat(integerFrom(random, 1, 2_000))}`,
  ])
  const method = oneOf(random, ['GET', 'HEAD', 'PATCH', 'POST', 'OPTIONS'])
  return assemble(method, path, [`Authorization: Bearer ${key}`], undefined, ['invalid'], false)
}

function isAboutOrders({ operationId, path }: ContractOperation): boolean {
  return operationId === 'createOrder' || operationId === 'createOrders' || path.includes('{orderId}')
}

/** Whether the outcome depends on existing adjustments, ids, barcodes, categories, webhooks, keys or references. */
function dependsOnWhatIsThere({ method, path }: ContractOperation): boolean {
  if (path.startsWith('/webhooks')) return path !== '/webhooks' || method !== 'GET'
  if (path.startsWith('/keys') || path.startsWith('/inventory/adjustments/')) return true
  return method !== 'GET' && /^\/(?:pets|categories)/.test(path)
}

const UNKNOWN_KEY_ID = 'key_4fT9cVq2Lw8ZsXyN'

function fillPath(
  { path, method }: ContractOperation,
  random: Random,
  { pets, orders, madePets }: Pick<Ingredients, 'pets' | 'orders' | 'madePets'>,
  intents: Intent[],
): { path: string; petId: bigint | undefined } {
  let petId: bigint | undefined
  const filled = path.replace(/\{([^}]+)\}/g, (_, name) => {
    if (name === 'keyId' && chance(random, 0.7)) return UNKNOWN_KEY_ID
    const known = knownIds(name, method)
    const value = pathInteger(random, known)
    intents.push(name === 'keyId' ? 'invalid' : value.intent)
    if (value.intent === 'valid' && method === 'PATCH') petId = BigInt(value.text)
    return value.text
  })
  return { path: filled, petId }

  function knownIds(name: string, by: string): readonly bigint[] {
    if (name === 'orderId') return [...orders, -404n]
    if (name === 'categoryId') return CATEGORY_IDS
    return by === 'DELETE' ? [...madePets, -404n] : pets
  }
}

function fillQuery(
  { operationId, parameters }: ContractOperation,
  random: Random,
  cursors: readonly string[],
  intents: Intent[],
): string {
  const pairs: string[] = []
  for (const { name, schema } of parameters.filter((one) => one.in === 'query')) {
    if (chance(random, 0.5)) continue
    const value = queryValue(random, schema, cursors)
    intents.push(value.intent)
    pairs.push(`${name}=${value.text}`)
    if (!chance(random, 0.04)) continue
    pairs.push(`${name}=${value.text}`)
    intents.push('invalid')
  }
  if (chance(random, 0.1)) {
    const stray = oneOf(random, ['x=1', '&&&', '%', '=%00', `x=${'y'.repeat(5_000)}`, '?'])
    pairs.push(stray)
    if (!['&&&', '?'].includes(stray) && !IN_SPECIFICATION.has(operationId)) intents.push('invalid')
    if (stray === '?') intents.push('either')
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function chooseMethod({ method, path }: ContractOperation, random: Random, intents: Intent[]): string {
  const kind = random()
  if (kind < 0.9) return method
  if (kind < 0.95 && method === 'GET') return 'HEAD'
  intents.push('invalid')
  const others = ['DELETE', 'PUT', 'POST', 'OPTIONS', 'TRACE', 'PURGE', 'PROPFIND', 'LOCK']
  return oneOf(
    random,
    others.filter((other) => !CONTRACT_OPERATIONS.some((one) => one.path === path && one.method === other)),
  )
}

function authorization(random: Random, key: string, intents: Intent[]): string[] {
  if (chance(random, 0.88)) {
    return [
      `${oneOf(random, ['Authorization', 'AUTHORIZATION'])}: ${oneOf(random, ['Bearer', 'bearer', 'BEARER '])} ${key}`,
    ]
  }
  intents.push('invalid')
  return oneOf(random, [
    [],
    ['Authorization:'],
    ['Authorization: Bearer'],
    [`Authorization: Basic ${Buffer.from(key).toString('base64')}`],
    [`Authorization: Bearer ${key.slice(0, -1)}`],
    [`Authorization: Bearer ${key}${key}`],
    [`Authorization: Bearer "${key}"`],
    [`Authorization: Bearer ${key}, Bearer ${key}`],
    [`Authorization: Bearer ${key}`, `Authorization: Bearer ${key}`],
    [`Authorization: Bearer ${createSecret('production')}`],
    [`Authorization: Bearer ${'a'.repeat(5_000)}`],
    ['Authorization: Bearer \xff\xfe'],
    [`X-Api-Key: ${key}`],
    [`Cookie: Authorization=Bearer ${key}`],
  ])
}

/** Headers of the contract; their values may cause a rejection, a 304 or a 412. */
function contractHeaders({ parameters }: ContractOperation, random: Random, intents: Intent[]): string[] {
  return parameters
    .filter((one) => one.in === 'header' && chance(random, 0.25))
    .map(({ name }) => {
      intents.push('either')
      return `${name}: ${headerValue(random, name).replaceAll(/[\r\n\0]/g, '')}`
    })
}

function mediaType(random: Random, intents: Intent[]): string[] {
  if (chance(random, 0.9)) {
    return [
      `Content-Type: ${oneOf(random, ['application/json', 'Application/JSON', 'application/json; charset=utf-8'])}`,
    ]
  }
  intents.push('invalid')
  return oneOf(random, [
    [],
    ['Content-Type:'],
    ['Content-Type: text/plain'],
    ['Content-Type: application/json-patch+json'],
    ['Content-Type: application/jsonx'],
    ['Content-Type: multipart/form-data; boundary=x'],
    ['Content-Type: application/json', 'Content-Encoding: gzip'],
    ['Content-Type: \xff'],
  ])
}

/** Headers that must have no effect. */
function neutralHeaders(random: Random): string[] {
  const lines = [
    'Range: bytes=0-1',
    'Range: bytes=5-,-1,x',
    'Accept: image/png',
    'Accept-Encoding: gzip;q=x, zstd;q=-1, *;q=0',
    'Accept-Encoding: identity',
    'Expect: 100-continue',
    'Upgrade: websocket',
    'Origin: null',
    'X-HTTP-Method-Override: DELETE',
    'X-Forwarded-For: 1.2.3.4, unknown, ::ffff:1.2.3.4, %',
    'X-Request-Id: a b c',
    `X-Request-Id: ${'x'.repeat(3_000)}`,
    `Cookie: ${'a=b; '.repeat(500)}`,
    'Accept-Language: \xe4\xf6\xfc',
    'If-Modified-Since: yesterday',
    'Forwarded: for=unknown',
    'TE: trailers',
  ]
  return lines.filter(() => chance(random, 0.02))
}

function assemble(
  method: string,
  path: string,
  lines: readonly string[],
  body: string | undefined,
  intents: readonly Intent[],
  isRouted = true,
): FuzzRequest {
  const framing = body === undefined ? [] : [`Content-Length: ${body.length}`]
  const head = [`${method} /v1${path} HTTP/1.1`, 'Host: petstore.test', ...lines, ...framing]
  return {
    method,
    path,
    bytes: `${head.join('\r\n')}\r\n\r\n${body ?? ''}`,
    intent: intents.includes('invalid') ? 'invalid' : intents.includes('either') ? 'either' : 'valid',
    isRouted,
    body,
    update: undefined,
  }
}

/** JSON.parse defines the meaning of a valid text. */
function quantityOf(text: string): number | undefined {
  const { quantity } = JSON.parse(text) as { quantity?: number }
  return quantity
}
