import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { change } from '../store/plain-rows.ts'
import { addPets } from '../support/add-pets.ts'
import { EventReader } from '../support/event-reader.ts'
import { operatorOf } from '../support/operator.ts'
import { removePet } from '../support/remove-pet.ts'
import { standingOf } from '../support/standing.ts'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start({ realTime: true })
})
afterAll(() => service.stop())

const readers: EventReader[] = []
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close()
})

interface Follow {
  readonly key?: string
  readonly after?: string | undefined
  readonly query?: string
}

async function follow({ key = service.key, after, query = '' }: Follow = {}): Promise<EventReader> {
  const headers: Record<string, string> = after === undefined ? {} : { 'Last-Event-ID': after }
  const reader = await EventReader.open(`${service.address}/v1/inventory/events${query}`, key, headers)
  readers.push(reader)
  return reader
}

async function followFromNow(options: Follow = {}): Promise<EventReader> {
  const reader = await follow(options)
  await reader.until(() => reader.events.length > 0)
  return reader
}

const set = (petId: bigint, quantity: number) => service.setQuantity(petId, `{"quantity": ${quantity}}`)
const namesOf = ({ events }: EventReader) => events.map(({ name }) => name)
const afterOf = ({ events }: EventReader) =>
  events.filter(({ name }) => name === 'change').map(({ data }) => JSON.parse(data).after as number)

