import type { BodyOutput, LiveBody } from '@petstore/wire'
import { keyState } from '../core/keys/api-key.ts'
import type { KeyRing } from '../core/keys/key-ring.ts'
import type { EventHub, EventReader } from '../core/stock/event-hub.ts'
import { passesFilter, type StockEvent } from '../core/stock/stock-event.ts'
import { type Clock, SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import { shareRuns } from '../core/values/share-runs.ts'
import {
  eventBody,
  HEARTBEAT_SECONDS,
  MAX_STREAMS_PER_ENTERPRISE_KEY,
  MAX_STREAMS_PER_KEY,
} from './events.ts'
import type { StreamRequest } from './operation.ts'
import { errorReply, type Reply, toJson } from './reply.ts'

interface EventStreamParts {
  readonly hub: EventHub
  readonly keyRing: KeyRing
  readonly clock: Clock
  /** For tests, instead of HEARTBEAT_SECONDS. */
  readonly heartbeatMs?: number | undefined
}

/** After the filter skips this many events, the reader gets the cursor after them, so that it can resume from there. */
const MAX_SKIPPED_EVENTS = 1_000
const RETRY_AFTER_SECONDS = 5
/** Often enough to end a stream within a second after its key is revoked or expires. */
const CHECK_KEYS_EVERY_MS = 500

/** A reader gets more events once it has less unsent data than this. */
const MAX_UNSENT_BYTES = 64 * 1024

const encoder = new TextEncoder()
const HEARTBEAT = encoder.encode(': heartbeat\n\n')
/** Sets the delay before a client reconnects to 1,000 ms. */
const RECONNECT_DELAY_FIELD = 'retry: 1000\n\n'

/** Caches the encoded form of each array of events, because many readers get the same array. */
const encodedEvents = new WeakMap<readonly StockEvent[], Uint8Array>()

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // nginx would collect events until its buffer is full.
  'X-Accel-Buffering': 'no',
}

/** Opens event streams, up to a maximum per key. Ends the streams of a key that is revoked or expires. */
export class EventStreams {
  readonly #parts: EventStreamParts
  readonly #openStreams = new Set<EventStream>()
  /** The number of streams by key, including streams that are about to open. */
  readonly #streamCounts = new Map<string, number>()
  /** Checks of the keys never overlap. */
  readonly #checkKeys = shareRuns(() => this.#endRevokedStreams())
  #timers: ReturnType<typeof setInterval>[] = []
  #isClosed = false

  constructor(parts: EventStreamParts) {
    this.#parts = parts
  }

