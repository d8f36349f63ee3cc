import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { EventReader } from '../support/event-reader.ts'
import { type Answer, TestService } from '../support/test-service.ts'

interface ListedEvent {
  readonly id: string
  readonly kind: string
  readonly [kind: string]: unknown
}

let service: TestService
beforeAll(async () => {
  service = await TestService.start({ realTime: true })
})
afterAll(() => service.stop())

const set = (petId: bigint, quantity: number) => service.setQuantity(petId, `{"quantity": ${quantity}}`)
const eventIdOf = ({ headers }: Answer) => headers.get('Event-Id') ?? ''
const eventsOf = ({ json }: Answer) => json as readonly ListedEvent[]
const read = (query = '') => service.call('GET', `/events${query}`)
const now = async () => eventIdOf(await read())

describe('GET /events', () => {
  test('has the events of the stream, with the same ids and data', async () => {
    const after = await now()
    await set(9223372036854775807n, 6)
    await service.send('POST', '/store/orders', { petId: 1, quantity: 1, customer: 'Ada' })
    await service.send('POST', '/categories', { id: 88, name: 'Fish' })
    await service.send('POST', '/pets', { id: 81, name: 'Nemo', categoryId: 88, quantity: 3, lowStockAt: 4 })
    await service.call('DELETE', '/pets/81')
    const page = await read(`?after=${after}`)
    const reader = await EventReader.open(`${service.address}/v1/inventory/events`, service.key, {
      'Last-Event-ID': after,
    })
    await reader.until(() => reader.events.at(-1)?.id === eventIdOf(page))
    reader.close()
    // The texts are compared, because the ids exceed what a number holds.
    const streamed = reader.events.map(
      ({ id, name, data }) => `{"id":"${id}","kind":"${name}","${name}":${data}}`,
    )
    expect(page.text).toBe(`[${streamed.join()}]`)
    expect(new Set(eventsOf(page).map(({ kind }) => kind))).toEqual(
      new Set(['change', 'order', 'category', 'pet', 'low', 'removed']),
    )
    expect(page.next).toBeUndefined()
  })

  test('continues at its Event-Id and at its link, also with filters', async () => {
    const after = await now()
    for (const quantity of [11, 12, 13]) {
      await set(1n, quantity)
      await set(2n, quantity)
    }
    const first = await read(`?after=${after}&petId=2&kinds=change&limit=2`)
    expect(eventsOf(first).map(({ change }) => (change as { after: number }).after)).toEqual([11, 12])
    expect(first.next).toBe(`/events?kinds=change&petId=2&limit=2&after=${eventIdOf(first)}`)
    const second = await service.call('GET', first.next ?? '')
    expect(eventsOf(second)).toMatchObject([{ kind: 'change', change: { petId: 2, after: 13 } }])
    expect(second.next).toBeUndefined()
    expect(eventsOf(await read(`?after=${eventIdOf(second)}`))).toEqual([])
    expect(eventsOf(await read(`?after=${after}&kinds=order`))).toEqual([])
  })

  test('is 304 for its ETag, with the new position', async () => {
    const after = await now()
    const { etag } = await read(`?after=${after}&petId=3`)
    await set(1n, 1)
    const again = await service.call('GET', `/events?after=${after}&petId=3`, {
      headers: { 'If-None-Match': etag },
    })
    expect([again.status, eventIdOf(again)]).toEqual([304, await now()])
    expect(eventIdOf(again)).not.toBe(after)
  })

  test('has only a relist if the events after the position are gone, and continues after it', async () => {
    const after = await now()
    await set(1n, 21)
    await set(1n, 22)
    await service.store.pruneHistory({ keep: 1 }, 1_000)
    for (const gone of [after, '1.123456789abcdef']) {
      const page = await read(`?after=${gone}`)
      expect(eventsOf(page)).toEqual([{ id: eventIdOf(page), kind: 'relist' }])
      await set(1n, eventsOf(page).length + (gone === after ? 30 : 40))
      expect(eventsOf(await read(`?after=${eventIdOf(page)}`))).toMatchObject([{ kind: 'change' }])
    }
  })

  test('names `after` if it is no position', async () => {
    expect((await read('?after=yesterday')).error).toMatchObject({ status: 400, field: 'after' })
  })
})

describe('GET /inventory/availability', () => {
  const list = (petIds: string) => service.call('GET', `/inventory/availability?petIds=${petIds}`)

  test('has each pet that exists, by petId, and its position misses no later event', async () => {
    await set(1n, 9)
    await service.send('POST', '/store/orders', { petId: 2, quantity: 1, holdSeconds: 60 })
    const answer = await list('404,9223372036854775807,2,1')
    expect(answer.text).toMatch(
      /^\[{"petId":1,"quantity":9,.*"petId":2,.*"petId":9223372036854775807,"quantity":6,/,
    )
    expect(answer.text).not.toContain('404')
    const single = await service.call('GET', '/inventory/2/availability')
    expect(answer.text).toContain(single.text)
    await set(1n, 8)
    const after = eventIdOf(answer)
    expect(eventsOf(await read(`?after=${after}`))).toMatchObject([
      { kind: 'change', change: { petId: 1, after: 8 } },
    ])
  })

  test('refuses ids that are missing, repeated, invalid or too many, and accepts 1,000', async () => {
    const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1).join()
    for (const petIds of ['', '1,1', '1,', 'x', '01', '9223372036854775808', ids(1_001)]) {
      const { status, error } = await list(petIds)
      expect([petIds, status, error.field]).toEqual([petIds, 400, 'petIds'])
    }
    const { error } = await service.call('GET', '/inventory/availability')
    expect(error).toMatchObject({ status: 400, field: 'petIds' })
    expect((await list(ids(1_000))).items.map(({ petId }) => petId)).toEqual([1, 2, 3])
  })
})
