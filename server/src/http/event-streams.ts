import { type KeyRing, keyState } from '../core/keys/api-key.ts'
import type { EventHub } from '../core/stock/event-hub.ts'
import type { Clock } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import { EventStream } from './event-stream.ts'
import { errorReply, type Reply } from './reply.ts'

export interface EventStreamParts {
  readonly hub: EventHub
  readonly keys: KeyRing
  readonly clock: Clock
  readonly heartbeatMs: number
}

export interface StreamRequest {
  readonly keyId: string
  readonly secretHash: string
  /** The id of the last event that the caller has. */
  readonly after: string | undefined
}

/** For each key, in this process. */
const MAX_STREAMS_PER_KEY = 20
const RETRY_AFTER_SECONDS = 5
/** A stream ends within a second after its key does. */
const CHECK_KEYS_EVERY_MS = 500

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  // nginx would collect events until its buffer is full.
  'X-Accel-Buffering': 'no',
}

/** All streams that are open: who may open one, and when it ends. */
export class EventStreams {
  readonly #parts: EventStreamParts
  readonly #open = new Set<EventStream>()
  /** By key, those that are about to open included. */
  readonly #counts = new Map<string, number>()
  #timers: ReturnType<typeof setInterval>[] = []
  #isClosed = false

  constructor(parts: EventStreamParts) {
    this.#parts = parts
  }

  async open({ keyId, secretHash, after }: StreamRequest): Promise<Reply> {
    const { hub } = this.#parts
    if ((this.#counts.get(keyId) ?? 0) >= MAX_STREAMS_PER_KEY) return tooManyStreams()
    this.#count(keyId, 1)
    try {
      const cursor = await hub.startingPoint(after)
      if (this.#isClosed) throw new ServiceError('service_unavailable', 'the service is stopping')
      const stream = new EventStream(
        { keyId, secretHash },
        { cursor, isResumed: after !== undefined },
        hub,
        (ended) => this.#forget(ended),
      )
      this.#remember(stream)
      return { status: 200, headers: HEADERS, body: stream }
    } catch (error) {
      this.#count(keyId, -1)
      throw error
    }
  }

  /** Ends every stream and opens no more. */
  close(): void {
    this.#isClosed = true
    for (const stream of this.#open) stream.end()
  }

  #remember(stream: EventStream): void {
    this.#open.add(stream)
    if (this.#timers.length > 0) return
    const beat = () => {
      for (const each of this.#open) each.beat()
    }
    this.#timers = [
      setInterval(beat, this.#parts.heartbeatMs),
      setInterval(() => void this.#checkKeys(), CHECK_KEYS_EVERY_MS),
    ]
  }

  #forget(stream: EventStream): void {
    this.#open.delete(stream)
    this.#count(stream.keyId, -1)
    if (this.#open.size > 0) return
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
  }

  #count(keyId: string, more: 1 | -1): void {
    const count = (this.#counts.get(keyId) ?? 0) + more
    if (count === 0) this.#counts.delete(keyId)
    else this.#counts.set(keyId, count)
  }

  async #checkKeys(): Promise<void> {
    const { keys, clock } = this.#parts
    const bySecret = Map.groupBy(this.#open, ({ secretHash }) => secretHash)
    for (const [hash, streams] of bySecret) {
      try {
        const key = keys.known(hash) ?? (await keys.find(hash))
        if (key !== undefined && keyState(key, clock()) === 'active') continue
        for (const stream of streams) stream.end()
      } catch {
        // A database that does not answer tells nothing about the key; it is asked again soon.
      }
    }
  }
}

function tooManyStreams(): Reply {
  return errorReply(
    new ServiceError(
      'rate_limit_exceeded',
      `this API key has ${MAX_STREAMS_PER_KEY} streams open, which is as many as it may; close one first`,
    ),
    { 'Retry-After': String(RETRY_AFTER_SECONDS) },
  )
}
