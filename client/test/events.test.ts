import { expect, test } from 'bun:test'
import { addPets } from '../../server/test/support/add-pets.ts'
import { TestService } from '../../server/test/support/test-service.ts'
import { type InventoryEvent, isPetstoreError } from '../src/index.ts'
import { CuttingProxy } from './support/cutting-proxy.ts'
import { clientAt, clientOf, startClient } from './support/live-service.ts'

/** A clock that runs a hundred times as fast. */
const hurried = {
  clock: () => performance.now() * 100,
  sleep: (ms: number) => Bun.sleep(ms / 100),
  totalTimeout: Number.POSITIVE_INFINITY,
}

/** The events of a stream up to the first for which `isLast` is true. */
async function takeUntil(
  stream: AsyncIterable<InventoryEvent>,
  isLast: (event: InventoryEvent) => boolean,
): Promise<InventoryEvent[]> {
  const events: InventoryEvent[] = []
  for await (const event of stream) {
    events.push(event)
    if (isLast(event)) break
  }
  return events
}

test('a reader that is cut again and again during 1,000 changes receives each exactly once, in order for each pet', async () => {
  const pets = Array.from({ length: 20 }, (_, index) => ({
    id: 9007199254740993n + BigInt(index),
    name: 'Pet',
    categoryId: 1n,
    status: 'available' as const,
    quantity: 0,
  }))
  const service = await TestService.start({ pets, realTime: true })
  const proxy = await CuttingProxy.start(service, 300, 4_000)
  const reader = clientOf(service, { baseUrl: `${proxy.address}/v1`, ...hurried })
  const writer = clientOf(service)

  const sentinel = { petId: pets[0]?.id ?? 0n, quantity: 1_000_000 }
  let begin = () => {}
  const ready = new Promise<void>((resolve) => {
    begin = resolve
  })
  const reading = takeUntil(reader.inventory.events(), (event) => {
    if (event.type === 'ready') begin()
    return event.type === 'change' && event.after === sentinel.quantity
  })
  await ready
  await Promise.all(
    pets.map(async ({ id }) => {
      for (let quantity = 1; quantity <= 50; quantity++) await writer.inventory.set(id, { quantity })
    }),
  )
  await writer.inventory.set(sentinel.petId, { quantity: sentinel.quantity })

  const events = await reading
  const changes = events.flatMap((event) => (event.type === 'change' ? [event] : [])).slice(0, -1)
  expect(events).toHaveLength(1_002)
  for (const { id } of pets) {
    const seen = changes.filter(({ petId }) => petId === id).map(({ before, after }) => [before, after])
    expect(seen).toEqual(Array.from({ length: 50 }, (_, index) => [index, index + 1]))
  }
  expect(proxy.cuts).toBeGreaterThan(5)
  proxy.stop()
}, 120_000)

test('a stream resumes after the event whose id it is given', async () => {
  const { client } = await startClient()
  const [ready] = await takeUntil(client.inventory.events(), () => true)
  await client.inventory.set(1n, { quantity: 5 })
  await client.inventory.set(9223372036854775807n, { quantity: 6 })
  const resumed = client.inventory.events({ lastEventId: ready?.id ?? '' })
  const [first, second] = await takeUntil(resumed, (event) => event.type === 'change' && event.petId !== 1n)
  expect(first).toMatchObject({ type: 'change', petId: 1n, before: 4, after: 5, status: 'available' })
  expect(second).toMatchObject({ type: 'change', petId: 9223372036854775807n, before: 8, after: 6 })
  const again = client.inventory.events({ lastEventId: first?.id ?? '' })
  expect(await takeUntil(again, () => true)).toEqual([second as InventoryEvent])
})

test('a stream survives a restart of the service, and reports entries that come and go', async () => {
  const service = await TestService.start({ realTime: true })
  const proxy = await CuttingProxy.start(service, 1_000_000, 1_000_000)
  const events: InventoryEvent[] = []
  const done = (async () => {
    const client = clientOf(service, { baseUrl: `${proxy.address}/v1`, ...hurried })
    for await (const event of client.inventory.events()) {
      events.push(event)
      if (event.type === 'removed') return
    }
  })()
  while (events.length === 0) await Bun.sleep(5)
  await addPets(service.store, [{ id: 77n, name: 'New', categoryId: 1n, status: 'pending', quantity: 2 }])
  while (events.length === 1) await Bun.sleep(5)
  await service.restart()
  await service.store.changeStock([{ type: 'remove_pet', petId: 77n, keyId: 'petstore', at: 0 }])
  await done
  proxy.stop()
  expect(events.slice(1)).toMatchObject([
    {
      type: 'pet',
      change: 'created',
      petId: 77n,
      name: expect.any(String),
      categoryId: expect.any(BigInt),
      quantity: 2,
      status: 'pending',
      at: expect.any(String),
      keyId: 'petstore',
    },
    { type: 'removed', petId: 77n },
  ])
})

