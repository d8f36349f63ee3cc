import { expect, test } from 'bun:test'
import { ServiceError } from '../../server/src/core/values/errors.ts'
import { TestService } from '../../server/test/support/test-service.ts'
import { historyOf } from '../../server/test/support/whole-store.ts'
import { failureOf } from './support/failure-of.ts'
import { type Fault, FaultyFetch } from './support/faulty-fetch.ts'
import { clientOf, type TestOptions } from './support/live-service.ts'
import { recordedSleeps } from './support/recorded-sleeps.ts'

/** A client over a network with these faults, whose sleeps take no time, and the keys that it sent. */
function observed(service: TestService, faults: readonly Fault[], options: TestOptions = {}) {
  const faulty = new FaultyFetch(faults)
  const keys: (string | null)[] = []
  const fetch = (url: string, init: RequestInit) => {
    keys.push(new Headers(init.headers).get('Idempotency-Key'))
    return faulty.fetch(url, init)
  }
  return { client: clientOf(service, { fetch, ...recordedSleeps().options, ...options }), keys }
}

const DELIVERY = { petId: 1n, quantity: 3 } as const

test('every change has its own key, and no read has one', async () => {
  const service = await TestService.start()
  const { client, keys } = observed(service, [])
  await client.inventory.receive(DELIVERY)
  await client.inventory.receive(DELIVERY)
  await client.inventory.set(1n, { quantity: 5 })
  await client.inventory.set(1n, { quantity: 5 })
  const { id } = await client.orders.create({ petId: 1n, quantity: 1 })
  await client.orders.complete(id)
  await client.orders.cancel((await client.orders.create({ petId: 1n, quantity: 1 })).id)
  await client.pets.create({ name: 'Rex', categoryId: 1n })
  await client.inventory.get(1n)
  await client.inventory.list()
  expect(keys.slice(9)).toEqual([null, null])
  expect(new Set(keys.slice(0, 9)).size).toBe(9)
  for (const key of keys.slice(0, 9)) expect(key).toMatch(/^[0-9a-f]{32}$/)
})

test.each([['before'], ['after'], ['midway']] as const)(
  'a change whose connection breaks %s is sent again with the same key and made once',
  async (fault) => {
    const service = await TestService.start()
    const { client, keys } = observed(service, [fault, fault, 'none', fault])
    expect(await client.inventory.receive(DELIVERY)).toMatchObject({ items: [{ quantity: 7 }] })
    expect(await client.inventory.set(1n, { quantity: 9 })).toMatchObject({ quantity: 9 })
    const [first, , , fourth] = keys
    expect(keys).toEqual([first, first, first, fourth, fourth] as typeof keys)
    expect(await historyOf(service.store, 1n)).toHaveLength(2)
  },
)

test('a change that got a 503 although it was made is sent again with the same key', async () => {
  let failures = 1
  const service = await TestService.start({
    wrapStore: (store) => ({
      ...store,
      changeStock: async (requests) => {
        const outcomes = await store.changeStock(requests)
        if (failures-- > 0) throw new ServiceError('service_unavailable', 'the connection was lost')
        return outcomes
      },
    }),
  })
  const statuses: number[] = []
  const { client, keys } = observed(service, [], { onResponse: ({ status }) => statuses.push(status) })
  expect(await client.inventory.receive(DELIVERY)).toMatchObject({ items: [{ quantity: 7 }] })
  expect(statuses).toEqual([503, 200])
  expect(new Set(keys).size).toBe(1)
  expect(await historyOf(service.store, 1n)).toHaveLength(1)
})

test('if every attempt fails, the error has the key that another program can repeat the change with', async () => {
  const service = await TestService.start()
  const { client, keys } = observed(service, ['after', 'before', 'before'], { retries: 2 })
  const error = await failureOf(client.inventory.receive(DELIVERY))
  const [idempotencyKey] = keys
  expect(error).toMatchObject({ code: 'connection_failed', mayHaveBeenMade: true, idempotencyKey })
  expect([error.attempts, error.message]).toEqual([3, expect.stringMatching(/ \(3 attempts in 0\.5 s\)$/)])
  const another = clientOf(service)
  const again = { idempotencyKey: error.idempotencyKey }
  // The order of the fields does not matter.
  expect(await another.inventory.receive({ quantity: 3, petId: 1n }, again)).toMatchObject({
    items: [{ quantity: 7 }],
  })
  expect(await historyOf(service.store, 1n)).toHaveLength(1)
})