describe('GET /inventory/events', () => {
  test('begins with ready, and sends each change with its key and time', async () => {
    const { id, secret } = await service.createKey('pro')
    const reader = await followFromNow()
    expect(reader.response.status).toBe(200)
    expect(reader.response.headers.get('Content-Type')).toBe('text/event-stream')
    expect(reader.response.headers.get('Cache-Control')).toBe('no-store')
    expect(reader.retry).toBe(1_000)
    expect(reader.events).toEqual([{ name: 'ready', id: expect.any(String), data: '{}' }])
    await service.setQuantity(9223372036854775807n, '{"quantity": 5}', { key: secret })
    await reader.until(() => reader.events.length === 2)
    expect(reader.events[1]?.name).toBe('change')
    const { data = '' } = reader.events[1] ?? {}
    expect(data).toStartWith('{"petId":9223372036854775807,')
    const { petId: _, at, ...rest } = JSON.parse(data)
    expect(rest).toEqual({
      before: 8,
      after: 5,
      status: 'available',
      reserved: 1,
      available: 4,
      adjustmentId: expect.any(Number),
      occurredAt: at,
      keyId: id,
    })
  })

  test('sends added and removed entries by any process, and a count that confirms the quantity', async () => {
    const reader = await followFromNow()
    const pet = { id: 50n, name: 'New', categoryId: 1n, status: 'pending', quantity: 3 } as const
    await addPets(service.store, [pet])
    await set(50n, 3)
    await set(50n, 4)
    await removePet(service.store, 50n)
    await reader.until(() => reader.events.length === 5)
    expect(reader.events.slice(1).map(({ name, data }) => [name, JSON.parse(data)])).toEqual([
      [
        'pet',
        {
          change: 'created',
          petId: 50,
          name: 'New',
          categoryId: 1,
          quantity: 3,
          status: 'pending',
          at: expect.any(String),
          keyId: 'petstore',
        },
      ],
      ['change', expect.objectContaining({ petId: 50, before: 3, after: 3, status: 'pending' })],
      ['change', expect.objectContaining({ petId: 50, before: 3, after: 4, status: 'pending' })],
      ['removed', { petId: 50, at: expect.any(String), keyId: 'petstore' }],
    ])
  })

  test('continues after Last-Event-ID, by header or query, without a gap or a repeat', async () => {
    const first = await followFromNow()
    for (let quantity = 100; quantity < 110; quantity++) await set(1n, quantity)
    await first.until(() => first.events.length === 11)
    const after = first.events[4]?.id
    const byHeader = await follow({ after, query: '?lastEventId=0.0' })
    const byQuery = await follow({ query: `?lastEventId=${after}` })
    await set(1n, 110)
    for (const reader of [first, byHeader, byQuery]) await reader.until(() => afterOf(reader).includes(110))
    const rest = [104, 105, 106, 107, 108, 109, 110]
    expect(afterOf(byHeader)).toEqual(rest)
    expect(afterOf(byQuery)).toEqual(rest)
    expect(afterOf(first)).toEqual([100, 101, 102, 103, ...rest])
    expect(byHeader.events).toEqual(first.events.slice(5))
    expect(namesOf(byHeader)).not.toContain('ready')
  })

  test('an invalid id is 400', async () => {
    for (const query of ['lastEventId=nonsense', 'lastEventId=', 'lastEventId=1.1&lastEventId=1.1']) {
      const answer = await service.call('GET', `/inventory/events?${query}`)
      expect([answer.status, answer.error.code]).toEqual([400, 'invalid_request'])
    }
    const headers = { 'Last-Event-ID': '-1' }
    const answer = await service.call('GET', '/inventory/events', { headers })
    expect(answer.error.message).toContain(
      'Last-Event-ID must be the id of an event of this stream, got "-1"',
    )
  })

  test('counts as one request, and HEAD opens no stream', async () => {
    const { secret } = await service.createKey('free')
    const reader = await followFromNow({ key: secret })
    expect(reader.response.headers.get('X-RateLimit-Remaining')).toBe('59')
    await set(1n, 1)
    await reader.until(() => reader.events.length === 2)
    const head = await service.call('HEAD', '/inventory/events', { key: secret })
    expect([head.status, head.text, standingOf(head).remaining]).toEqual([200, '', 58])
  })

  test('a key may have the open streams of its plan; one more is 429 until a stream is closed', async () => {
    const { secret } = await service.createKey('pro')
    const open = await Promise.all(Array.from({ length: 20 }, () => followFromNow({ key: secret })))
    const refused = await service.call('GET', '/inventory/events', { key: secret })
    expect([refused.status, refused.error.code, refused.error.message]).toEqual([
      429,
      'rate_limit_exceeded',
      'this API key has 20 open event streams, and its plan allows 20; close a stream, or let several readers share a stream',
    ])
    expect(refused.headers.get('Retry-After')).toBe('5')
    expect(refused.headers.get('RateLimit-Policy')).toBe('"streams";q=20;qu="concurrent-requests"')
    expect(refused.headers.get('RateLimit')).toBe('"streams";r=0')
    expect((await followFromNow()).response.status).toBe(200)
    open[0]?.close()
    await until(async () => (await follow({ key: secret })).response.status === 200)
  })

  test('sends a category that was created, changed and removed, except to readers of one pet', async () => {
    const categories = await followFromNow({ query: '?kinds=category' })
    const onePet = await followFromNow({ query: '?petId=1' })
    const send = (method: string, path: string, body?: string) => service.send(method, path, body)
    await send('POST', '/categories', '{"id": 70, "name": "Birds", "lowStockAt": 3}')
    await send('PATCH', '/categories/70', '{"name": "Parrots"}')
    await send('DELETE', '/categories/70')
    await set(1n, 601)
    await onePet.until(() => namesOf(onePet).includes('change'))
    await categories.until(() => categories.events.length === 4)
    const told = categories.events.slice(1).map(({ name, data }) => [name, JSON.parse(data)])
    const category = { categoryId: 70, lowStockAt: 3, at: expect.any(String), keyId: expect.any(String) }
    expect(told).toEqual([
      ['category', { change: 'created', name: 'Birds', ...category }],
      ['category', { change: 'changed', name: 'Parrots', ...category }],
      ['category', { change: 'removed', name: 'Parrots', ...category }],
    ])
    expect(namesOf(onePet)).not.toContain('category')
  })

  test('sends only events of the chosen kinds and pet', async () => {
    const pets = await followFromNow({ query: '?kinds=pet,removed' })
    const second = await followFromNow({ query: '?petId=2' })
    const both = await followFromNow({ query: '?kinds=change&petId=2' })
    const all = await followFromNow()
    const pet = { id: 60n, name: 'New', categoryId: 1n, status: 'available', quantity: 3 } as const
    await set(1n, 501)
    await set(2n, 502)
    await addPets(service.store, [pet])
    await set(2n, 503)
    await removePet(service.store, 60n)
    await all.until(() => namesOf(all).includes('removed'))
    await pets.until(() => pets.events.length === 3)
    await Promise.all([second, both].map((reader) => reader.until(() => reader.events.length === 3)))
    expect(namesOf(pets)).toEqual(['ready', 'pet', 'removed'])
    expect(afterOf(second)).toEqual([502, 503])
    expect(afterOf(both)).toEqual([502, 503])
    for (const [query, message] of [
      [
        '?kinds=change,sold',
        'kinds[1] must be one of change, order, low, recovered, pet, removed, category, got "sold"',
      ],
      ['?petId=two', 'the query parameter petId must be an integer'],
    ]) {
      const answer = await service.call('GET', `/inventory/events${query}`)
      expect([answer.status, answer.error.message]).toEqual([400, expect.stringContaining(message ?? '')])
    }
  })

  test('with a filter still sends a relist', async () => {
    const reader = await follow({ after: `0.dead`, query: '?kinds=removed&petId=2' })
    await reader.until(() => reader.events.length === 1)
    expect(namesOf(reader)).toEqual(['relist'])
  })

  test('with a filter moves the id past events that it leaves out, at each heartbeat and at its end', async () => {
    const other = await TestService.start({ heartbeatMs: 1_000 })
    const address = `${other.address}/v1/inventory/events`
    const all = await EventReader.open(address, other.key)
    const filtered = await EventReader.open(`${address}?kinds=removed`, other.key)
    await Promise.all([all, filtered].map((reader) => reader.until(() => reader.events.length > 0)))
    await other.setQuantity(1n, '{"quantity": 41}')
    await all.until(() => all.events.length === 2)
    await filtered.until(() => filtered.lastId === all.lastId)
    expect(namesOf(filtered)).toEqual(['ready'])
    await other.setQuantity(1n, '{"quantity": 42}')
    await all.until(() => all.events.length === 3)
    await other.stop()
    await filtered.until(() => filtered.ended !== undefined)
    expect([filtered.ended, filtered.lastId]).toEqual(['closed', all.lastId])
    expect(namesOf(filtered)).toEqual(['ready'])
  })

  test('with a filter sends the position after a thousand events that it leaves out', async () => {
    const reader = await followFromNow({ query: '?kinds=removed' })
    const { lastId } = reader
    await service.store.changeStock(
      Array.from({ length: 1_000 }, (_, index) => change(1n, 10_000 + index, { at: Date.now() })),
    )
    await reader.until(() => reader.lastId !== lastId)
    expect(namesOf(reader)).toEqual(['ready'])
  })

  test('ends when its key is revoked, and other streams stay open', async () => {
    const { id, secret } = await service.createKey('pro')
    const ending = await followFromNow({ key: secret })
    const staying = await followFromNow()
    await operatorOf(service.store).revokeKey(id, { at: Date.now(), actor: 'test' })
    await ending.until(() => ending.ended !== undefined)
    expect(ending.ended).toBe('closed')
    expect(staying.ended).toBeUndefined()
    await set(1n, 8_000)
    await staying.until(() => afterOf(staying).includes(8_000))
  })

  test('ends when its key expires', async () => {
    const { id, secret } = await service.createKey('pro')
    const reader = await followFromNow({ key: secret })
    const at = Date.now()
    await operatorOf(service.store).changeKey(id, { expiresAt: at + 200 }, { at, actor: 'test' })
    await reader.until(() => reader.ended === 'closed')
  })
})

