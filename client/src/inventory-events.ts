import { OPERATIONS, type Operations } from './contract-types.ts'
import { asAnswer, readExactly } from './exact-json.ts'
import { callOf } from './operation-call.ts'
import { isPetstoreError, PetstoreError } from './petstore-error.ts'
import { EventParser, type ServerSentEvent } from './server-sent-events.ts'
import type { OpenAnswer, Transport } from './transport.ts'
import { backOff, unlessAborted } from './waiting.ts'

type EventData = Operations['inventoryEvents']['answer']
type EventName = keyof EventData

/** One event of the stock; `type` tells which. `id` is where to go on from: see `lastEventId`. */
export type InventoryEvent = {
  [Name in EventName]: { readonly type: Name; readonly id: string } & EventData[Name]
}[EventName]

export interface EventOptions {
  readonly signal?: AbortSignal
  /** Begins right behind this event instead of with what happens from now on. */
  readonly lastEventId?: string
  /** After how long without a sign of life the connection counts as broken. 60 s; the service beats every 15. */
  readonly idleMs?: number
  /** Told when a connection stands, `connected`, and when it is `lost`, before the next one is tried. */
  readonly onConnection?: (state: 'connected' | 'lost') => void
}

const SCHEMAS = OPERATIONS.inventoryEvents.answer
const FIRST_BACK_OFF_MS = 1_000
const LONGEST_BACK_OFF_MS = 30_000

/**
 * Gives each event once and in order, over as many connections as it takes. The first connection is tried as often
 * as any call; after that it goes on until the signal ends it or the service refuses, as with a revoked key.
 */
export async function* followEvents(
  transport: Transport,
  { signal, lastEventId = '', idleMs = 60_000, onConnection }: EventOptions,
): AsyncGenerator<InventoryEvent, void, undefined> {
  const { time } = transport.settings
  let lastId = lastEventId
  let hasConnected = false
  let isConnected = false
  let firstBackOff = FIRST_BACK_OFF_MS
  for (let setbacks = 0; ; ) {
    try {
      const headers = { Accept: 'text/event-stream', ...(lastId === '' ? {} : { 'Last-Event-ID': lastId }) }
      const answer = await transport.open({ ...callOf('inventoryEvents', { signal }), headers })
      hasConnected = true
      isConnected = true
      onConnection?.('connected')
      const parser = new EventParser()
      for await (const event of eventsOf(answer, parser, idleMs, signal)) {
        setbacks = 0
        lastId = event.id
        const known = readEvent(event)
        if (known !== undefined) yield known
      }
      firstBackOff = parser.retry ?? firstBackOff
    } catch (error) {
      signal?.throwIfAborted()
      if (!hasConnected || !isTemporary(error)) throw error
    }
    if (isConnected) onConnection?.('lost')
    isConnected = false
    await time.sleep(backOff(setbacks++, time.random, firstBackOff, LONGEST_BACK_OFF_MS), signal)
  }
}

/** The events of one connection. Ends where it ends or breaks: the next one goes on. */
async function* eventsOf(
  { body, close }: OpenAnswer,
  parser: EventParser,
  idleMs: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const chunk = await nextChunk(reader, idleMs, signal)
      if (chunk === undefined) return
      yield* parser.push(decoder.decode(chunk, { stream: true }))
    }
  } finally {
    close()
    reader.cancel().catch(() => {})
  }
}

async function nextChunk(
  reader: { read(): Promise<{ readonly value?: Uint8Array | undefined }> },
  idleMs: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), idleMs)
  })
  try {
    const read = reader.read().then(
      ({ value }) => value,
      () => undefined,
    )
    return await unlessAborted(Promise.race([read, silence]), signal)
  } finally {
    clearTimeout(timer)
  }
}

/** `undefined` for an event that a later version of the service may send. */
function readEvent({ event, data, id }: ServerSentEvent): InventoryEvent | undefined {
  if (!(event in SCHEMAS)) return undefined
  const schema = SCHEMAS[event as EventName]
  try {
    const fields = schema === null ? {} : (readExactly(data, schema) as object)
    return asAnswer({ type: event, id, ...fields } as InventoryEvent)
  } catch (cause) {
    throw new PetstoreError('invalid_response', `sent a ${event} event that is not as the contract says`, {
      request: 'GET /inventory/events',
      cause,
    })
  }
}

function isTemporary(error: unknown): boolean {
  return (
    isPetstoreError(error, 'connection_failed') ||
    isPetstoreError(error, 'service_unavailable') ||
    isPetstoreError(error, 'rate_limit_exceeded')
  )
}
