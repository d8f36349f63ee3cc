import { EVENT_NAMES, type EventData, type EventKind } from './contract-types.ts'
import { isPetstoreError, PetstoreError } from './errors.ts'
import type { IdInput } from './ids.ts'
import { parseJson } from './json.ts'
import type { CallOptions } from './options.ts'
import { createCall } from './request.ts'
import { EventParser, type ServerSentEvent } from './server-sent-events.ts'
import type { StreamedAnswer, Transport } from './transport.ts'
import { backOff } from './waiting.ts'

/** An event of the stock. A stream resumes after the event whose `id` is passed as `lastEventId`. */
export type InventoryEvent = {
  [Name in keyof EventData]: { readonly type: Name; readonly id: string } & EventData[Name]
}[keyof EventData]

export interface EventOptions extends CallOptions {
  /** Only events of these kinds, `ready` and `relist`. */
  readonly kinds?: readonly EventKind[] | undefined
  /** Only events of this pet, `ready` and `relist`. */
  readonly petId?: IdInput | undefined
  /** Resumes after this event. Without it, the stream begins with the next event. */
  readonly lastEventId?: string | undefined
  /** Milliseconds without data until the connection counts as broken; 60,000 by default. Heartbeats arrive every 15 s. */
  readonly idleTimeout?: number | undefined
  /** Called when a connection is established, and when it is lost, before the client reconnects. */
  readonly onConnection?: ((state: 'connected' | 'lost') => void) | undefined
}

const FIRST_BACK_OFF_MS = 1_000
const LONGEST_BACK_OFF_MS = 30_000

/**
 * Yields each event once and in order, over any number of connections. The first connection has the retries of any
 * call. After that, the stream ends only if the signal is aborted or the service refuses, for example a revoked key.
 */
export async function* followEvents(
  transport: Transport,
  { lastEventId = '', idleTimeout = 60_000, onConnection, ...options }: EventOptions,
): AsyncGenerator<InventoryEvent, void, undefined> {
  const { time } = transport
  let lastId = lastEventId
  let hasConnected = false
  let isConnected = false
  let firstBackOff = FIRST_BACK_OFF_MS
  for (let failures = 0; ; ) {
    try {
      const resume: Record<string, string> = lastId === '' ? {} : { 'Last-Event-ID': lastId }
      const headers = { Accept: 'text/event-stream', ...resume }
      const answer = await transport.open(createCall('GET', '/inventory/events', { headers }, options))
      hasConnected = true
      isConnected = true
      onConnection?.('connected')
      const parser = new EventParser()
      for await (const event of eventsOf(answer, parser, idleTimeout)) {
        failures = 0
        lastId = event.id
        const known = readEvent(event)
        if (known !== undefined) yield known
      }
      firstBackOff = parser.retry ?? firstBackOff
    } catch (error) {
      options.signal?.throwIfAborted()
      if (!hasConnected || !isTemporary(error)) throw error
    }
    options.signal?.throwIfAborted()
    if (isConnected) onConnection?.('lost')
    isConnected = false
    await time.sleep(backOff(failures++, time.random, firstBackOff, LONGEST_BACK_OFF_MS), options.signal)
  }
}

/** The events of one connection, until it ends, breaks or is idle for too long. */
async function* eventsOf(
  { body, close }: StreamedAnswer,
  parser: EventParser,
  idleTimeout: number,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const idle = setTimeout(close, idleTimeout)
      const { value } = await reader
        .read()
        .catch(() => ({ value: undefined }))
        .finally(() => clearTimeout(idle))
      if (value === undefined) return
      yield* parser.push(decoder.decode(value, { stream: true }))
    }
  } finally {
    close()
    reader.cancel().catch(() => {})
  }
}

/** `undefined` for events of a later version of the service. */
function readEvent({ event, data, id }: ServerSentEvent): InventoryEvent | undefined {
  if (!EVENT_NAMES.has(event)) return undefined
  try {
    return { type: event, id, ...parseJson(data) } as InventoryEvent
  } catch (cause) {
    const message = `the data of a ${event} event is not JSON`
    throw new PetstoreError('invalid_response', message, { request: 'GET /inventory/events', cause })
  }
}

function isTemporary(error: unknown): boolean {
  const codes = ['connection_failed', 'service_unavailable', 'rate_limit_exceeded']
  return isPetstoreError(error) && codes.includes(error.code)
}
