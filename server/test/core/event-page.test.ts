import { describe, expect, test } from 'bun:test'
import { type EventPageRequest, MAX_EVENTS_PER_PAGE, readEventPage } from '../../src/core/stock/event-page.ts'
import { petIdOf } from '../../src/core/stock/stock-event.ts'
import { BusyLog } from './event-logs.ts'

const read = async (log: BusyLog, request: Partial<EventPageRequest>) => {
  const page = await readEventPage(log, { after: '0.a', limit: 100, filter: {}, ...request })
  return { ...page, petIds: page.events.map((event) => Number(petIdOf(event))) }
}

function logOf(length: number, farthest?: number): BusyLog {
  const log = new BusyLog(farthest)
  log.happen(length)
  return log
}

describe('a page of events', () => {
  test('says that more follows only if another event passes the filter', async () => {
    const log = logOf(900)
    expect(await read(log, { filter: { petId: 700n }, limit: 1 })).toMatchObject({
      petIds: [700],
      cursor: '900.a',
      hasMore: false,
    })
    expect(await read(log, { limit: 899 })).toMatchObject({ cursor: '899.a', hasMore: true })
    expect(await read(log, { limit: 900 })).toMatchObject({ cursor: '900.a', hasMore: false })
  })

  test('examines a limited part of the log, and continues after it', async () => {
    const log = logOf(MAX_EVENTS_PER_PAGE + 5)
    const filter = { petId: BigInt(MAX_EVENTS_PER_PAGE + 1) }
    const first = await read(log, { filter })
    expect(first).toMatchObject({ events: [], cursor: `${MAX_EVENTS_PER_PAGE}.a`, hasMore: true })
    expect(await read(log, { filter, after: first.cursor })).toMatchObject({
      petIds: [MAX_EVENTS_PER_PAGE + 1],
      hasMore: false,
    })
  })
})
