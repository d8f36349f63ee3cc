import { PetstoreError } from './errors.ts'
import { parseJson, requireExact, serializeBody } from './json.ts'
import { List, nextPage } from './list.ts'
import type { CallOptions, Condition, WriteOptions } from './options.ts'
import type { Answer, Call, Transport } from './transport.ts'

interface RequestInput {
  /** The values of the parts of the path in braces. */
  readonly params?: Readonly<Record<string, bigint | number | string>>
  /** Header parameters of the operation. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The media type of a body that is text, and not JSON. */
  readonly contentType?: string
}

/** The call options, and the query parameters of the operation. */
type RequestOptions = WriteOptions & Condition

interface ListInput extends Pick<RequestInput, 'params'> {
  readonly maxLimit?: number
  /** The parameter that says where a page starts. */
  readonly pageBy?: 'cursor' | 'after'
}

type ListOptions = CallOptions & {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly after?: string | undefined
}

const ETAGS = new WeakMap<object, string>()

/** The ETag of a record that the client has returned, for `ifMatch`; `undefined` for items of lists. */
export function etagOf(record: object): string | undefined {
  return ETAGS.get(record)
}

/** How the methods call the service. The types of their values are those of the contract. */
export class Api {
  readonly transport: Transport

  constructor(transport: Transport) {
    this.transport = transport
  }

  /** Calls an operation whose response has a body, and returns it. */
  async value<Value extends object>(
    method: string,
    path: string,
    input: RequestInput,
    options: RequestOptions,
  ): Promise<Value> {
    const call = createCall(method, path, input, options)
    const answer = await this.transport.send(call)
    const value = parseAnswer(call, answer)
    const etag = answer.headers.get('ETag')
    if (etag !== null) ETAGS.set(value, etag)
    return value as Value
  }

  /** Calls an operation whose response has no body. */
  async done(method: string, path: string, input: RequestInput, options: RequestOptions): Promise<void> {
    await this.transport.send(createCall(method, path, input, options))
  }

  list<Item>(
    path: string,
    { params = {}, maxLimit, pageBy = 'cursor' }: ListInput,
    options: ListOptions,
  ): List<Item> {
    return new List<Item>(async ({ start = options[pageBy], isIteration }) => {
      const limit = options.limit ?? (isIteration ? maxLimit : undefined)
      const page = { ...options, limit, [pageBy]: start }
      const call = createCall('GET', path, { params }, page)
      const answer = await this.transport.send(call)
      const items = parseAnswer(call, answer)
      if (!Array.isArray(items)) throw notOfContract(call, answer)
      const lastEventId = answer.headers.get('Event-Id')
      const position = lastEventId === null ? {} : { lastEventId }
      return { items, next: nextPage(answer.headers, pageBy), ...position }
    })
  }

  /** Reads every page of a CSV file. Each page begins with the header. */
  async csv(path: string, options: CallOptions): Promise<string> {
    let text = ''
    let cursor: string | undefined
    do {
      const page = { limit: 1_000, ...options, ...(cursor === undefined ? {} : { cursor }) }
      const call = createCall('GET', path, { headers: { Accept: 'text/csv' } }, page)
      const answer = await this.transport.send(call)
      text += text === '' ? answer.text : answer.text.slice(answer.text.indexOf('\n') + 1)
      cursor = nextPage(answer.headers, 'cursor')
    } while (cursor !== undefined)
    return text
  }
}

export function createCall(
  method: string,
  path: string,
  { params = {}, headers = {}, body, contentType }: RequestInput,
  options: RequestOptions,
): Call {
  const {
    signal,
    timeout,
    totalTimeout,
    retries,
    headers: added,
    idempotencyKey,
    ifMatch,
    ...query
  } = options
  const filledPath = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameterText(name, params[name])),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, parameterText(name, value))
  }
  const queryText = String(search)
  return {
    method,
    path: queryText === '' ? filledPath : `${filledPath}?${queryText}`,
    headers: {
      ...headers,
      ...(ifMatch === undefined ? {} : { 'If-Match': ifMatch }),
      ...(body === undefined ? {} : { 'Content-Type': contentType ?? 'application/json' }),
    },
    body: contentType === undefined ? serializeBody(body) : String(body),
    idempotencyKey: method === 'GET' ? undefined : readIdempotencyKey(idempotencyKey),
    options: { signal, timeout, totalTimeout, retries, headers: added },
  }
}

function parameterText(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((part) => parameterText(name, part)).join()
  return String(typeof value === 'number' ? requireExact(name, value) : value)
}

function parseAnswer(call: Call, answer: Answer): object {
  try {
    return parseJson(answer.text)
  } catch (cause) {
    throw notOfContract(call, answer, cause)
  }
}

function notOfContract(
  { method, path, idempotencyKey }: Call,
  { status, headers, attempts }: Answer,
  cause?: unknown,
): PetstoreError {
  return new PetstoreError(
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

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/

/** The caller's key, or a random one. Throws `TypeError` if a header cannot contain the key. */
function readIdempotencyKey(key: string | undefined): string {
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
