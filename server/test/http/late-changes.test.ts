import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ApiKey, createSecret, toStoredSecret } from '../../src/core/keys/api-key.ts'
import { operatorOf } from '../support/operator.ts'
import { RawConnection } from '../support/raw-connection.ts'
import { TestService } from '../support/test-service.ts'

/** After this time a key is looked up again. */
const TRUSTED_FOR_MS = 250
const LIFE_MS = 5_000

let service: TestService
let lookup: () => Promise<string[]>
beforeAll(async () => {
  service = await TestService.start({ lookup: () => lookup() })
})
afterAll(() => service.stop())

const act = () => ({ at: service.now, actor: 'test' })

/** What another process does to the key while a request with it waits, and the reply that the request then gets. */
const CHANGES: readonly (readonly [
  what: string,
  status: number,
  change: (id: string) => Promise<unknown>,
])[] = [
  ['is revoked', 401, (id) => operatorOf(service.store).revokeKey(id, act())],
  ['is paused', 401, (id) => operatorOf(service.store).changeKey(id, { paused: true }, act())],
  ['expires', 401, async () => (service.now += LIFE_MS)],
  [
    'gets another secret',
    401,
    (id) =>
      operatorOf(service.store).rotateKey(
        id,
        toStoredSecret(createSecret('production'), service.now),
        0,
        act(),
      ),
  ],
  ['loses the permission', 403, (id) => operatorOf(service.store).changeKey(id, { permissions: [] }, act())],
]

const temporaryKey = (overrides: Partial<ApiKey> = {}) =>
  service.createKey('enterprise', { expiresAt: service.now + LIFE_MS, ...overrides })

async function sendHead(method: string, path: string, key: string, body: string): Promise<RawConnection> {
  const connection = await RawConnection.open(service.address)
  await connection.sendHead(method, `/v1${path}`, key, body.length)
  return connection
}

describe('a request is refused if, while its body arrives, its key', () => {
  test.each(CHANGES)('%s', async (_, status, change) => {
    const { id, secret } = await temporaryKey()
    const other = await service.createKey('free', { permissions: [], expiresAt: service.now + LIFE_MS })
    const before = await service.contents()
    const update = { path: '/inventory/1', body: '{"quantity": 4321}' }
    const rename = { path: `/keys/${other.id}`, body: '{"name": "Renamed"}' }
    const requests = [update, rename].map(({ path, body }) => sendHead('PATCH', path, secret, body))
    const connections = await Promise.all(requests)
    await change(id)
    service.now += TRUSTED_FOR_MS
    for (const [index, { body }] of [update, rename].entries()) connections[index]?.send(body)
    for (const connection of connections) {
      const answer = await connection.answer()
      expect(answer?.status).toBe(status)
      if (status === 401) expect(answer?.head).toContain('WWW-Authenticate: Bearer')
      connection.end()
    }
    expect(await service.contents()).toEqual(before)
    expect((await service.store.findKeyRecord(other.id))?.key.name).toBe('free key')
  })
})

test('a late body is accepted if its key stays the same', async () => {
  const { secret } = await temporaryKey()
  const body = '{"quantity": 4321}'
  const connection = await sendHead('PATCH', '/inventory/1', secret, body)
  service.now += TRUSTED_FOR_MS
  connection.send(body)
  expect((await connection.answer())?.status).toBe(200)
  connection.end()
})

describe('a webhook is refused if, while its address is looked up, the key', () => {
  test.each(CHANGES)('%s', async (_, status, change) => {
    const { id, secret } = await temporaryKey()
    const asked = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<string[]>()
    lookup = () => {
      asked.resolve()
      return answered.promise
    }
    const webhook = { url: 'https://shop.example/hook', kinds: ['stock.changed'] }
    const creation = service.send('POST', '/webhooks', webhook, { key: secret })
    await asked.promise
    await change(id)
    service.now += TRUSTED_FOR_MS
    answered.resolve(['8.8.8.8'])
    expect((await creation).status).toBe(status)
    expect(await service.store.listWebhooks()).toEqual([])
  })
})
