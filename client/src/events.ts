import { EVENTS, type ListedEvent, OPERATIONS, type Operations } from './contract-types.ts'
import { isPetstoreError, PetstoreError } from './errors.ts'
import type { IdKind, Output } from './ids.ts'
import { fieldsOf, parseJson } from './json.ts'
import { nextQuery } from './list.ts'
import type { CallOptions } from './options.ts'
import { type Api, createCall, type Query, splitOptions } from './request.ts'
import { EventParser, type ServerSentEvent } from './server-sent-events.ts'
import type { StreamedAnswer, Transport } from './transport.ts'
import { backOff, unlessAborted } from './waiting.ts'

type EventData = Operations['inventoryEvents']['answer']
type EventName = keyof EventData

/** An event of the stock. A stream resumes after the event whose `id` is passed as `lastEventId`. */
export type InventoryEvent = {
  [Name in EventName]: { readonly type: Name; readonly id: string } & EventData[Name]
}[EventName]

export interface EventOptions extends CallOptions, Query<'inventoryEvents'> {
  /** Resumes after this event. Without it, the stream begins with the next event. */
  readonly lastEventId?: string | undefined
  /** Milliseconds without data until the connection counts as broken; 60,000 by default. Heartbeats arrive every 15 s. */
  readonly idleTimeout?: number | undefined
  /** Called when a connection is established, and when it is lost, before the client reconnects. */
  readonly onConnection?: ((state: 'connected' | 'lost') => void) | undefined
}

/** A page of events. */
export interface EventPage<Ids extends IdKind> {
  readonly events: readonly Output<InventoryEvent, Ids>[]
  /** Where the next page starts: pass it as `after`, also if this page has no events. */
  readonly lastEventId: string
  /** Whether more events may follow now. */
  readonly hasMore: boolean
}

/** Reads one page of events. Events of later versions of the service are left out. */
export async function readEventPage<Ids extends IdKind>(
  api: Api<Ids>,
  options: Query<'listEvents'> & CallOptions,
): Promise<EventPage<Ids>> {
  const { query, callOptions } = splitOptions(options)
  const answer = await api.outcome('listEvents', { query }, callOptions)
  // Both types of events have these fields.
  const listed = (answer.value ?? []) as readonly ListedEvent[]
  const events = listed.flatMap((event) => {
    const { id, kind } = event
    return isKnown(kind) ? [{ type: kind, id, ...(kind === 'relist' ? {} : event[kind]) }] : []
  })
  return {
    events: events as unknown as readonly Output<InventoryEvent, Ids>[],
    lastEventId: eventIdOf(answer.headers),
    hasMore: nextQuery(answer.headers) !== undefined,
  }
}

/** The position of a response among the events. */
export function eventIdOf(headers: Headers): string {
  return headers.get('Event-Id') ?? ''
}

const FIRST_BACK_OFF_MS = 1_000
const LONGEST_BACK_OFF_MS = 30_000

/**
 * Yields each event once and in order, over any number of connections. The first connection has the retries of any
 * call. After that, the stream ends only if the signal is aborted or the service refuses, for example a revoked key.
 */
export async function* followEvents<Ids extends IdKind>(
  transport: Transport,
  options: EventOptions,
): AsyncGenerator<Output<InventoryEvent, Ids>, void, undefined> {
  const { signal, timeout, totalTimeout, retries, headers, ...rest } = options
  const { lastEventId = '', idleTimeout = 60_000, onConnection, ...query } = rest
  const { settings, time } = transport
  let lastId = lastEventId
  let hasConnected = false
  let isConnected = false
  let firstBackOff = FIRST_BACK_OFF_MS
  for (let failures = 0; ; ) {
    try {
      const resume: Record<string, string> = lastId === '' ? {} : { 'Last-Event-ID': lastId }
      const input = { query, headers: { Accept: 'text/event-stream', ...resume } }
      const callOptions = { signal, timeout, totalTimeout, retries, headers }
      const answer = await transport.open(createCall(OPERATIONS.inventoryEvents, input, callOptions))
      hasConnected = true
      isConnected = true
      onConnection?.('connected')
      const parser = new EventParser()
      for await (const event of eventsOf(answer, parser, idleTimeout, signal)) {
        failures = 0
        lastId = event.id
        const known = readEvent(event, settings.ids)
        // Its ids have the type that the settings name, which is the client's type parameter.
        if (known !== undefined) yield known as Output<InventoryEvent, Ids>
      }
      firstBackOff = parser.retry ?? firstBackOff
    } catch (error) {
      signal?.throwIfAborted()
      if (!hasConnected || !isTemporary(error)) throw error
    }
    if (isConnected) onConnection?.('lost')
    isConnected = false
    await time.sleep(backOff(failures++, time.random, firstBackOff, LONGEST_BACK_OFF_MS), signal)
  }
}

/** The events of one connection, until it ends or breaks. */
async function* eventsOf(
  { body, close }: StreamedAnswer,
  parser: EventParser,
  idleTimeout: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const chunk = await nextChunk(reader, idleTimeout, signal)
      if (chunk === undefined) return
      yield* parser.push(decoder.decode(chunk, { stream: true }))
    }
  } finally {
    close()
    reader.cancel().catch(() => {})
  }
}

/** `undefined` if the connection ended, broke or was idle for too long. */
async function nextChunk(
  reader: { read(): Promise<{ readonly value?: Uint8Array | undefined }> },
  idleTimeout: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const idle = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), idleTimeout)
  })
  try {
    const read = reader.read().then(
      ({ value }) => value,
      () => undefined,
    )
    return await unlessAborted(Promise.race([read, idle]), signal)
  } finally {
    clearTimeout(timer)
  }
}

/** `undefined` for events of a later version of the service. */
function readEvent({ event, data, id }: ServerSentEvent, ids: IdKind): object | undefined {
  if (!isKnown(event)) return undefined
  const schema = EVENTS[event]
  try {
    // A parsed object of a schema is an object.
    const fields = schema === null ? {} : (parseJson(data, fieldsOf(schema), ids) as object)
    return { type: event, id, ...fields }
  } catch (cause) {
    const message = `the data of a ${event} event is not the JSON of the contract`
    throw new PetstoreError('invalid_response', message, { request: 'GET /inventory/events', cause })
  }
}

function isKnown(event: string): event is EventName {
  return Object.hasOwn(EVENTS, event)
}

function isTemporary(error: unknown): boolean {
  const codes = ['connection_failed', 'service_unavailable', 'rate_limit_exceeded']
  return isPetstoreError(error) && codes.includes(error.code)
}
