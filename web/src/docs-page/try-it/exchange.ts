import { EventStreamParser } from '@petstore/client'
import type { PreparedRequest } from '../samples/request-draft.ts'
import type { ReceivedAnswer, ReceivedEvent } from './received-answer.ts'

/** One try: the request that was sent and what has come of it so far. */
export type Exchange =
  | { readonly phase: 'sending' }
  | { readonly phase: 'answered'; readonly answer: ReceivedAnswer }
  | {
      readonly phase: 'streaming' | 'ended'
      readonly answer: ReceivedAnswer
      /** Newest first; only the latest ones are kept. */
      readonly events: readonly ReceivedEvent[]
      readonly eventCount: number
      readonly lastSignAt: number
      /** Why it ended. */
      readonly ending?: 'by the reader' | 'by the service'
    }
  | { readonly phase: 'unreachable' }
  /** The key or a header holds what no header may hold. */
  | { readonly phase: 'unsendable' }

export interface SendOptions {
  readonly baseUrl: string
  readonly apiKey: string
  readonly signal: AbortSignal
  /** Is told of every step. */
  readonly onStep: (exchange: Exchange) => void
}

const MAX_EVENTS = 100

/**
 * Sends the request as it is: one time, without the repetitions and the care that the client takes, since the reader
 * wants to see what the service answers.
 */
export async function sendRequest(request: PreparedRequest, options: SendOptions): Promise<void> {
  const { baseUrl, apiKey, signal, onStep } = options
  const began = performance.now()
  onStep({ phase: 'sending' })
  const headers = headersOf(request, apiKey)
  if (headers === undefined) {
    onStep({ phase: 'unsendable' })
    return
  }
  try {
    const response = await fetch(baseUrl + request.path, {
      method: request.method,
      headers,
      ...(request.body === undefined ? {} : { body: request.body }),
      // The reader wants the service's own answer, and 304 rather than what the browser makes of it.
      cache: 'no-store',
      signal,
    })
    const isStream = response.headers.get('Content-Type')?.startsWith('text/event-stream') === true
    const bytes = isStream ? new Uint8Array() : new Uint8Array(await response.arrayBuffer())
    const answer: ReceivedAnswer = {
      status: response.status,
      headers: [...response.headers],
      text: new TextDecoder().decode(bytes),
      bytes: bytes.length,
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
  const step = () => ({ answer, events, eventCount, lastSignAt: Date.now() })
  onStep({ phase: 'streaming', ...step() })
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      const at = Date.now()
      const received = parser
        .push(decoder.decode(value, { stream: true }))
        .map(({ event: kind, id, data }) => ({ kind, id, data, at, place: ++eventCount }))
      events = [...received.reverse(), ...events].slice(0, MAX_EVENTS)
      onStep({ phase: 'streaming', ...step() })
    }
  } catch {
    // A broken connection ends a stream just as the service does; which it was shows in what came before.
  }
  onStep({ phase: 'ended', ...step(), ending: signal.aborted ? 'by the reader' : 'by the service' })
}
