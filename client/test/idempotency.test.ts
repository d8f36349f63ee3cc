import { expect, test } from 'bun:test'
import { ServiceError } from '../../server/src/core/values/errors.ts'
import type { TestService } from '../../server/test/support/test-service.ts'
import { historyOf } from '../../server/test/support/whole-store.ts'
import type { PetstoreClientOptions } from '../src/index.ts'
import { failureOf } from './support/failure-of.ts'
import { type Fault, FaultyFetch } from './support/faulty-fetch.ts'
import { clientOf, liveService, stopServicesAfterEach } from './support/live-service.ts'
import { recordedSleeps } from './support/recorded-sleeps.ts'

stopServicesAfterEach()

/** A client over a network with these faults, whose pauses take no time, and the keys that it sent. */
function observed(
  service: TestService,
  faults: readonly Fault[],
  options: Partial<PetstoreClientOptions> = {},
) {
  const faulty = new FaultyFetch(faults)
  const keys: (string | null)[] = []
  const fetch: PetstoreClientOptions['fetch'] = (url, init) => {
    keys.push(new Headers(init.headers).get('Idempotency-Key'))
    return faulty.fetch(url, init)
  }
  return { client: clientOf(service, { fetch, ...recordedSleeps().options, ...options }), keys }
}

const CHANGE = { petId: 1n, delta: 3 } as const
const RECEIVED = { reason: 'received' } as const

test('every change has a key of its own, and no read has one', async () => {
  const service = await liveService()
  const { client, keys } = observed(service, [])
  await client.adjustInventory(CHANGE, RECEIVED)
  await client.adjustInventory(CHANGE, RECEIVED)
  await client.updateInventory(1n, { quantity: 5 })
  await client.updateInventory(1n, { quantity: 5 })
  await client.getInventoryItem(1n)
  await client.listInventory()
  expect(keys.slice(4)).toEqual([null, null])
  expect(new Set(keys.slice(0, 4)).size).toBe(4)
  for (const key of keys.slice(0, 4)) expect(key).toMatch(/^[0-9a-f]{32}$/)
})

test.each([['before'], ['after'], ['midway']] as const)(
  'a change whose connection breaks %s is sent again with the same key and made once',
  async (fault) => {
    const service = await liveService()
    const { client, keys } = observed(service, [fault, fault, 'none', fault])
    expect(await client.adjustInventory(CHANGE, RECEIVED)).toMatchObject({ quantity: 7 })
    expect(await client.updateInventory(1n, { quantity: 9 })).toMatchObject({ quantity: 9 })
    const [first, , , fourth] = keys
    expect(keys).toEqual([first, first, first, fourth, fourth] as typeof keys)
    expect(await historyOf(service.store, 1n)).toHaveLength(2)
  },
)