  async open(request: StreamRequest): Promise<Reply> {
    const { hub } = this.#parts
    const { keyId, plan, after } = request
    const max = plan === 'enterprise' ? MAX_STREAMS_PER_ENTERPRISE_KEY : MAX_STREAMS_PER_KEY
    const count = this.#streamCounts.get(keyId) ?? 0
    if (count >= max) return tooManyStreams(count, max)
    this.#changeCount(keyId, 1)
    try {
      const cursor = await hub.startingPoint(after)
      if (this.#isClosed) throw new ServiceError('service_unavailable', 'the service is stopping')
      const stream = new EventStream(request, cursor, hub, (endedStream) => this.#remove(endedStream))
      this.#add(stream)
      return { status: 200, headers: HEADERS, body: stream }
    } catch (error) {
      this.#changeCount(keyId, -1)
      throw error
    }
  }

  /** Ends every stream and opens no more. */
  close(): void {
    this.#isClosed = true
    for (const stream of this.#openStreams) stream.end()
  }

  #add(stream: EventStream): void {
    this.#openStreams.add(stream)
    if (this.#timers.length > 0) return
    const sendHeartbeats = () => {
      for (const openStream of this.#openStreams) openStream.sendHeartbeat()
    }
    this.#timers = [
      setInterval(sendHeartbeats, this.#parts.heartbeatMs ?? HEARTBEAT_SECONDS * SECOND),
      setInterval(() => void this.#checkKeys(), CHECK_KEYS_EVERY_MS),
    ]
  }

  #remove(stream: EventStream): void {
    this.#openStreams.delete(stream)
    this.#changeCount(stream.request.keyId, -1)
    if (this.#openStreams.size > 0) return
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
  }

  #changeCount(keyId: string, change: 1 | -1): void {
    const count = (this.#streamCounts.get(keyId) ?? 0) + change
    if (count === 0) this.#streamCounts.delete(keyId)
    else this.#streamCounts.set(keyId, count)
  }

  async #endRevokedStreams(): Promise<void> {
    const { keyRing, clock } = this.#parts
    const streamsBySecret = Map.groupBy(this.#openStreams, ({ request }) => request.secretHash)
    for (const [hash, streams] of streamsBySecret) {
      try {
        const key = keyRing.findCached(hash) ?? (await keyRing.findInStore(hash))
        if (keyState(key, clock()) === 'active') continue
        for (const stream of streams) stream.end()
      } catch {
        // The database is unavailable. The next check tries again.
      }
    }
  }
}

function tooManyStreams(count: number, max: number): Reply {
  const message = `this API key has ${count} open event streams, and its plan allows ${max}; close a stream, or let several readers share a stream`
  const error = new ServiceError('rate_limit_exceeded', message)
  return errorReply(error, {
    'Retry-After': String(RETRY_AFTER_SECONDS),
    'RateLimit-Policy': `"streams";q=${max};qu="concurrent-requests"`,
    RateLimit: '"streams";r=0',
  })
}

/** One open stream of server-sent events. */
class EventStream implements EventReader, LiveBody {
  readonly request: StreamRequest
  readonly #cursor: string
  readonly #hub: EventHub
  readonly #onEnd: (stream: EventStream) => void
  #output: BodyOutput | undefined
  #hasEnded = false
  /** The cursor after the latest events that the filter has left out; `undefined` if the reader has a later cursor. */
  #skippedCursor: string | undefined
  #skippedCount = 0
  /** Whether the reader has received data since the last heartbeat. */
  #hasProgressed = true

  constructor(request: StreamRequest, cursor: string, hub: EventHub, onEnd: (stream: EventStream) => void) {
    this.request = request
    this.#cursor = cursor
    this.#hub = hub
    this.#onEnd = onEnd
  }

  begin(output: BodyOutput): void {
    this.#output = output
    if (this.#hasEnded) {
      output.end()
      return
    }
    // A reader that resumes knows the cursor already.
    const ready = this.request.after === undefined ? formatBlock('ready', this.#cursor, {}) : ''
    this.#send(encoder.encode(`${RECONNECT_DELAY_FIELD}${ready}`))
    this.#hub.join(this, this.#cursor)
  }

  isReady(): boolean {
    return this.#unsentBytes() < MAX_UNSENT_BYTES
  }

  take(events: readonly StockEvent[]): void {
    const { kinds, petId } = this.request.filter
    if (kinds === undefined && petId === undefined) this.#send(encode(events))
    else this.#takeFiltered(events)
  }

  #takeFiltered(events: readonly StockEvent[]): void {
    const passingEvents = events.filter((event) => passesFilter(event, this.request.filter))
    if (passingEvents.length > 0) {
      this.#skippedCount = 0
      this.#skippedCursor = undefined
      this.#send(encode(passingEvents))
    }
    const last = events.at(-1)
    if (last === undefined || last === passingEvents.at(-1)) return
    this.#skippedCount += events.length
    this.#skippedCursor = last.cursor
    if (this.#skippedCount >= MAX_SKIPPED_EVENTS) this.#sendSkippedCursor()
  }

  /** A block without data is no event: the reader only remembers the id for its Last-Event-ID. */
  #sendSkippedCursor(): void {
    if (this.#skippedCursor === undefined) return
    this.#send(encoder.encode(`id: ${this.#skippedCursor}\n\n`))
    this.#skippedCount = 0
    this.#skippedCursor = undefined
  }

  /** Disconnects a reader that has unsent data and has received nothing since the last heartbeat. */
  sendHeartbeat(): void {
    if (this.#unsentBytes() > 0 && !this.#hasProgressed) this.#output?.abort()
    else if (this.#skippedCursor !== undefined) this.#sendSkippedCursor()
    else this.#send(HEARTBEAT)
    this.#hasProgressed = false
  }

  /** Sends the unsent data, then ends the stream. */
  end(): void {
    if (this.#hasEnded) return
    this.#sendSkippedCursor()
    this.onClose()
    this.#output?.end()
  }

  onBytesSent(): void {
    this.#hasProgressed = true
    this.#hub.wake()
  }

  onClose(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#hub.leave(this)
    this.#onEnd(this)
  }

  #send(bytes: Uint8Array): void {
    if (this.#hasEnded) return
    // If no bytes are waiting, the reader has received everything. `onBytesSent` is called only for bytes that had to wait.
    if (this.#unsentBytes() === 0) this.#hasProgressed = true
    this.#output?.send(bytes)
  }

  #unsentBytes(): number {
    return this.#output?.unsentBytes ?? 0
  }
}

function encode(events: readonly StockEvent[]): Uint8Array {
  const cached = encodedEvents.get(events)
  if (cached !== undefined) return cached
  const bytes = encoder.encode(events.map(formatEvent).join(''))
  encodedEvents.set(events, bytes)
  return bytes
}

function formatEvent(event: StockEvent): string {
  return formatBlock(event.kind, event.cursor, eventBody(event))
}

function formatBlock(name: string, id: string, data: object): string {
  return `event: ${name}\nid: ${id}\ndata: ${toJson(data)}\n\n`
}
