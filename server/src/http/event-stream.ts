import type { LiveBody, Outflow } from '@petstore/wire'
import type { EventHub, EventReader } from '../core/stock/event-hub.ts'
import type { StockEvent } from '../core/stock/stock-event.ts'
import { toJson } from './reply.ts'

/** A reader with more than this unsent is cut off; it can resume. */
const MAX_UNSENT_BYTES = 256 * 1024
/** One that catches up is given no more than this at a time, at its own pace. */
const MAX_CATCH_UP_BYTES = 64 * 1024

const encoder = new TextEncoder()
const HEARTBEAT = encoder.encode(': heartbeat\n\n')
const OPENING = 'retry: 1000\n\n'

/** Events are encoded once for all who are given the same array. */
const encodedEvents = new WeakMap<readonly StockEvent[], Uint8Array>()

/** One open stream of server-sent events. */
export class EventStream implements EventReader, LiveBody {
  readonly keyId: string
  readonly secretHash: string
  readonly #hub: EventHub
  readonly #start: { readonly cursor: string; readonly isResumed: boolean }
  readonly #onEnd: (stream: EventStream) => void
  #outflow: Outflow | undefined
  #hasEnded = false
  /** Whether anything was sent since the last heartbeat. */
  #isMoving = true

  /** `isResumed` tells that the reader knows the cursor already. */
  constructor(
    owner: { readonly keyId: string; readonly secretHash: string },
    start: { readonly cursor: string; readonly isResumed: boolean },
    hub: EventHub,
    onEnd: (stream: EventStream) => void,
  ) {
    this.keyId = owner.keyId
    this.secretHash = owner.secretHash
    this.#start = start
    this.#hub = hub
    this.#onEnd = onEnd
  }

  begin(outflow: Outflow): void {
    this.#outflow = outflow
    if (this.#hasEnded) {
      outflow.end()
      return
    }
    const { cursor, isResumed } = this.#start
    this.#send(encoder.encode(isResumed ? OPENING : `${OPENING}${frame('ready', cursor, {})}`))
    this.#hub.join(this, cursor)
  }

  isReady(): boolean {
    return this.#unsentBytes() < MAX_CATCH_UP_BYTES
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
    if (this.#unsentBytes() > 0 && !this.#isMoving) this.#outflow?.cut()
    else this.#send(HEARTBEAT)
    this.#isMoving = false
  }

  /** Ends it in good order: what is unsent is sent. */
  end(): void {
    if (this.#hasEnded) return
    this.onClose()
    this.#outflow?.end()
  }

  onRoom(): void {
    this.#isMoving = true
    this.#hub.ready(this)
  }

  onClose(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#hub.leave(this)
    this.#onEnd(this)
  }

  #send(bytes: Uint8Array): void {
    if (this.#hasEnded) return
    this.#outflow?.send(bytes)
    if (this.#unsentBytes() > MAX_UNSENT_BYTES) this.#outflow?.cut()
  }

  #unsentBytes(): number {
    return this.#outflow?.unsentBytes ?? 0
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