test('so is one that got a 503 though it was made', async () => {
  let failures = 1
  const service = await liveService({
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
  expect(await client.adjustInventory(CHANGE, RECEIVED)).toMatchObject({ quantity: 7 })
  expect(statuses).toEqual([503, 200])
  expect(new Set(keys).size).toBe(1)
  expect(await historyOf(service.store, 1n)).toHaveLength(1)
})

test('when every attempt fails, the error has the key that tells, within 24 hours and from another program', async () => {
  const service = await liveService()
  const { client, keys } = observed(service, ['after', 'before', 'before'], { retry: { limit: 2 } })
  const error = await failureOf(client.adjustInventory(CHANGE, RECEIVED))
  const [idempotencyKey] = keys
  expect(error).toMatchObject({ code: 'connection_failed', mayHaveBeenMade: true, idempotencyKey })
  expect(error.message).toEndWith(
    `; this was attempt 3, 0.5 s after the first; the change may have been made: the same call with idempotencyKey "${idempotencyKey}" tells, and makes it once at most`,
  )
  const another = clientOf(service)
  const again = { reason: 'received', idempotencyKey: error.idempotencyKey } as const
  // Built in another order, it is still the same change.
  expect(await another.adjustInventory({ delta: 3, petId: 1n }, again)).toMatchObject({ quantity: 7 })
  expect(await historyOf(service.store, 1n)).toHaveLength(1)
})

test('and where it had never arrived, the same key makes it', async () => {
  const service = await liveService()
  const { client } = observed(service, ['before'], { retry: { limit: 0 } })
  const error = await failureOf(client.updateInventory(1n, { quantity: 9 }))
  expect(error).toMatchObject({ code: 'connection_failed', mayHaveBeenMade: true })
  const { idempotencyKey } = error
  expect(await client.updateInventory(1n, { quantity: 9 }, { idempotencyKey })).toMatchObject({ quantity: 9 })
  expect(await historyOf(service.store, 1n)).toHaveLength(1)
})

test('a refusal that is not about the change leaves open what came of an earlier attempt', async () => {
  const service = await liveService()
  const { secret } = await service.createKey('enterprise', { limits: { perMinute: 2, perDay: 9 } })
  const options = { apiKey: secret, retry: { deadlineMs: 1_000 } }
  const { client, keys } = observed(service, ['none', 'after'], options)
  await client.listInventory()
  const error = await failureOf(client.adjustInventory(CHANGE, RECEIVED))
  expect(error).toMatchObject({ code: 'rate_limit_exceeded', mayHaveBeenMade: true, idempotencyKey: keys[1] })
  expect(error.message).toContain('then it was not sent')
  expect(error.message).toContain('the change may have been made')
  const unsent = await failureOf(client.adjustInventory(CHANGE, RECEIVED))
  expect(unsent).toMatchObject({ code: 'rate_limit_exceeded', mayHaveBeenMade: false })
  expect(unsent.message).not.toContain('the change may have been made')
})

test('whatever its deadline, a change is not sent again when the service may have forgotten its key', async () => {
  const service = await liveService()
  const answers = [() => Promise.reject(new TypeError('the connection was reset')), tomorrow]
  let sent = 0
  const fetch = () => (answers[sent++] ?? tomorrow)()
  const endless = { fetch, retry: { deadlineMs: Number.POSITIVE_INFINITY }, ...recordedSleeps().options }
  const error = await failureOf(clientOf(service, endless).adjustInventory(CHANGE, RECEIVED))
  expect(error).toMatchObject({ code: 'rate_limit_exceeded', mayHaveBeenMade: true })
  expect(error.message).toContain("in 86400 s, past the call's deadline of 82800 s")
  expect(sent).toBe(2)
  // Where nothing can have been made, it waits.
  const read = await failureOf(clientOf(service, endless).listInventory())
  expect([read.code, sent]).toEqual(['rate_limit_exceeded', 8])
})

async function tomorrow(): Promise<Response> {
  return new Response('', { status: 429, headers: { 'Retry-After': '86400' } })
}

test('one that the commit decided does not: nothing was made, in no attempt', async () => {
  const service = await liveService()
  const { client, keys } = observed(service, ['before', 'after'])
  const refused = await failureOf(client.adjustInventory({ petId: 1n, delta: -5 }, { reason: 'sold' }))
  expect(refused).toMatchObject({
    code: 'insufficient_stock',
    mayHaveBeenMade: false,
    idempotencyKey: keys[0],
  })
  expect(keys).toHaveLength(3)
})

test('an answer that is no JSON of the service may be that of a change that was made', async () => {
  const service = await liveService()
  const fetch = async () => new Response('<html>')
  const error = await failureOf(clientOf(service, { fetch }).adjustInventory(CHANGE, RECEIVED))
  expect(error).toMatchObject({ code: 'invalid_response', mayHaveBeenMade: true })
  expect(error.idempotencyKey).toBeString()
  const short = async () => new Response('{"items":[]}')
  const tooFew = await failureOf(clientOf(service, { fetch: short }).adjustInventory(CHANGE, RECEIVED))
  expect(tooFew).toMatchObject({ code: 'invalid_response', mayHaveBeenMade: true })
  expect(tooFew.message).toContain('answered 200 with 0 entries for 1 changes')
  const read = await failureOf(clientOf(service, { fetch }).getInventoryItem(1n))
  expect(read).toMatchObject({ mayHaveBeenMade: false, idempotencyKey: undefined })
})

test('a key of the caller’s own: the same change is made once, another one is refused', async () => {
  const service = await liveService()
  const idempotencyKey = 'delivery PO-1043'.replace(' ', ':')
  const own = { ...RECEIVED, idempotencyKey }
  const first = await clientOf(service).adjustInventory(CHANGE, own)
  await service.setQuantity(1n, '{"quantity": 50}')
  expect(await clientOf(service).adjustInventory(CHANGE, own)).toEqual(first)
  const other = await failureOf(clientOf(service).adjustInventory({ petId: 1n, delta: 4 }, own))
  expect(other).toMatchObject({ code: 'idempotency_key_reused', status: 422, mayHaveBeenMade: false })
  expect(await clientOf(service).getInventoryItem(1n)).toMatchObject({ quantity: 50 })
})

test('a key that no header can carry is refused before anything is sent', async () => {
  const service = await liveService()
  const { client, keys } = observed(service, [])
  for (const idempotencyKey of ['', 'a b', 'ключ', 'a\nb', 'x'.repeat(256)]) {
    const what = 'idempotencyKey must be 1 to 255 visible ASCII characters'
    await expect(client.adjustInventory(CHANGE, { ...RECEIVED, idempotencyKey })).rejects.toThrow(what)
    await expect(client.updateInventory(1n, { quantity: 1 }, { idempotencyKey })).rejects.toThrow(what)
  }
  expect(keys).toEqual([])
})
