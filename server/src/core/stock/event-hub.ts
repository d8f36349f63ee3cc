import { ServiceError } from '../values/errors.ts'
import type { CommitObserver } from './group-commit.ts'
import type { StockEvent, StockEvents } from './stock-event.ts'
import type { EventStore } from './stock-store.ts'

/** Somebody who follows the stock. */
export interface EventReader {
  /** Whether one that catches up takes more; until it does, what it missed stays in the store. */
  isReady(): boolean
  /** Every event once and in order. Those who are given the same array are given the same events. */
  take(events: readonly StockEvent[]): void
}

/** How soon a change by another process is noticed. */
const POLL_MS = 100
/** Then the network gets a turn. */
const MAX_EVENTS_PER_READ = 500

/**
 * Tells readers what happens to the stock. Those who have everything follow together: what is new is read once for
 * all of them. One that joins comes late, reads from where it left off, and falls in where it meets the others. Looks
 * only while there are readers: at once after `wake`, and where the store's version is another one.
 */
export class EventHub implements CommitObserver {
  readonly #store: EventStore
  readonly #onFailure: (error: unknown) => void
  readonly #followers = new Set<EventReader>()
  /** Where all followers are. */
  #cursor = ''
  readonly #late = new Map<EventReader, string>()
  #polling: ReturnType<typeof setInterval> | undefined
  #version: number | undefined
  #isBusy = false
  #isDue = false
  #isFailing = false

  constructor(store: EventStore, onFailure: (error: unknown) => void) {
    this.#store = store
    this.#onFailure = onFailure
  }

  /** Where to join: behind the event with this id, or here and now. */
  async startingPoint(lastEventId: string | undefined): Promise<string> {
    if (lastEventId === undefined) return this.#store.latestEventCursor()
    if ((await this.#store.stockEventsAfter(lastEventId, 1)) === 'unknown_cursor') {
      const got = JSON.stringify(lastEventId.slice(0, 40))
      throw new ServiceError(
        'invalid_request',
        `Last-Event-ID must be the id of an event of this stream, got ${got}; leave it out to start from now`,
      )
    }
    return lastEventId
  }

  join(reader: EventReader, cursor: string): void {
    this.#late.set(reader, cursor)
    this.#polling ??= setInterval(() => this.#poll(), POLL_MS)
    this.wake()
  }

  leave(reader: EventReader): void {
    this.#late.delete(reader)
    this.#followers.delete(reader)
    if (this.#late.size > 0 || this.#followers.size > 0) return
    clearInterval(this.#polling)
    this.#polling = undefined
  }

  commitFinished(): void {
    this.wake()
  }

  /** Something may have happened. Costs nothing while nobody reads. */
  wake(): void {
    if (this.#polling === undefined) return
    this.#isDue = true
    if (this.#isBusy) return
    this.#isBusy = true
    // Whoever was waiting for the same commit is answered first.
    setImmediate(() => void this.#work())
  }

  /** A reader that was not ready is. */
  ready(reader: EventReader): void {
    if (this.#late.has(reader)) this.wake()
  }

  #poll(): void {
    const version = this.#store.version()
    if (version === undefined || version !== this.#version || this.#late.size > 0) this.wake()
  }

  async #work(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false
      try {
        await this.#round()
        this.#isFailing = false
      } catch (error) {
        // Nobody misses anything: the next poll goes on from where each reader is.
        this.#version = undefined
        if (!this.#isFailing) this.#onFailure(error)
        this.#isFailing = true
      }
      await new Promise((resume) => setImmediate(resume))
    }
    this.#isBusy = false
  }

  async #round(): Promise<void> {
    // Taken before asking: a change in between is asked for once more, never missed.
    this.#version = this.#store.version()
    // Likewise: one that joins later may be ahead of where the others are after this round, and would fall behind itself.
    const late = [...this.#late]
    let common: StockEvents | undefined
    if (this.#followers.size > 0) {
      common = await this.#readOn(this.#cursor)
      this.#cursor = common.cursor
      if (common.events.length > 0) for (const reader of this.#followers) reader.take(common.events)
      if (common.events.length >= MAX_EVENTS_PER_READ) this.#isDue = true
    }
    for (const [reader, cursor] of late) {
      if (!reader.isReady() || this.#late.get(reader) !== cursor) continue
      const own = await this.#readOn(cursor)
      // It may have left meanwhile, and even come back at another cursor.
      if (this.#late.get(reader) !== cursor) continue
      const given = common === undefined ? allOf(own) : upToMeeting(own, common)
      if (given === undefined) {
        this.#late.set(reader, own.cursor)
        this.#isDue = true
      } else {
        this.#late.delete(reader)
        this.#followers.add(reader)
        if (common === undefined) {
          common = own
          this.#cursor = own.cursor
        }
      }
      const events = given ?? own.events
      if (events.length > 0) reader.take(events)
    }
  }

  async #readOn(cursor: string): Promise<StockEvents> {
    const found = await this.#store.stockEventsAfter(cursor, MAX_EVENTS_PER_READ)
    if (typeof found !== 'string') return found
    const latest = await this.#store.latestEventCursor()
    return { events: [{ kind: 'relist', cursor: latest }], cursor: latest }
  }
}

function allOf({ events }: StockEvents): readonly StockEvent[] | undefined {
  return events.length < MAX_EVENTS_PER_READ ? events : undefined
}

/**
 * What a late reader still has to be given to be where `common` ends; `undefined` where they do not meet yet. Cursors
 * cannot be compared, but the reader joined before `common` was read, and `own` was read after it: if it holds the last
 * event of `common`, they meet there. If there was nothing to read, there was nothing up to the end of `common` either,
 * unless that was cut short.
 */
function upToMeeting(own: StockEvents, common: StockEvents): readonly StockEvent[] | undefined {
  if (own.events.length === 0) return common.events.length < MAX_EVENTS_PER_READ ? [] : undefined
  const last = common.events.at(-1)?.cursor
  const index = own.events.findLastIndex(({ cursor }) => cursor === last)
  return index === -1 ? undefined : own.events.slice(0, index + 1)
}
