import { invalidField } from '../values/field.ts'
import type { CommitObserver } from './group-commit.ts'
import type { StockEvent, StockEvents } from './stock-event.ts'
import type { EventStore } from './stock-store.ts'

export interface EventReader {
  /** Whether a reader that catches up can take more events. Until then, they stay in the store. */
  isReady(): boolean
  /** Gets every event once and in order. Readers at the same cursor get the same array. */
  take(events: readonly StockEvent[]): void
}

/** How soon changes by other processes are noticed. */
const POLL_MS = 100
/** Between two reads, the network gets a turn of the event loop. */
const MAX_EVENTS_PER_READ = 500

/**
 * Passes the events of the log to readers. Followers are all at the same cursor, so that new events are read once for all
 * of them. A reader that joins is late: it reads from its own cursor until it meets the followers. The log is read only
 * while there are readers, after `wake` and when the version of the store has changed.
 */
export class EventHub implements CommitObserver {
  readonly #store: EventStore
  readonly #onFailure: (error: unknown) => void
  readonly #followers = new Set<EventReader>()
  /** The cursor of all followers. */
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

  /** The cursor to join at: after the event with this id, or at the end of the log. */
  async startingPoint(lastEventId: string | undefined): Promise<string> {
    if (lastEventId === undefined) return this.#store.latestEventCursor()
    if ((await this.#store.stockEventsAfter(lastEventId, 1)) === 'unknown_cursor') {
      const got = JSON.stringify(lastEventId.slice(0, 40))
      throw invalidField(
        'lastEventId',
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

  /** Reads the log soon, if there are readers. */
  wake(): void {
    if (this.#polling === undefined) return
    this.#isDue = true
    if (this.#isBusy) return
    this.#isBusy = true
    // The requests in the same commit are answered first.
    setImmediate(() => void this.#work())
  }

  /** Call this when a reader becomes ready. */
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
        // No events are lost: the next poll continues at the cursor of each reader.
        this.#version = undefined
        if (!this.#isFailing) this.#onFailure(error)
        this.#isFailing = true
      }
      await new Promise((resume) => setImmediate(resume))
    }
    this.#isBusy = false
  }

  async #round(): Promise<void> {
    // Read before the events, so that a change in between is read again and never missed.
    this.#version = this.#store.version()
    // Readers that join during this round may be ahead of `common`, so they wait for the next round.
    const late = [...this.#late]
    let common: StockEvents | undefined
    if (this.#followers.size > 0) {
      common = await this.#read(this.#cursor)
      this.#cursor = common.cursor
      if (common.events.length > 0) for (const reader of this.#followers) reader.take(common.events)
      if (common.events.length >= MAX_EVENTS_PER_READ) this.#isDue = true
    }
    for (const [reader, cursor] of late) {
      if (!reader.isReady() || this.#late.get(reader) !== cursor) continue
      const own = await this.#read(cursor)
      // The reader may have left in the meantime, or joined again at another cursor.
      if (this.#late.get(reader) !== cursor) continue
      const caughtUp = common === undefined ? allOf(own) : upToMeeting(own, common)
      if (caughtUp === undefined) {
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
      const events = caughtUp ?? own.events
      if (events.length > 0) reader.take(events)
    }
  }

  async #read(cursor: string): Promise<StockEvents> {
    const read = await this.#store.stockEventsAfter(cursor, MAX_EVENTS_PER_READ)
    if (typeof read !== 'string') return read
    const latest = await this.#store.latestEventCursor()
    return { events: [{ kind: 'relist', cursor: latest }], cursor: latest }
  }
}

/** All events of a read, or `undefined` if the read may not have reached the end of the log. */
function allOf({ events }: StockEvents): readonly StockEvent[] | undefined {
  return events.length < MAX_EVENTS_PER_READ ? events : undefined
}

/**
 * The events that take a late reader to the end of `common`; `undefined` if they do not meet yet. Cursors cannot be
 * compared, but the reader joined before `common` was read, and `own` was read after it. So if `own` contains the last
 * event of `common`, they meet there. If `own` is empty, the reader is at the end of the log, and so is `common` unless it
 * was cut off at the maximum.
 */
function upToMeeting(own: StockEvents, common: StockEvents): readonly StockEvent[] | undefined {
  if (own.events.length === 0) return common.events.length < MAX_EVENTS_PER_READ ? [] : undefined
  const last = common.events.at(-1)?.cursor
  const index = own.events.findLastIndex(({ cursor }) => cursor === last)
  return index === -1 ? undefined : own.events.slice(0, index + 1)
}
