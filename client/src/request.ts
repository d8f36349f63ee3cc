import { OPERATIONS, type OperationFacts, type Operations } from './contract-types.ts'
import { PetstoreError } from './errors.ts'
import { type IdKind, type Input, int64Digits, type Output } from './ids.ts'
import { fieldsOf, type Int64Fields, parseJson, serializeBody } from './json.ts'
import { List, nextCursor } from './list.ts'
import type { CallOptions, Condition, WriteOptions } from './options.ts'
import type { Answer, Call, Transport } from './transport.ts'

/** The operations of the contract. */
export type OperationId = keyof Operations
type JsonOperationId = Exclude<OperationId, 'inventoryEvents'>
type ListOperationId = {
  [Id in JsonOperationId]: Operations[Id]['answer'] extends readonly unknown[] ? Id : never
}[JsonOperationId]

type ItemOf<Id extends OperationId> = Operations[Id]['answer'] extends readonly (infer Item)[] ? Item : never

type Params<Id extends OperationId> = {
  [Name in keyof Operations[Id]['params']]: Input<Operations[Id]['params'][Name]>
}

/** The query parameters of an operation. */
export type Query<Id extends OperationId> = {
  [Name in keyof Operations[Id]['query']]: Input<Operations[Id]['query'][Name]> | undefined
}

/** The query parameters of a list operation without those of paging. */
export type Filter<Id extends OperationId> = Omit<Query<Id>, 'limit' | 'cursor'>

export type BodyOf<Id extends OperationId> = Input<Operations[Id]['body']>

