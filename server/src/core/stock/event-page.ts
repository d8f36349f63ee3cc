import { invalidField } from '../values/field.ts'
import { MAX_EVENTS_PER_READ } from './event-hub.ts'
import { fromCursor } from './log-cursor.ts'
import { type EventFilter, passesFilter, type StockEvent } from './stock-event.ts'
import type { EventStore } from './stock-store.ts'

/** Examining this many events takes less than a second. */
export const MAX_EVENTS_PER_PAGE = 10_000

export interface EventPage {
  readonly events: readonly StockEvent[]
  /** The position after the last event that was examined, for the next page. */
  readonly cursor: string
  /** Whether more events may follow. */
  readonly hasMore: boolean
}

export interface EventPageRequest {
  /** The id of an event. Without it, the page is empty and has the position at the end of the log. */
  readonly after: string | undefined
  readonly limit: number
  readonly filter: EventFilter
}

/**
 * Reads at most `limit` events that pass the filter, in steps, between which other requests run. If events after `after` are no
 * longer in the log, the page has a relist only, and continues at the end of the log. Unlike a stream, a page reads all events
 * that the log still has, however many they are.
 */
export async function readEventPage(
  store: Pick<EventStore, 'eventsAfter' | 'latestEventCursor'>,
  { after, limit, filter }: EventPageRequest,
): Promise<EventPage> {
  if (after === undefined) return { events: [], cursor: await store.latestEventCursor(), hasMore: false }
  if (fromCursor(after) === undefined) {
    const got = JSON.stringify(after.slice(0, 40))
    throw invalidField(
      'after',
      `after must be the id of an event or an Event-Id, got ${got}; leave it out to get the Event-Id of now`,
    )
  }
  const events: StockEvent[] = []
  let cursor = after
  for (let examined = 0; examined < MAX_EVENTS_PER_PAGE; examined += MAX_EVENTS_PER_READ) {
    if (examined > 0) await new Promise((resolve) => setImmediate(resolve))
    const read = await store.eventsAfter(cursor, MAX_EVENTS_PER_READ)
    if (read === 'relist_needed')
      return events.length > 0 ? { events, cursor, hasMore: true } : relistPage(store)
    for (const event of read.events) {
      if (!passesFilter(event, filter)) continue
      if (events.length === limit) return { events, cursor: events.at(-1)?.cursor ?? cursor, hasMore: true }
      events.push(event)
    }
    cursor = read.cursor
    if (read.events.length < MAX_EVENTS_PER_READ) return { events, cursor, hasMore: false }
  }
  return { events, cursor, hasMore: true }
}

async function relistPage(store: Pick<EventStore, 'latestEventCursor'>): Promise<EventPage> {
  const cursor = await store.latestEventCursor()
  return { events: [{ kind: 'relist', cursor }], cursor, hasMore: false }
}
