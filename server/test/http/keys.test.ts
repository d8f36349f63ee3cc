import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Answer, TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

interface WireKey {
  readonly id: string
  readonly secrets: readonly { readonly hint: string; readonly expiresAt?: string }[]
  readonly paused: boolean
  readonly expiresAt?: string
  readonly lastUsedAt?: string
  readonly usedToday: number
}

interface WireAuditEntry {
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly detail: string
}

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const send = (method: string, path: string, body?: object, key = service.key) =>
  service.send(method, path, body, { key })
const keyIn = (answer: Answer) => answer.json as WireKey
const issuedIn = (answer: Answer) => {
  const { key, secret } = answer.json as { readonly key: WireKey; readonly secret: string }
  return { ...key, secret }
}
const create = async (body: object, key?: string) =>
  issuedIn(await send('POST', '/keys', { name: 'Anna', plan: 'pro', ...body }, key))
const read = (key: string) => service.call('GET', '/inventory', { key })
const refusal = ({ status, error }: Answer) => [status, error.code]

describe('a key', () => {
  test('works at once when it is created, with the default permissions, and its secret is shown once', async () => {
    const answer = await send('POST', '/keys', { name: 'Anna', plan: 'pro' })
    const { secret, ...key } = issuedIn(answer)
    expect(answer.status).toBe(201)
    expect(answer.headers.get('Location')).toBe(`/v1/keys/${key.id}`)
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    expect(key as object).toMatchObject({
      name: 'Anna',
      plan: 'pro',
      permissions: ['stock', 'orders', 'pets'],
      limits: { perMinute: 300, perDay: 10_000 },
      paused: false,
    })
    expect((await read(secret)).status).toBe(200)
    const shown = await send('GET', `/keys/${key.id}`)
    expect(shown.text).not.toContain(secret)
    expect(keyIn(shown).secrets).toMatchObject([{ hint: expect.any(String) }])
    await until(async () => keyIn(await send('GET', `/keys/${key.id}`)).lastUsedAt !== undefined)
  })

  test('shows its requests of the current day window', async () => {
    const { id, secret } = await create({})
    const usedToday = async () => keyIn(await send('GET', `/keys/${id}`)).usedToday
    expect(await usedToday()).toBe(0)
    for (let request = 0; request < 3; request++) await read(secret)
    await until(async () => (await usedToday()) === 3)
    expect((await send('GET', '/keys?limit=1000')).text).toContain('"usedToday":3')
    service.now += 86_400_000
    expect(await usedToday()).toBe(0)
  })

  test.each([
    ['POST', { plan: 'enterprise', perMinute: 5 }, 'perDay'],
    ['POST', { plan: 'enterprise', perDay: 5 }, 'perMinute'],
    ['POST', { plan: 'pro', perDay: 5 }, 'perDay'],
    ['POST', { plan: 'pro', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['PATCH', { perMinute: 5 }, 'perMinute'],
    ['PATCH', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
  ])(
    'is neither created nor changed with limits of another plan or in the past: %s %j',
    async (method, body, field) => {
      const { id } = await service.createKey('free')
      const path = method === 'POST' ? '/keys' : `/keys/${id}`
      const { error } = await send(method, path, method === 'POST' ? { name: 'Anna', ...body } : body)
      expect([error.status, error.field]).toEqual([400, field])
    },
  )

  test('is 401 at once while it is paused, also after a restart', async () => {
    const { id, secret } = await create({})
    expect((await read(secret)).status).toBe(200)
    expect(keyIn(await send('PATCH', `/keys/${id}`, { paused: true })).paused).toBe(true)
    expect((await read(secret)).error).toMatchObject({
      status: 401,
      message: expect.stringContaining('the API key is paused'),
    })
    await service.restart()
    expect((await read(secret)).status).toBe(401)
    expect(keyIn(await send('PATCH', `/keys/${id}`, { paused: false })).paused).toBe(false)
    expect((await read(secret)).status).toBe(200)
  })

  test('has its changes at once, and null clears the expiry', async () => {
    const { id, secret } = await create({ permissions: [] })
    const update = () => service.setQuantity(1n, '{"quantity": 9}', { key: secret })
    expect((await update()).status).toBe(403)
    await send('PATCH', `/keys/${id}`, { permissions: ['stock'], name: 'Bert', plan: 'free' })
    expect((await update()).headers.get('X-RateLimit-Limit')).toBe('60')
    const expiresAt = new Date(service.now + 60_000).toISOString()
    const changed = await send('PATCH', `/keys/${id}`, { expiresAt })
    expect(changed.json).toMatchObject({ name: 'Bert', expiresAt })
    service.now += 60_000
    expect((await read(secret)).error.message).toContain('expired')
    expect(keyIn(await send('PATCH', `/keys/${id}`, { expiresAt: null })).expiresAt).toBeUndefined()
    expect((await read(secret)).status).toBe(200)
  })

  test('that is rotated works with both secrets during the grace period', async () => {
    const first = await create({})
    service.now += 1_000
    const second = issuedIn(await send('POST', `/keys/${first.id}/rotate`, { graceSeconds: 60 }))
    expect(second.secrets.map(({ expiresAt }) => expiresAt === undefined)).toEqual([true, false])
    for (const { secret } of [first, second]) expect((await read(secret)).status).toBe(200)
    service.now += 60_000
    expect((await read(first.secret)).status).toBe(401)
    const third = issuedIn(await send('POST', `/keys/${first.id}/rotate`, { graceSeconds: 0 }))
    expect((await read(second.secret)).status).toBe(401)
    expect((await read(third.secret)).status).toBe(200)
  })

  test('that is revoked is 401 at once and stays revoked, and the history and the list of names keep its name', async () => {
    const { id, secret } = await create({ name: 'Greta' })
    expect((await send('PATCH', '/inventory/1', { quantity: 41 }, secret)).status).toBe(200)
    expect((await send('DELETE', `/keys/${id}`)).status).toBe(204)
    expect((await read(secret)).error.message).toContain('revoked')
    for (const [method, path, body] of [
      ['PATCH', '', { paused: false }],
      ['DELETE', '', undefined],
      ['POST', '/rotate', {}],
      ['POST', '/pairing-code', undefined],
    ] as const) {
      expect(refusal(await send(method, `/keys/${id}${path}`, body))).toEqual([404, 'not_found'])
    }
    const history = (await service.call('GET', '/inventory/history?limit=1')).json
    expect(history).toMatchObject([{ keyId: id, keyName: 'Greta' }])
    const { secret: reader } = await create({ permissions: [] })
    const names = await send('GET', '/keys/names?limit=1000', undefined, reader)
    expect(names.json).toContainEqual({ id, name: 'Greta' })
    const keys = (await send('GET', '/keys?limit=1000')).json as { id: string; revokedAt?: string }[]
    expect(keys.find((one) => one.id === id)?.revokedAt).toBeDefined()
  })

  test('has the key that made each change in its audit log, newest entry first', async () => {
    const owner = await service.createKey('enterprise', { name: 'Olga' })
    const { id } = await create({ name: 'Anna' }, owner.secret)
    const change = (method: string, path: string, body?: object) =>
      send(method, `/keys/${id}${path}`, body, owner.secret)
    await change('PATCH', '', { name: 'Bert' })
    await change('PATCH', '', { name: 'Bert' })
    await change('POST', '/pairing-code')
    await change('PATCH', '', { paused: true })
    await change('POST', '/rotate', {})
    await change('DELETE', '')
    const entries = (await send('GET', `/keys/${id}/audit`)).json as WireAuditEntry[]
    expect(entries.map(({ action }) => action)).toEqual([
      ...['revoke', 'rotate', 'change', 'create pairing code', 'change', 'create'],
    ])
    expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set([`Olga (${owner.id})`]))
    expect(entries[2]?.detail).toBe('paused: no → yes')
    expect(entries[4]?.detail).toBe('name: "Anna" → "Bert"')
    expect(entries[4]?.at).toBe(new Date(service.now).toISOString())
  })
})

test('a key may not grant more than it has, and the last key that manages keys stays', async () => {
  const manager = await service.createKey('pro', { permissions: ['stock', 'orders', 'keys'] })
  const before = await service.store.listKeys()
  const beyond = { name: 'Anna', plan: 'free', permissions: ['webhooks'] }
  expect(refusal(await send('POST', '/keys', beyond, manager.secret))).toEqual([403, 'forbidden'])
  // The default permissions have one that the manager lacks.
  expect((await send('POST', '/keys', { name: 'Anna', plan: 'free' }, manager.secret)).status).toBe(403)
  expect(await service.store.listKeys()).toHaveLength(before.length)
  const own = await TestService.start()
  const [record] = await own.store.listKeys()
  const other = await own.createKey('enterprise')
  // Each could leave the management to the other key, but not both at once.
  const answers = await Promise.all([
    own.call('DELETE', `/keys/${record?.key.id}`),
    own.call('DELETE', `/keys/${other.id}`, { key: other.secret }),
  ])
  expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409])
})
