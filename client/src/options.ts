import type { LimitState } from './limit-state.ts'

/** The options of every call. Those that are absent come from the client. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that one attempt may take. */
  readonly timeout?: number | undefined
  /** Milliseconds that the call may take, with all attempts and the waiting between them. */
  readonly totalTimeout?: number | undefined
  /** How often the call is sent again after a 429, 502, 503, 504 or a broken connection. */
  readonly retries?: number | undefined
  /** Additional request headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The options of every call that changes something. */
export interface WriteOptions extends CallOptions {
  /**
   * Identifies the change: 1 to 255 visible ASCII characters, random by default. Within 24 hours, the service answers
   * the same change with the same key as it did the first time, and does not make it again.
   */
  readonly idempotencyKey?: string | undefined
}

/** The options of every call that changes or removes one record. */
export interface Condition {
  /** The ETag of the record. If the record has changed since, the call throws `precondition_failed`. */
  readonly ifMatch?: string | undefined
}

/** An attempt that is about to be sent. */
export interface OutgoingRequest {
  readonly method: string
  /** Relative to `baseUrl`, with the query. */
  readonly path: string
  /** The hook may add headers, for example `traceparent`. */
  readonly headers: Headers
  readonly idempotencyKey: string | undefined
  /** 1 for the first attempt. */
  readonly attempt: number
}

/** The response to one attempt. */
export interface IncomingResponse {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly requestId: string | undefined
  readonly limits: LimitState | undefined
  /** 1 for the first attempt. */
  readonly attempt: number
  /** Milliseconds from sending the request to receiving the headers of the response. */
  readonly duration: number
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface PetstoreClientOptions {
  /** Ends in the version segment, for example `https://petstore.example/v1`. In a page it may be just `/v1`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** How many requests may be in flight at a time; 16 by default. */
  readonly concurrency?: number | undefined
  /** Milliseconds that one attempt may take; 30,000 by default. */
  readonly timeout?: number | undefined
  /** Milliseconds that a call may take, with all attempts and waiting; 300,000 by default. */
  readonly totalTimeout?: number | undefined
  /** How often a call is sent again after a 429, 502, 503, 504 or a broken connection; 5 by default. */
  readonly retries?: number | undefined
  /** Additional headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Called before each attempt is sent. */
  readonly onRequest?: ((request: OutgoingRequest) => void) | undefined
  /** Called after each response, including those that the client retries. */
  readonly onResponse?: ((response: IncomingResponse) => void) | undefined
  /** Used instead of the global `fetch`. */
  readonly fetch?: Fetch | undefined
}

type Hooks = Pick<PetstoreClientOptions, 'onRequest' | 'onResponse'>
type Complete<Options> = { [Name in keyof Options]-?: NonNullable<Options[Name]> }

/** The options, validated and complete. */
export interface ClientSettings extends Hooks, Complete<Omit<PetstoreClientOptions, 'apiKey' | keyof Hooks>> {
  readonly authorization: string
}

/** Throws `TypeError` on options that can never work. */
export function readOptions(options: PetstoreClientOptions): ClientSettings {
  const { concurrency = 16 } = options
  if (!(concurrency >= 1)) throw new TypeError(`concurrency must be at least 1, got ${concurrency}`)
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    authorization: `Bearer ${readApiKey(options.apiKey)}`,
    concurrency,
    timeout: options.timeout ?? 30_000,
    totalTimeout: options.totalTimeout ?? 300_000,
    retries: options.retries ?? 5,
    headers: options.headers ?? {},
    onRequest: options.onRequest,
    onResponse: options.onResponse,
    // A browser's fetch throws if it is called without its global object.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
  }
}

/** Programs in JavaScript may pass anything, for example an environment variable that is not set. */
function readApiKey(apiKey: unknown): string {
  if (typeof apiKey !== 'string' || apiKey === '') {
    throw new TypeError(
      'apiKey is missing: pass the key that the service issued, such as apiKey: process.env.PETSTORE_API_KEY, and check that the variable is set',
    )
  }
  if (/^[\x21-\x7e]+$/.test(apiKey)) return apiKey
  throw new TypeError('apiKey must consist of visible ASCII characters, without spaces or line ends')
}

function readBaseUrl(baseUrl: unknown): string {
  const example = 'such as https://petstore.example/v1'
  if (typeof baseUrl !== 'string') throw new TypeError(`baseUrl is missing: pass an address ${example}`)
  const page = (globalThis as { location?: { href: string } }).location?.href
  const url = parseUrl(baseUrl, page)
  if (url === undefined) throw new TypeError(`baseUrl must be an address ${example}, got "${baseUrl}"`)
  if (url.search === '' && url.hash === '') return url.href.replace(/\/+$/, '')
  throw new TypeError(`baseUrl must not have a query or a fragment, got "${baseUrl}"`)
}

/** Older browsers have no `URL.parse`. */
function parseUrl(text: string, base: string | undefined): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
