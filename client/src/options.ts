import type { LimitState } from './limit-state.ts'
import { sleep, type Time } from './waiting.ts'

/** What `onResponse` is told of every answer, those that are tried again included. */
export interface ResponseNote {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly requestId: string | undefined
  readonly limits: LimitState | undefined
  /** 1 for the first, 2 for the first repetition. */
  readonly attempt: number
}

export interface RetryOptions {
  /** How often a call is sent again after a 429, a 503 or a broken connection. 5 by default. */
  readonly limit?: number
  /** How long a call may take with all its waiting; past it, it fails. 5 minutes by default. */
  readonly deadlineMs?: number
}

export interface PetstoreClientOptions extends Partial<Time> {
  /** Ends in the version segment, such as `https://petstore.example/v1`; in a page it may be just `/v1`. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  readonly retry?: RetryOptions
  /** Never sends more than the limit headers allow, and waits for the next window instead. */
  readonly pace?: boolean
  /** How many requests may be on their way at a time. 16 by default. */
  readonly concurrency?: number
  /** After how long without an answer one attempt counts as broken. 30 s by default. */
  readonly timeoutMs?: number
  readonly onResponse?: (note: ResponseNote) => void
}

/** The options, checked and complete. */
export interface ClientSettings {
  readonly baseUrl: string
  readonly authorization: string
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly retry: Required<RetryOptions>
  readonly pace: boolean
  readonly concurrency: number
  readonly timeoutMs: number
  readonly time: Time
  readonly onResponse: ((note: ResponseNote) => void) | undefined
}

/** Throws `TypeError` on what could never work, so that it does not look like a broken connection later. */
export function readOptions(options: PetstoreClientOptions): ClientSettings {
  const { retry = {}, concurrency = 16 } = options
  if (!/^[\x21-\x7e]+$/.test(options.apiKey)) {
    throw new TypeError('apiKey must be a key as the service gives it: letters, digits and signs, no spaces')
  }
  if (!(concurrency >= 1)) throw new TypeError(`concurrency must be 1 or more, got ${concurrency}`)
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    authorization: `Bearer ${options.apiKey}`,
    // Called without its global object, the browser's fetch refuses.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    retry: { limit: retry.limit ?? 5, deadlineMs: retry.deadlineMs ?? 300_000 },
    pace: options.pace ?? false,
    concurrency,
    timeoutMs: options.timeoutMs ?? 30_000,
    time: {
      clock: options.clock ?? Date.now,
      sleep: options.sleep ?? sleep,
      random: options.random ?? Math.random,
    },
    onResponse: options.onResponse,
  }
}

function readBaseUrl(baseUrl: string): string {
  const page = (globalThis as { location?: { href: string } }).location?.href
  let url: URL
  try {
    url = new URL(baseUrl, page)
  } catch {
    throw new TypeError(`baseUrl must be an address such as https://petstore.example/v1, got "${baseUrl}"`)
  }
  if (url.search !== '' || url.hash !== '')
    throw new TypeError(`baseUrl must end in its path, got "${baseUrl}"`)
  return url.href.replace(/\/+$/, '')
}
