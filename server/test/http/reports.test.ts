import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'

interface Report {
  readonly since: string
  readonly until: string
  readonly total: Readonly<Record<string, number>>
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

let service: TestService
beforeAll(async () => {
  service = await TestService.start({ settings: { timeZone: 'Europe/Berlin' } })
  // A quarter past midnight in Berlin.
  service.now = Date.parse('2026-11-16T23:15:00Z')
})
afterAll(() => service.stop())

const path = (query = '') => `/reports/movements${query}`
const read = async (query = '') => (await service.call('GET', path(query))).json as Report
const adjust = async (reason: string, changes: readonly object[], more: object = {}) => {
  const answer = await service.send('POST', '/inventory/adjustments', { reason, changes, ...more })
  expect(answer.status).toBe(200)
  return answer.json as { readonly id: number }
}

describe('GET /reports/movements', () => {
  test('has the figures of the current day in the time zone, net of reversals', async () => {
    expect(await read()).toMatchObject({
      since: '2026-11-16T23:00:00.000Z',
      until: '2026-11-17T23:00:00.000Z',
      timeZone: 'Europe/Berlin',
      by: 'day',
      rows: [],
    })
    await adjust('received', [{ petId: 1, delta: 20 }])
    await adjust('sold', [
      { petId: 1, delta: -5 },
      { petId: 2, delta: -1 },
    ])
    const { id } = await adjust('sold', [{ petId: 1, delta: -3 }])
    await service.send('POST', `/inventory/adjustments/${id}/reverse`, {})
    await service.send('POST', `/inventory/adjustments/${id - 2}/reverse`, {
      reason: 'returned',
      lines: [{ petId: 1, quantity: 2 }],
    })
    await adjust('counted', [{ petId: 1, quantity: 15 }])
    await adjust('lost', [{ petId: 1, delta: -1 }], { occurredAt: '2026-11-16T22:45:00Z' })
    const { total, rows } = await read()
    expect(total).toEqual({
      received: 20,
      returned: 2,
      sold: 6,
      damaged: 0,
      lost: 0,
      countedUp: 0,
      countedDown: 6,
      corrected: 0,
      change: 10,
    })
    expect(rows).toEqual([{ day: '2026-11-17', ...total }])
    const lastNight = await read('?since=2026-11-16T22:00:00Z')
    expect(lastNight.rows).toMatchObject([
      { day: '2026-11-16', lost: 1, countedUp: 1, change: 0 },
      { day: '2026-11-17', ...total },
    ])
    expect((await read('?by=pet')).rows).toMatchObject([
      { petId: 1, name: 'Biscuit', sold: 5 },
      { petId: 2, name: 'Mittens', sold: 1 },
    ])
    expect((await read('?by=key')).rows).toMatchObject([{ name: 'enterprise key', sold: 6 }])
  })

  test('is a CSV file if the caller prefers one', async () => {
    await service.send('PATCH', '/pets/2', { name: '=Mittens, "the" cat' })
    const csv = async (query: string, Accept: string) => {
      const { headers, text } = await service.call('GET', path(query), { headers: { Accept } })
      return [headers.get('Content-Type'), text]
    }
    const FIGURES = 'received,returned,sold,damaged,lost,countedUp,countedDown,corrected,change'
    expect(await csv('?by=pet', 'text/csv')).toEqual([
      'text/csv',
      `petId,name,${FIGURES}\n1,Biscuit,20,2,5,0,0,0,6,0,11\n2,"'=Mittens, ""the"" cat",0,0,1,0,0,0,0,0,-1\n`,
    ])
    expect(await csv('', 'text/csv, application/json;q=0.5')).toEqual([
      'text/csv',
      `day,${FIGURES}\n2026-11-17,20,2,6,0,0,0,6,0,10\n`,
    ])
    for (const accept of ['*/*', 'application/json', 'application/json, text/csv;q=0.9'])
      expect((await csv('', accept))[0]).toBe('application/json')
  })

  test('names the time from which the history is complete once some of it was removed', async () => {
    const complete = async (Accept: string) =>
      (await service.call('GET', path(), { headers: { Accept } })).headers.get('Complete-Since')
    expect([await complete('text/csv'), (await read()) as object]).toEqual([
      null,
      expect.not.objectContaining({ completeSince: expect.anything() }),
    ])
    await service.store.pruneHistory({ keep: 1 }, 1_000)
    const time = '2026-11-16T23:15:00.000Z'
    expect([await complete('text/csv'), await read()]).toEqual([
      time,
      expect.objectContaining({ completeSince: time }),
    ])
  })

  test('refuses an empty range and an unknown group', async () => {
    const now = new Date(service.now).toISOString()
    expect((await service.call('GET', path(`?since=${now}&until=${now}`))).error.field).toBe('until')
    expect((await service.call('GET', path('?by=customer'))).error.field).toBe('by')
  })
})