test('an aborted signal ends an open stream with its reason', async () => {
  const service = await TestService.start()
  const stop = new AbortController()
  const stream = clientOf(service).inventory.events({ signal: stop.signal })
  const reading = takeUntil(stream, () => {
    setTimeout(() => stop.abort(new Error('enough')), 10)
    return false
  })
  await expect(reading).rejects.toThrow('enough')
})

test('a wrong key, or an address without a service, fails instead of retrying for ever', async () => {
  const service = await TestService.start()
  const stranger = clientOf(service, { apiKey: 'pst_live_nonsense' })
  await expect(takeUntil(stranger.inventory.events(), () => true)).rejects.toMatchObject({
    code: 'unauthorized',
  })
  const nowhere = clientAt('http://127.0.0.1:1/v1', hurried)
  await expect(takeUntil(nowhere.inventory.events(), () => true)).rejects.toMatchObject({
    code: 'connection_failed',
  })
})

/** A server that sends one script per connection, for cases that are rare with the real service. */
function scripted(scripts: readonly string[]) {
  const lastIds: (string | null)[] = []
  const server = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: ({ headers }) => {
      const script = scripts[lastIds.push(headers.get('Last-Event-ID')) - 1]
      if (script === undefined) {
        const error = { code: 'unauthorized', message: 'the API key is revoked', status: 401 }
        return Response.json(error, { status: 401 })
      }
      const isOpen = script.endsWith('…')
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode(script.replace('…', '')))
          if (!isOpen) controller.close()
        },
      })
      return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
    },
  })
  const baseUrl = `http://127.0.0.1:${server.port}/v1`
  return { lastIds, server, client: clientAt(baseUrl, hurried) }
}

test('relist is passed on, unknown and incomplete events are not; an idle connection is replaced; a 401 ends the stream', async () => {
  const by = { at: '2026-11-15T12:00:00.000Z', keyId: 'key_a' }
  const BY = JSON.stringify(by).slice(1, -1)
  const { client, lastIds, server } = scripted([
    'retry: 50\n\nevent: ready\nid: a\ndata: {}\n\n',
    ': heartbeat\n\nevent: relist\nid: b\ndata: {}\n\nevent: later\nid: c\ndata: {"x":1}\n\n…',
    `event: removed\nid: d\ndata: {"petId":9223372036854775807,${BY}}\n\nevent: removed\nid: e\ndata: {"petId":2,${BY}}\n`,
    `event: removed\nid: e\ndata: {"petId":2,${BY}}\n\n`,
  ])
  const events: InventoryEvent[] = []
  const connections: string[] = []
  const onConnection = (state: string) => connections.push(state)
  let failure: unknown
  try {
    for await (const event of client.inventory.events({ idleTimeout: 2_000, onConnection }))
      events.push(event)
  } catch (error) {
    failure = error
  }
  expect(isPetstoreError(failure, 'unauthorized')).toBe(true)
  expect(events).toEqual([
    { type: 'ready', id: 'a' },
    { type: 'relist', id: 'b' },
    { type: 'removed', id: 'd', petId: 9223372036854775807n, ...by },
    { type: 'removed', id: 'e', petId: 2n, ...by },
  ])
  expect(lastIds).toEqual([null, 'a', 'c', 'd', 'e'])
  expect(connections).toEqual(Array.from({ length: 4 }, () => ['connected', 'lost']).flat())
  await server.stop(true)
})

test('a filtered stream has only events of the given kinds and pet', async () => {
  const { client } = await startClient({}, { realTime: true })
  let begin = () => {}
  const ready = new Promise<void>((resolve) => {
    begin = resolve
  })
  const stream = client.inventory.events({ kinds: ['change', 'order'], petId: 1 })
  const reading = takeUntil(stream, (event) => {
    if (event.type === 'ready') begin()
    return event.type === 'change' && event.after === 70
  })
  await ready
  await client.inventory.set(2, { quantity: 60 })
  await client.pets.update(1, { name: 'Renamed' })
  await client.inventory.set(1, { quantity: 50 })
  await client.orders.create({ petId: 1, quantity: 1 })
  await client.inventory.set(1, { quantity: 70 })
  expect((await reading).map(({ type }) => type)).toEqual(['ready', 'change', 'order', 'change'])
})
