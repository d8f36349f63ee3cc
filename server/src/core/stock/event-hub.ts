import { invalidField } from '../values/field.ts'
import type { CommitObserver } from './group-commit.ts'
import type { StockEvent, StockEvents } from './stock-event.ts'
import type { EventStore } from './stock-store.ts'

export interface EventReader {
  /** Whether a reader that is catching up can take more events. While it cannot, its events stay in the store. */
  isReady(): boolean
  /** Receives every event once and in order. Readers at the same cursor receive the same array. */
  take(events: readonly StockEvent[]): void
}

/** The interval at which the hub looks for changes by other processes. */
const POLL_MS = 100
/** Limits the work between two turns of the event loop, so that requests are not delayed. */
const MAX_EVENTS_PER_READ = 500

/**
 * Passes the events of the log to readers. A reader starts as a late reader, which reads the log from its own cursor. When it
 * has caught up, it becomes a follower. All followers are at the same cursor, so that new events are read once for all of
 * them. The log is read only while there are readers: after `wake`, and when the version of the store has changed.
 */
export class EventHub implements CommitObserver {
  readonly #store: EventStore
  readonly #onFailure: (error: unknown) => void
  readonly #followers = new Set<EventReader>()
  #followersCursor = ''
  readonly #lateReaders = new Map<EventReader, string>()
  #pollTimer: ReturnType<typeof setInterval> | undefined
  #version: number | undefined
  #isRunning = false
  #isDue = false
  #isFailing = false

  constructor(store: EventStore, onFailure: (error: unknown) => void) {
    this.#store = store
    this.#onFailure = onFailure
  }

  /** The cursor for `join`: after the event with this id or, without an id, at the end of the log. */
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
    this.#lateReaders.set(reader, cursor)
    this.#pollTimer ??= setInterval(() => {
      const version = this.#store.version()
      if (version === undefined || version !== this.#version || this.#lateReaders.size > 0) this.wake()
    }, POLL_MS)
    this.wake()
  }

  leave(reader: EventReader): void {
    this.#lateReaders.delete(reader)
    this.#followers.delete(reader)
    if (this.#lateReaders.size > 0 || this.#followers.size > 0) return
    clearInterval(this.#pollTimer)
    this.#pollTimer = undefined
  }

  commitFinished(): void {
    this.wake()
  }

  /** Reads the log soon, if there are readers. */
  wake(): void {
    if (this.#pollTimer === undefined) return
    this.#isDue = true
    if (this.#isRunning) return
    this.#isRunning = true
    // Deferred, so that the requests of the commit are answered first.
    setImmediate(() => void this.#runRounds())
  }

  /** Must be called when a reader becomes ready. */
  resumeReader(reader: EventReader): void {
    if (this.#lateReaders.has(reader)) this.wake()
  }

  async #runRounds(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false
      try {
        await this.#runRound()
        this.#isFailing = false
      } catch (error) {
        // No events are lost: an unknown version makes the next poll read again, at the cursor of each reader.
        this.#version = undefined
        if (!this.#isFailing) this.#onFailure(error)
        this.#isFailing = true
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#isRunning = false
  }

  async #runRound(): Promise<void> {
    // The version is read before the events: if a change is made in between, the next poll finds another version and reads again.
    this.#version = this.#store.version()
    // Readers that join during this round may be ahead of the followers' read, so they wait for the next round.
    const lateReaders = [...this.#lateReaders]
    let followersRead = this.#followers.size > 0 ? await this.#readForFollowers() : undefined
    for (const [reader, cursor] of lateReaders) {
      if (!reader.isReady() || this.#lateReaders.get(reader) !== cursor) continue
      const read = await this.#read(cursor)
      // The reader may have left in the meantime, or joined again at another cursor.
      if (this.#lateReaders.get(reader) !== cursor) continue
      const catchUpEvents = eventsUntilFollowersCursor(read, followersRead)
      if (catchUpEvents === undefined) {
        this.#lateReaders.set(reader, read.cursor)
        this.#isDue = true
      } else {
        this.#lateReaders.delete(reader)
        this.#followers.add(reader)
        if (followersRead === undefined) {
          followersRead = read
          this.#followersCursor = read.cursor
        }
      }
      const events = catchUpEvents ?? read.events
      if (events.length > 0) reader.take(events)
    }
  }

  async #readForFollowers(): Promise<StockEvents> {
    const read = await this.#read(this.#followersCursor)
    this.#followersCursor = read.cursor
    if (read.events.length > 0) for (const reader of this.#followers) reader.take(read.events)
    if (!isAtEnd(read)) this.#isDue = true
    return read
  }

  async #read(cursor: string): Promise<StockEvents> {
    const read = await this.#store.stockEventsAfter(cursor, MAX_EVENTS_PER_READ)
    if (typeof read !== 'string') return read
    const latest = await this.#store.latestEventCursor()
    return { events: [{ kind: 'relist', cursor: latest }], cursor: latest }
  }
}

function isAtEnd({ events }: StockEvents): boolean {
  return events.length < MAX_EVENTS_PER_READ
}

/**
 * The events that take a late reader to the cursor of the followers, or, if there are no followers, to the end of the log.
 * `undefined` if the reads do not prove that it has caught up. Cursors have no order: they are equal or different. Therefore this
 * function looks in `lateRead` for the last event of `followersRead`. Within a round the late read runs after the followers'
 * read, so it contains this event if it reaches that far. If the late read is empty, the late reader is at the end of the log,
 * and it already was when the followers' read ran. So if that read also reached the end, both have the same cursor.
 */
function eventsUntilFollowersCursor(
  lateRead: StockEvents,
  followersRead: StockEvents | undefined,
): readonly StockEvent[] | undefined {
  if (followersRead === undefined) return isAtEnd(lateRead) ? lateRead.events : undefined
  if (lateRead.events.length === 0) return isAtEnd(followersRead) ? [] : undefined
  const lastCursor = followersRead.events.at(-1)?.cursor
  const index = lateRead.events.findLastIndex(({ cursor }) => cursor === lastCursor)
  return index === -1 ? undefined : lateRead.events.slice(0, index + 1)
}
