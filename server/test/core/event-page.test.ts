import { describe, expect, test } from 'bun:test'
import { type EventPageRequest, MAX_EVENTS_PER_PAGE, readEventPage } from '../../src/core/stock/event-page.ts'
import { petIdOf } from '../../src/core/stock/stock-event.ts'
import { BusyLog, upTo } from './event-logs.ts'

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
  test('has at most the limit, and the next pages continue without a gap or a repetition', async () => {
    const log = logOf(1_234)
    const petIds: number[] = []
    let after = '0.a'
    for (let hasMore = true; hasMore; ) {
      const page = await read(log, { after, limit: 300 })
      petIds.push(...page.petIds)
      expect(page.petIds.length).toBeLessThanOrEqual(300)
      ;({ cursor: after, hasMore } = page)
    }
    expect(petIds).toEqual(upTo(1, 1_234))
    expect(await read(log, { after })).toMatchObject({ events: [], cursor: '1234.a', hasMore: false })
  })

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

  test('is empty without a position, and has the position at the end of the log', async () => {
    expect(await read(logOf(7), { after: undefined })).toMatchObject({
      events: [],
      cursor: '7.a',
      hasMore: false,
    })
  })

  test('has only a relist at the end of the log if events are missing', async () => {
    expect(await read(logOf(50, 40), {})).toMatchObject({
      events: [{ kind: 'relist', cursor: '50.a' }],
      cursor: '50.a',
      hasMore: false,
    })
  })

  test('refuses a position that is none', async () => {
    await expect(read(logOf(1), { after: 'yesterday' })).rejects.toMatchObject({
      code: 'invalid_request',
      field: 'after',
    })
  })
})