/** The arguments of an operation. */
interface OperationInput<Id extends OperationId> {
  readonly params?: Params<Id>
  readonly query?: Query<Id>
  /** Header parameters of the operation. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: BodyOf<Id>
}

/** The arguments of any operation. */
interface AnyInput {
  readonly params?: object
  readonly query?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export interface Outcome<Value> {
  readonly status: number
  readonly headers: Headers
  /** `undefined` for a 304, and for responses without a body. */
  readonly value: Value | undefined
}

const ETAGS = new WeakMap<object, string>()

/** The ETag of a record that the client has returned, for `ifMatch`; `undefined` for items of lists. */
export function etagOf(record: object): string | undefined {
  return ETAGS.get(record)
}

export type Api<Ids extends IdKind> = ReturnType<typeof createApi<Ids>>

/** How the resources call the service. */
export function createApi<Ids extends IdKind>(transport: Transport) {
  type ValueOf<Id extends JsonOperationId> = Output<Operations[Id]['answer'], Ids>
  type Item<Id extends ListOperationId> = Output<ItemOf<Id>, Ids>

  async function request(
    facts: OperationFacts,
    input: AnyInput,
    options: WriteOptions & Condition = {},
  ): Promise<Outcome<unknown>> {
    const call = createCall(facts, input, options)
    const answer = await transport.send(call)
    const { status, headers } = answer
    const hasValue = status !== 304 && facts.answer !== undefined
    const value = hasValue
      ? parseAnswer(call, answer, fieldsOf(facts.answer), transport.settings.ids)
      : undefined
    const etag = headers.get('ETag')
    if (typeof value === 'object' && value !== null && etag !== null) ETAGS.set(value, etag)
    return { status, headers, value }
  }

  /** Calls an operation. */
  async function outcome<Id extends JsonOperationId>(
    id: Id,
    input: OperationInput<Id>,
    options?: WriteOptions & Condition,
  ): Promise<Outcome<ValueOf<Id>>> {
    // The contract says that the value has this type.
    return (await request(OPERATIONS[id], input, options)) as Outcome<ValueOf<Id>>
  }

  return {
    transport,
    outcome,

    /** Calls an operation whose response always has a body, and returns it. */
    async value<Id extends JsonOperationId>(
      id: Id,
      input: OperationInput<Id>,
      options?: WriteOptions & Condition,
    ): Promise<ValueOf<Id>> {
      const { value, status } = await outcome(id, input, options)
      if (value !== undefined) return value
      const { method, path } = OPERATIONS[id]
      throw new PetstoreError('invalid_response', `response ${status} has no body`, {
        request: `${method} ${path}`,
        status,
      })
    },

    /** Calls an operation whose response has no body. */
    async done<Id extends JsonOperationId>(
      id: Id,
      input: OperationInput<Id>,
      options?: WriteOptions & Condition,
    ): Promise<void> {
      await outcome(id, input, options)
    },

    /** The list of an operation. The options contain the query parameters, including `limit` and `cursor`. */
    list<Id extends ListOperationId>(
      id: Id,
      { signal, timeout, totalTimeout, retries, headers, ...query }: Query<Id> & CallOptions,
      params?: Params<Id>,
    ): List<Item<Id>> {
      const facts = OPERATIONS[id]
      const { limit, cursor: start } = query as { readonly limit?: number; readonly cursor?: string }
      return new List<Item<Id>>(async ({ cursor = start, isIteration }) => {
        const size = limit ?? (isIteration ? facts.maxLimit : undefined)
        const input = { params: params ?? {}, query: { ...query, limit: size, cursor } }
        const options = { signal, timeout, totalTimeout, retries, headers }
        const page = await request(facts, input, options)
        // The items have this type, as the type of the operation says; a 304 has none.
        return { items: (page.value ?? []) as readonly Item<Id>[], next: nextCursor(page.headers) }
      })
    },
  }
}

export function createCall(
  { method, path, int64 = [], body: bodySchema }: OperationFacts,
  { params = {}, query = {}, headers = {}, body }: AnyInput,
  options: WriteOptions & Condition,
): Call {
  const text = (name: string, value: unknown) =>
    int64.includes(name) ? int64Digits(name, value) : String(value)
  const values = new Map(Object.entries(params))
  const filledPath = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(text(name, values.get(name))),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, text(name, value))
  }
  const queryText = String(search)
  // All other bodies are objects.
  const isFile = typeof body === 'string'
  return {
    method,
    path: queryText === '' ? filledPath : `${filledPath}?${queryText}`,
    headers: {
      ...headers,
      ...(options.ifMatch === undefined ? {} : { 'If-Match': options.ifMatch }),
      ...(body === undefined ? {} : { 'Content-Type': isFile ? 'text/csv' : 'application/json' }),
    },
    body: isFile || body === undefined ? body : serializeBody(body, bodySchema && fieldsOf(bodySchema)),
    idempotencyKey: method === 'GET' ? undefined : readIdempotencyKey(options.idempotencyKey),
    options,
  }
}

function parseAnswer(
  call: Call,
  { text, status, headers, attempts }: Answer,
  fields: Int64Fields,
  ids: IdKind,
): unknown {
  try {
    return parseJson(text, fields, ids)
  } catch (cause) {
    const { method, path, idempotencyKey } = call
    throw new PetstoreError(
      'invalid_response',
      `response ${status} is not the JSON of the contract: check that baseUrl is the address of the service`,
      {
        request: `${method} ${path}`,
        status,
        requestId: headers.get('X-Request-Id') ?? undefined,
        attempts,
        idempotencyKey,
        mayHaveBeenMade: idempotencyKey !== undefined,
        cause,
      },
    )
  }
}

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/

/** The caller's key, or a random one. Throws `TypeError` if a header cannot contain the key. */
export function readIdempotencyKey(key: string | undefined): string {
  if (key === undefined) return randomKey()
  if (VISIBLE_ASCII.test(key)) return key
  throw new TypeError(
    `idempotencyKey must be 1 to 255 visible ASCII characters, got ${key.length}: ${JSON.stringify(key.slice(0, 40))}`,
  )
}

/** Browsers offer `crypto.randomUUID` only to pages that were loaded over HTTPS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
