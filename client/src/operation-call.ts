import { OPERATIONS, type Operations } from './contract-types.ts'
import { readExactly, type SchemaName, writeExactly } from './exact-json.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { PetstoreError } from './petstore-error.ts'
import type { Answer, Call, Transport } from './transport.ts'

export type OperationId = keyof Operations

type Fields = Readonly<Record<string, unknown>>

export interface CallOptions {
  /** Ends the call, whatever it is waiting for; the call throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

export interface WriteOptions extends CallOptions {
  /**
   * What this change is known by, 1 to 255 visible ASCII characters; a random one by default. The same change with the
   * same key, sent again within 24 hours, is not made again but answered as it was.
   */
  readonly idempotencyKey?: string | undefined
}

/** What one operation takes, as the contract says. */
export interface Input<Id extends OperationId> extends WriteOptions {
  readonly params?: Operations[Id]['params']
  readonly query?: {
    readonly [Name in keyof Operations[Id]['query']]: Operations[Id]['query'][Name] | undefined
  }
  readonly headers?: Operations[Id]['headers'] & { readonly 'If-None-Match'?: string }
  readonly body?: Operations[Id]['body']
  /** If the answer is lost, the request is not sent again, because it could take effect twice. */
  readonly isSentOnce?: true
}

/** A read answer; `value` is `undefined` where it is a 304: what the caller has is still right. */
export interface Outcome<Value> {
  readonly value: Value
  readonly headers: Headers
}

const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n

export function callOf<Id extends OperationId>(id: Id, input: Input<Id>): Call {
  const { method, path } = OPERATIONS[id]
  const { params = {}, query = {}, headers = {}, body, signal, idempotencyKey, isSentOnce } = input
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => pathSegment(name, (params as Fields)[name]))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value))
  }
  const queryText = String(search)
  return {
    method,
    path: queryText === '' ? filled : `${filled}?${queryText}`,
    headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: body === undefined ? undefined : writeExactly(body),
    signal,
    idempotencyKey: method === 'GET' || isSentOnce ? undefined : readIdempotencyKey(idempotencyKey),
    isSentOnce,
  }
}

/** Calls an operation that answers with JSON. */
export async function callOperation<Id extends Exclude<OperationId, 'inventoryEvents'>>(
  transport: Transport,
  id: Id,
  input: Input<Id>,
): Promise<Outcome<Operations[Id]['answer'] | undefined>> {
  const call = callOf(id, input)
  const answer = await transport.send(call)
  const schema = OPERATIONS[id].answer
  const value = answer.status === 304 || schema === null ? undefined : read(call, answer, schema)
  return { value: value as Operations[Id]['answer'] | undefined, headers: answer.headers }
}

/** For calls that no 304 can answer. */
export async function callForValue<Id extends Exclude<OperationId, 'inventoryEvents'>>(
  transport: Transport,
  id: Id,
  input: Input<Id>,
): Promise<Outcome<Operations[Id]['answer']>> {
  const { value, ...rest } = await callOperation(transport, id, input)
  if (value === undefined) {
    const { method, path } = callOf(id, input)
    throw new PetstoreError(
      'invalid_response',
      'answered 304 though nothing was asked for that it could be',
      {
        request: `${method} ${path}`,
        status: 304,
      },
    )
  }
  return { value, ...rest }
}

function read(
  { method, path, idempotencyKey }: Call,
  { text, status, requestId }: Answer,
  schema: SchemaName,
): unknown {
  try {
    return readExactly(text, schema)
  } catch (cause) {
    throw new PetstoreError(
      'invalid_response',
      `answered ${status} with what is not the JSON of the contract: is the base address that of the service?`,
      {
        ...{ request: `${method} ${path}`, status, requestId, cause },
        ...{ idempotencyKey, mayHaveBeenMade: idempotencyKey !== undefined },
      },
    )
  }
}

function pathSegment(name: string, value: unknown): string {
  return typeof value === 'string' ? encodeURIComponent(value) : int64(name, value)
}

/** Its digits. */
export function int64(name: string, value: unknown): string {
  if (typeof value !== 'bigint') {
    throw new TypeError(`${name} must be a bigint such as 5n, got ${String(value)} (a ${typeof value})`)
  }
  if (value < MIN_INT64 || value > MAX_INT64) throw new RangeError(`${name} must be an int64, got ${value}`)
  return String(value)
}