test('after a refusal that is not about the change, an earlier attempt may still have made it', async () => {
  const service = await TestService.start()
  const { secret } = await service.createKey('enterprise', { limits: { perMinute: 2, perDay: 9 } })
  const options = { apiKey: secret, totalTimeout: 1_000 }
  const { client, keys } = observed(service, ['none', 'after'], options)
  await client.inventory.list()
  const error = await failureOf(client.inventory.receive(DELIVERY))
  expect(error).toMatchObject({ code: 'rate_limit_exceeded', mayHaveBeenMade: true, idempotencyKey: keys[1] })
  const unsent = await failureOf(client.inventory.receive(DELIVERY))
  expect(unsent).toMatchObject({ code: 'rate_limit_exceeded', mayHaveBeenMade: false })
  expect(unsent.message).toContain('not sent: the service accepts the next request in')
})

test('a change is never sent again when the service may have forgotten its key', async () => {
  const service = await TestService.start()
  const answers = [() => Promise.reject(new TypeError('the connection was reset')), tomorrow]
  let sent = 0
  const fetch = () => (answers[sent++] ?? tomorrow)()
  const endless = { fetch, totalTimeout: Number.POSITIVE_INFINITY, ...recordedSleeps().options }
  const error = await failureOf(clientOf(service, endless).inventory.receive(DELIVERY))
  expect(error).toMatchObject({ code: 'rate_limit_exceeded', mayHaveBeenMade: true })
  expect(sent).toBe(2)
  // A read is safe to repeat, so the client waits.
  const read = await failureOf(clientOf(service, endless).inventory.list())
  expect([read.code, sent]).toEqual(['rate_limit_exceeded', 8])
})

async function tomorrow(): Promise<Response> {
  return new Response('', { status: 429, headers: { 'Retry-After': '86400' } })
}

test('after a refusal that the service recorded, no attempt made the change', async () => {
  const service = await TestService.start()
  const { client, keys } = observed(service, ['before', 'after'])
  const refused = await failureOf(client.inventory.sell({ petId: 1n, quantity: 5 }))
  expect(refused).toMatchObject({
    code: 'insufficient_stock',
    mayHaveBeenMade: false,
    idempotencyKey: keys[0],
  })
  expect(keys).toHaveLength(3)
})

test('a response that is not the JSON of the service may follow a change that was made', async () => {
  const service = await TestService.start()
  const fetch = async () => new Response('<html>')
  const error = await failureOf(clientOf(service, { fetch }).inventory.receive(DELIVERY))
  expect(error).toMatchObject({ code: 'invalid_response', mayHaveBeenMade: true })
  expect(error.idempotencyKey).toBeString()
  const read = await failureOf(clientOf(service, { fetch }).inventory.get(1n))
  expect(read).toMatchObject({ mayHaveBeenMade: false, idempotencyKey: undefined })
})

test('with a key of the caller, the same change is made once and another change is refused', async () => {
  const service = await TestService.start()
  const idempotencyKey = 'delivery PO-1043'.replace(' ', ':')
  const own = { idempotencyKey }
  const first = await clientOf(service).inventory.receive(DELIVERY, own)
  await service.setQuantity(1n, '{"quantity": 50}')
  expect(await clientOf(service).inventory.receive(DELIVERY, own)).toEqual(first)
  const other = await failureOf(clientOf(service).inventory.receive({ petId: 1n, quantity: 4 }, own))
  expect(other).toMatchObject({ code: 'idempotency_key_reused', status: 422, mayHaveBeenMade: false })
  expect(await clientOf(service).inventory.get(1n)).toMatchObject({ quantity: 50 })
})

test('a key that a header cannot contain is refused before anything is sent', async () => {
  const service = await TestService.start()
  const { client, keys } = observed(service, [])
  for (const idempotencyKey of ['', 'a b', 'ключ', 'a\nb', 'x'.repeat(256)]) {
    const message = 'idempotencyKey must be 1 to 255 visible ASCII characters'
    await expect(client.inventory.receive(DELIVERY, { idempotencyKey })).rejects.toThrow(message)
    await expect(client.inventory.set(1n, { quantity: 1 }, { idempotencyKey })).rejects.toThrow(message)
  }
  expect(keys).toEqual([])
})
