import { EventStreamParser } from '@petstore/client'
import { baseUrl } from '../contract-context.tsx'
import type { PreparedRequest } from '../samples/request-draft.ts'

/** A request that was sent, and its result so far. */
export type Exchange =
  | { readonly phase: 'sending' }
  | { readonly phase: 'answered'; readonly answer: ReceivedAnswer }
  | {
      /** `stopped` by the reader, `ended` by the service or the network. */
      readonly phase: 'streaming' | 'stopped' | 'ended'
      readonly answer: ReceivedAnswer
      /** Newest first; only the latest are kept. */
      readonly events: readonly ReceivedEvent[]
      readonly eventCount: number
      readonly lastDataAt: number
    }
  | { readonly phase: 'unreachable' }
  /** The key or a header has a character that headers cannot have. */
  | { readonly phase: 'unsendable' }

export interface ReceivedAnswer {
  readonly wasSentWithKey: boolean
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** `undefined` for a stream. */
  readonly bytes: number | undefined
  readonly milliseconds: number
  /** When it arrived, in milliseconds. */
  readonly at: number
}

export interface ReceivedEvent {
  /** Counts from 1. */
  readonly number: number
  readonly kind: string
  readonly id: string
  readonly data: string
  readonly at: number
}

interface SendOptions {
  readonly apiKey: string
  readonly signal: AbortSignal
  readonly onStep: (exchange: Exchange) => void
}

const MAX_EVENTS = 100

/** Sends the request once, without the retries of the client: the reader wants to see the response itself. */
export async function sendRequest(request: PreparedRequest, options: SendOptions): Promise<void> {
  const { apiKey, signal, onStep } = options
  const began = performance.now()
  onStep({ phase: 'sending' })
  const headers = headersOf(request, apiKey)
  if (headers === undefined) return onStep({ phase: 'unsendable' })
  try {
    const response = await fetch(baseUrl() + request.path, {
      method: request.method,
      headers,
      body: request.body ?? null,
      // Otherwise the browser would answer from its cache, and hide a 304.
      cache: 'no-store',
      signal,
    })
    const isStream = response.headers.get('Content-Type')?.startsWith('text/event-stream') === true
    const body = isStream ? undefined : await response.arrayBuffer()
    const answer: ReceivedAnswer = {
      wasSentWithKey: apiKey !== '',
      status: response.status,
      headers: response.headers,
      text: new TextDecoder().decode(body),
      bytes: body?.byteLength,
      milliseconds: performance.now() - began,
      at: Date.now(),
    }
    if (isStream && response.body !== null) await followStream(response.body, answer, options)
    else onStep({ phase: 'answered', answer })
  } catch {
    if (!signal.aborted) onStep({ phase: 'unreachable' })
  }
}

function headersOf(request: PreparedRequest, apiKey: string): Headers | undefined {
  try {
    const headers = new Headers(apiKey === '' ? {} : { Authorization: `Bearer ${apiKey}` })
    for (const [name, value] of request.headers) headers.append(name, value)
    return headers
  } catch {
    return undefined
  }
}

async function followStream(
  body: ReadableStream<Uint8Array>,
  answer: ReceivedAnswer,
  { signal, onStep }: SendOptions,
): Promise<void> {
  const parser = new EventStreamParser()
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let events: readonly ReceivedEvent[] = []
  let eventCount = 0
  const step = () => ({ answer, events, eventCount, lastDataAt: Date.now() })
  onStep({ phase: 'streaming', ...step() })
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      const at = Date.now()
      const received = parser
        .push(decoder.decode(value, { stream: true }))
        .map(({ event: kind, id, data }) => ({ kind, id, data, at, number: ++eventCount }))
      events = [...received.reverse(), ...events].slice(0, MAX_EVENTS)
      onStep({ phase: 'streaming', ...step() })
    }
  } catch {
    // The connection broke.
  }
  onStep({ phase: signal.aborted ? 'stopped' : 'ended', ...step() })
}

/** NaN if the header is missing. */
function numberIn(headers: Headers, name: string): number {
  return Number(headers.get(name) ?? Number.NaN)
}

/** `undefined` if the response came from a proxy, without these headers. `resetAt` is by the clock of this machine. */
export function limitHeadersOf({ headers, at }: ReceivedAnswer) {
  const limit = numberIn(headers, 'X-RateLimit-Limit')
  const remaining = numberIn(headers, 'X-RateLimit-Remaining')
  const reset = numberIn(headers, 'X-RateLimit-Reset')
  if (Number.isNaN(limit + remaining + reset)) return undefined
  const difference = at - Date.parse(headers.get('Date') ?? '')
  // The Date header has whole seconds, and the response took time: ignore small differences.
  return { limit, remaining, resetAt: reset * 1000 + (Math.abs(difference) > 2_000 ? difference : 0) }
}

/** When Retry-After allows the next request. */
export function waitUntil({ headers, at }: ReceivedAnswer): number | undefined {
  const seconds = numberIn(headers, 'Retry-After')
  return Number.isNaN(seconds) ? undefined : at + seconds * 1000
}

/** The error code in the body; `undefined` if the body is not an Error. */
export function errorCodeOf({ text }: ReceivedAnswer): unknown {
  try {
    return JSON.parse(text).code
  } catch {
    return undefined
  }
}
