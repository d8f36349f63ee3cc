import type { EventHub, EventReader } from '../core/event-hub.ts'
import type { StockEvent } from '../core/stock-event.ts'
import type { Peer } from './app.ts'
import { toJson } from './json.ts'

/** A reader with more than this unsent is cut off; it can resume. */
export const MOST_UNSENT_BYTES = 256 * 1024
/** One that catches up is given no more than this at a time, at its own pace. */
const ENOUGH_UNSENT_BYTES = 64 * 1024

/** How long a stream that has ended may be stuck with what is unsent. */
const LAST_WORDS_SECONDS = 5

const encoder = new TextEncoder()
const HEARTBEAT = encoder.encode(': heartbeat\n\n')
const OPENING = 'retry: 1000\n\n'

/** Events are encoded once for all who are given the same array. */
const encodedEvents = new WeakMap<readonly StockEvent[], Uint8Array>()

/** One open stream of server-sent events. */
export class EventStream implements EventReader {
  readonly keyId: string
  readonly secretHash: string
  readonly body: ReadableStream<Uint8Array>
  readonly #peer: Peer
  readonly #hub: EventHub
  readonly #onEnd: (stream: EventStream) => void
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #hasEnded = false
  /** Whether anything was sent since the last heartbeat. */
  #isMoving = true

  constructor(
    owner: { readonly keyId: string; readonly secretHash: string; readonly peer: Peer },
    hub: EventHub,
    onEnd: (stream: EventStream) => void,
  ) {
    this.keyId = owner.keyId
    this.secretHash = owner.secretHash
    this.#peer = owner.peer
    this.#hub = hub
    this.#onEnd = onEnd
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => {
          this.#isMoving = true
          this.#hub.ready(this)
        },
        cancel: () => {
          this.#leave()
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MOST_UNSENT_BYTES }),
    )
  }

  /** `isResumed` tells that the reader knows the cursor already. */
  begin(cursor: string, isResumed: boolean): void {
    this.#peer.limitIdle(0)
    this.#send(encoder.encode(isResumed ? OPENING : `${OPENING}${frame('ready', cursor, {})}`))
    this.#hub.join(this, cursor)
  }

  isReady(): boolean {
    return this.#unsentBytes() < ENOUGH_UNSENT_BYTES
  }

  take(events: readonly StockEvent[]): void {
    let bytes = encodedEvents.get(events)
    if (bytes === undefined) {
      bytes = encoder.encode(events.map(toFrame).join(''))
      encodedEvents.set(events, bytes)
    }
    this.#send(bytes)
  }

  /** Keeps the connection alive; one on which nothing has moved since the last time is given up. */
  beat(): void {
    if (this.#unsentBytes() > 0 && !this.#isMoving) this.#cut()
    else this.#send(HEARTBEAT)
    this.#isMoving = false
  }

  /** Ends it in good order: what is unsent is sent. */
  end(): void {
    if (!this.#leave()) return
    this.#controller.close()
    this.#peer.limitIdle(LAST_WORDS_SECONDS)
  }

  #send(bytes: Uint8Array): void {
    if (this.#hasEnded) return
    this.#controller.enqueue(bytes)
    if (this.#unsentBytes() > MOST_UNSENT_BYTES) this.#cut()
  }

  /** What is unsent is dropped. */
  #cut(): void {
    if (!this.#leave()) return
    this.#controller.error(new Error('the reader is too slow'))
    // Of the error alone a connection that is stuck would never hear.
    this.#peer.limitIdle(1)
  }

  #leave(): boolean {
    if (this.#hasEnded) return false
    this.#hasEnded = true
    this.#hub.leave(this)
    this.#onEnd(this)
    return true
  }

  #unsentBytes(): number {
    return MOST_UNSENT_BYTES - (this.#controller.desiredSize ?? MOST_UNSENT_BYTES)
  }
}

function toFrame({ kind, cursor, ...data }: StockEvent): string {
  if (!('at' in data)) return frame(kind, cursor, data)
  const { petId, before, after, status, at, keyId } = data
  return frame(kind, cursor, { petId, before, after, status, at: new Date(at).toISOString(), keyId })
}

function frame(name: string, id: string, data: object): string {
  return `event: ${name}\nid: ${id}\ndata: ${toJson(data)}\n\n`
}
