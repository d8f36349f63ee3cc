import { invalidField } from '../values/field.ts'
import type { CommitObserver } from './group-commit.ts'
import { fromCursor, isEarlierCursor } from './log-cursor.ts'
import type { StockEvents } from './stock-event.ts'
import type { EventStore } from './stock-store.ts'

export interface EventReader {
  /** Whether the reader can take more events. While it cannot, its events stay in the log. */
  isReady(): boolean
  /** Receives every event once and in order. Readers at the same cursor receive the same array. */
  take(events: StockEvents['events']): void
}

/** The interval at which the hub looks for changes by other processes. */
const POLL_MS = 100
/** Limits the work between two turns of the event loop, so that requests are not delayed. */
export const MAX_EVENTS_PER_READ = 500
/** For a reader that is further behind, reading the whole stock is faster. */
export const MAX_EVENTS_BEHIND = 10_000n

/**
 * Passes the events of the log to readers. Each round reads the log up to its end at the start of the round, once for all
 * readers at the same cursor. So readers that have caught up share all later reads. The log is read only while there are
 * readers: after `wake`, and when the version of the store has changed.
 */
export class EventHub implements CommitObserver {
  readonly #store: EventStore
  readonly #onFailure: (error: unknown) => void
  readonly #cursors = new Map<EventReader, string>()
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
    if (fromCursor(lastEventId) === undefined) {
      const got = JSON.stringify(lastEventId.slice(0, 40))
      throw invalidField(
        'lastEventId',
        `Last-Event-ID must be the id of an event of this stream, got ${got}; leave it out to start from now`,
      )
    }
    return lastEventId
  }

  join(reader: EventReader, cursor: string): void {
    this.#cursors.set(reader, cursor)
    this.#pollTimer ??= setInterval(() => {
      const version = this.#store.version()
      if (version === undefined || version !== this.#version) this.wake()
    }, POLL_MS)
    this.wake()
  }

  leave(reader: EventReader): void {
    this.#cursors.delete(reader)
    if (this.#cursors.size > 0) return
    clearInterval(this.#pollTimer)
    this.#pollTimer = undefined
  }

  commitFinished(): void {
    this.wake()
  }

  /** Reads the log soon, if there are readers. Must be called when a reader becomes ready. */
  wake(): void {
    if (this.#pollTimer === undefined) return
    this.#isDue = true
    if (this.#isRunning) return
    this.#isRunning = true
    // Deferred, so that the requests of the commit are answered first.
    setImmediate(() => void this.#runRounds())
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
    const end = await this.#store.latestEventCursor()
    const behind = [...this.#cursors].filter(([reader, cursor]) => cursor !== end && reader.isReady())
    for (const [cursor, readers] of Map.groupBy(behind, ([, at]) => at)) {
      const read = await this.#read(cursor, end)
      for (const [reader] of readers) {
        // The reader may have left in the meantime, or joined again at another cursor.
        if (this.#cursors.get(reader) !== cursor) continue
        this.#cursors.set(reader, read.cursor)
        if (read.events.length > 0) reader.take(read.events)
      }
    }
  }

  /** The events from the cursor up to the end. A limited read makes another round due. */
  async #read(cursor: string, end: string): Promise<StockEvents> {
    const relist = { events: [{ kind: 'relist', cursor: end }], cursor: end } as const
    if (isTooFarBehind(cursor, end)) return relist
    const read = await this.#store.eventsAfter(cursor, MAX_EVENTS_PER_READ)
    if (read === 'relist_needed') return relist
    if (read.events.length === MAX_EVENTS_PER_READ) this.#isDue = true
    if (!isEarlierCursor(end, read.cursor)) return read
    return { events: read.events.filter((event) => !isEarlierCursor(end, event.cursor)), cursor: end }
  }
}

function isTooFarBehind(cursor: string, end: string): boolean {
  const start = fromCursor(cursor)
  const last = fromCursor(end)
  return start !== undefined && last !== undefined && last.position - start.position > MAX_EVENTS_BEHIND
}