describe('the stream of events', () => {
  test('ends at once and cleanly when the service stops', async () => {
    // Longer than the test may take.
    const other = await TestService.start({ stopGraceMs: 600_000 })
    const open = await Promise.all(
      Array.from({ length: 3 }, () => EventReader.open(`${other.address}/v1/inventory/events`, other.key)),
    )
    for (const reader of open) await reader.until(() => reader.events.length === 1)
    await other.stop()
    for (const reader of open) {
      await reader.until(() => reader.ended !== undefined)
      expect(reader.ended).toBe('closed')
    }
  })

  test('survives a failing database, and then sends the missed events', async () => {
    let isFailing = false
    let failedReads = 0
    let readsUnderWay = 0
    const other = await TestService.start({
      wrapStore: (store) => ({
        ...store,
        eventsAfter: async (...request) => {
          if (isFailing) {
            failedReads++
            throw new Error('the database is away')
          }
          readsUnderWay++
          try {
            return await store.eventsAfter(...request)
          } finally {
            readsUnderWay--
          }
        },
      }),
    })
    const reader = await EventReader.open(`${other.address}/v1/inventory/events`, other.key)
    await reader.until(() => reader.events.length === 1)
    isFailing = true
    await until(() => readsUnderWay === 0)
    await other.setQuantity(1n, '{"quantity": 77}')
    await until(() => failedReads > 2)
    expect(reader.events).toHaveLength(1)
    isFailing = false
    await reader.until(() => afterOf(reader).includes(77))
    const failures = (await other.logged()).filter(({ source }) => source === 'event-hub')
    expect(failures).toHaveLength(1)
    reader.close()
    await other.stop()
  })
})
