import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ApiKey, createKeyId, PERMISSIONS } from '../../src/core/keys/api-key.ts'
import { operatorOf } from '../support/operator.ts'
import { type Answer, TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

interface WireKey {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly permissions: readonly string[]
  readonly limits: { readonly perMinute: number; readonly perDay: number }
  readonly expiresAt?: string
  readonly revokedAt?: string
  readonly paused: boolean
  readonly lastUsedAt?: string
  readonly usedToday: number
  readonly secrets: readonly { readonly hint: string; readonly expiresAt?: string }[]
}

interface Issued {
  readonly key: WireKey
  readonly secret: string
}

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const send = (method: string, path: string, body?: object, key = service.key) =>
  service.call(method, path, {
    key,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { 'Content-Type': 'application/json' },
  })
const keyIn = (answer: Answer) => answer.json as WireKey
const issuedIn = (answer: Answer) => {
  const { key, secret } = answer.json as Issued
  return { ...key, secret }
}
const create = async (body: object, key?: string) =>
  issuedIn(await send('POST', '/keys', { name: 'Anna', plan: 'pro', ...body }, key))
const read = (key: string) => service.call('GET', '/inventory', { key })
const refusal = ({ status, error }: Answer) => [status, error.code]
interface WireAuditEntry {
  readonly id: number
  readonly at: string
  readonly actor: string
  readonly action: string
  readonly detail: string
}
/** The audit log of a key, newest entry first. */
const auditPage = async (keyId: string, query = '', key?: string) =>
  (await send('GET', `/keys/${keyId}/audit${query}`, undefined, key)).json as WireAuditEntry[]

/** A manager of keys that is weaker than the key of the service. */
const manager = (overrides: Partial<ApiKey> = {}) =>
  service.createKey('pro', { name: 'Manager', permissions: ['stock', 'orders', 'keys'], ...overrides })

describe('keys over HTTP', () => {
  test('a created key works at once, has the default permissions, and its secret is shown once', async () => {
    const answer = await send('POST', '/keys', { name: 'Anna', plan: 'pro' })
    const { secret, ...key } = issuedIn(answer)
    expect(answer.status).toBe(201)
    expect(answer.headers.get('Location')).toBe(`/v1/keys/${key.id}`)
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    expect(key).toMatchObject({
      name: 'Anna',
      plan: 'pro',
      permissions: ['stock', 'orders', 'pets'],
      limits: { perMinute: 300, perDay: 10_000 },
      paused: false,
    })
    expect((await read(secret)).status).toBe(200)
    const shown = await send('GET', `/keys/${key.id}`)
    expect(shown.text).not.toContain(secret)
    expect(keyIn(shown)).toMatchObject({ id: key.id, name: 'Anna', secrets: [{ hint: expect.any(String) }] })
    await until(async () => keyIn(await send('GET', `/keys/${key.id}`)).lastUsedAt !== undefined)
    expect((await send('GET', '/keys', undefined, secret)).status).toBe(403)
  })

  test('a key shows its requests of the current day window', async () => {
    const { id, secret } = await create({})
    const usedToday = async () => keyIn(await send('GET', `/keys/${id}`)).usedToday
    expect(await usedToday()).toBe(0)
    for (let request = 0; request < 3; request++) await read(secret)
    await until(async () => (await usedToday()) === 3)
    expect((await send('GET', '/keys?limit=1000')).text).toContain('"usedToday":3')
    service.now += 86_400_000
    expect(await usedToday()).toBe(0)
  })

  test('the history shows the name of a revoked key', async () => {
    const { id, secret } = await create({ name: 'Greta' })
    expect((await send('PATCH', '/inventory/1', { quantity: 41 }, secret)).status).toBe(200)
    await send('DELETE', `/keys/${id}`)
    const history = (await service.call('GET', '/inventory/history?limit=1')).json as object[]
    expect(history).toMatchObject([{ keyId: id, keyName: 'Greta' }])
  })

  test('an enterprise key needs both limits, and other plans accept none', async () => {
    const wrong = async (body: object) => {
      const { status, error } = await send('POST', '/keys', { name: 'Anna', ...body })
      return [status, error.field]
    }
    expect(await wrong({ plan: 'enterprise', perMinute: 5 })).toEqual([400, 'perDay'])
    expect(await wrong({ plan: 'enterprise', perDay: 5 })).toEqual([400, 'perMinute'])
    expect(await wrong({ plan: 'pro', perDay: 5 })).toEqual([400, 'perDay'])
    expect(await wrong({ plan: 'pro', expiresAt: '2020-01-01T00:00:00Z' })).toEqual([400, 'expiresAt'])
    expect(await wrong({ plan: 'pro', permissions: ['everything'] })).toEqual([400, 'permissions'])
    expect(await wrong({ plan: 'pro', permission: [] })).toEqual([400, 'permission'])
    const { limits, permissions } = await create({
      plan: 'enterprise',
      perMinute: 5,
      perDay: 50,
      permissions: [],
    })
    expect([limits, permissions]).toEqual([{ perMinute: 5, perDay: 50 }, []])
    const { id } = await create({})
    expect((await send('PATCH', `/keys/${id}`, { perMinute: 5 })).error.field).toBe('perMinute')
  })

  test('keys are listed in pages, oldest first, revoked keys as well', async () => {
    const ids: string[] = []
    for (const name of ['One', 'Two', 'Three']) ids.push((await create({ name })).id)
    await send('DELETE', `/keys/${ids[1]}`)
    const listed: WireKey[] = []
    let path = '/keys?limit=2'
    while (path !== '') {
      const page = await send('GET', path)
      const keys = page.json as WireKey[]
      expect(keys.length).toBeLessThanOrEqual(2)
      listed.push(...keys)
      path = /<\/v1(.*)>; rel="next"/.exec(page.headers.get('Link') ?? '')?.[1] ?? ''
    }
    const all = (await service.store.listKeys()).map(({ key }) => key.id)
    expect(listed.map(({ id }) => id)).toEqual(all)
    expect(listed.slice(-3).map(({ id }) => id)).toEqual(ids)
    expect(listed.find(({ id }) => id === ids[1])?.revokedAt).toBeDefined()
    for (const cursor of ['5', createKeyId()]) {
      expect((await send('GET', `/keys?cursor=${cursor}`)).error.field).toBe('cursor')
    }
  })

  test('names are listed in pages to every key, without anything else, also of revoked keys', async () => {
    const { id } = await create({ name: 'Former' })
    await send('DELETE', `/keys/${id}`)
    const { secret } = await create({ name: 'Reader', permissions: [] })
    const listed: unknown[] = []
    let path = '/keys/names?limit=2'
    while (path !== '') {
      const page = await send('GET', path, undefined, secret)
      expect(page.status).toBe(200)
      listed.push(...(page.json as unknown[]))
      path = /<\/v1(.*)>; rel="next"/.exec(page.headers.get('Link') ?? '')?.[1] ?? ''
    }
    const all = await service.store.listKeys()
    expect(listed).toEqual(all.map(({ key }) => ({ id: key.id, name: key.name })))
    expect(listed).toContainEqual({ id, name: 'Former' })
    expect((await send('GET', '/keys', undefined, secret)).status).toBe(403)
  })

  test('an unknown key is 404, and a malformed id is 400', async () => {
    for (const [method, path] of [
      ['GET', '/keys/key_unknown'],
      ['DELETE', '/keys/key_unknown'],
      ['POST', '/keys/key_unknown/pairing-code'],
    ] as const) {
      expect((await send(method, path)).status).toBe(404)
    }
    expect((await send('GET', '/keys/17')).error.field).toBe('keyId')
    expect((await send('GET', '/keys/key_%zz')).status).toBe(400)
    expect((await send('GET', '/keys/pair')).status).toBe(405)
  })

  test('a paused key is 401 at once, and works again when it is resumed', async () => {
    const { id, secret } = await create({})
    expect((await read(secret)).status).toBe(200)
    expect(keyIn(await send('PATCH', `/keys/${id}`, { paused: true })).paused).toBe(true)
    const paused = await read(secret)
    expect([paused.status, paused.error.message]).toEqual([
      401,
      expect.stringContaining('the API key is paused'),
    ])
    await service.restart()
    expect((await read(secret)).status).toBe(401)
    expect(keyIn(await send('PATCH', `/keys/${id}`, { paused: false })).paused).toBe(false)
    expect((await read(secret)).status).toBe(200)
  })

  test('changes take effect at once, and null clears the expiry', async () => {
    const { id, secret } = await create({ permissions: [] })
    const update = () => service.setQuantity(1n, '{"quantity": 9}', { key: secret })
    expect((await update()).status).toBe(403)
    await send('PATCH', `/keys/${id}`, { permissions: ['stock'], name: 'Bert', plan: 'free' })
    expect((await update()).headers.get('X-RateLimit-Limit')).toBe('60')
    const expiresAt = new Date(service.now + 60_000).toISOString()
    expect(keyIn(await send('PATCH', `/keys/${id}`, { expiresAt }))).toMatchObject({
      name: 'Bert',
      expiresAt,
    })
    service.now += 60_000
    expect((await read(secret)).error.message).toContain('expired')
    expect(keyIn(await send('PATCH', `/keys/${id}`, { expiresAt: null })).expiresAt).toBeUndefined()
    expect((await read(secret)).status).toBe(200)
  })

  test('a rotated key works with both secrets during the grace period', async () => {
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

  test('a revoked key is 401 at once, and stays revoked', async () => {
    const { id, secret } = await create({})
    expect((await read(secret)).status).toBe(200)
    expect((await send('DELETE', `/keys/${id}`)).status).toBe(204)
    expect((await read(secret)).error.message).toContain('revoked')
    expect(refusal(await send('PATCH', `/keys/${id}`, { paused: false }))).toEqual([404, 'not_found'])
    expect((await send('DELETE', `/keys/${id}`)).status).toBe(404)
    expect((await send('POST', `/keys/${id}/rotate`, {})).status).toBe(404)
    expect((await send('POST', `/keys/${id}/pairing-code`)).status).toBe(404)
  })

  test('the audit log names the key that made each change', async () => {
    const owner = await service.createKey('enterprise', { name: 'Olga' })
    const { id } = await create({ name: 'Anna' }, owner.secret)
    await send('PATCH', `/keys/${id}`, { name: 'Bert' }, owner.secret)
    await send('PATCH', `/keys/${id}`, { name: 'Bert' }, owner.secret)
    await send('POST', `/keys/${id}/pairing-code`, undefined, owner.secret)
    await send('PATCH', `/keys/${id}`, { paused: true }, owner.secret)
    await send('POST', `/keys/${id}/rotate`, {}, owner.secret)
    await send('DELETE', `/keys/${id}`, undefined, owner.secret)
    const entries = await auditPage(id)
    expect(entries.map(({ action }) => action)).toEqual([
      'revoke',
      'rotate',
      'change',
      'create pairing code',
      'change',
      'create',
    ])
    expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set([`Olga (${owner.id})`]))
    expect(entries[2]?.detail).toBe('paused: no → yes')
    expect(entries[4]?.detail).toBe('name: "Anna" → "Bert"')
    expect(entries[4]?.at).toBe(new Date(service.now).toISOString())
  })

  test('the audit log of a key comes in pages, newest entry first, without entries of other keys', async () => {
    const { id } = await create({ name: 'One' })
    for (const name of ['Two', 'Three', 'Four']) {
      await send('PATCH', `/keys/${id}`, { name })
      await create({ name })
    }
    const newest = await send('GET', `/keys/${id}/audit?limit=2`)
    const [, next = ''] = /^<\/v1(.*)>; rel="next"$/.exec(newest.headers.get('Link') ?? '') ?? []
    const oldest = await send('GET', next)
    const detailsIn = (answer: Answer) => (answer.json as WireAuditEntry[]).map(({ detail }) => detail)
    expect(detailsIn(newest)).toEqual(['name: "Three" → "Four"', 'name: "Two" → "Three"'])
    expect(detailsIn(oldest)).toEqual(['name: "One" → "Two"', expect.stringContaining('pro, 300 a minute')])
    expect(oldest.headers.get('Link')).toBeNull()
    expect(refusal(await send('GET', `/keys/${id}/audit?cursor=none`))).toEqual([400, 'invalid_request'])
    expect(refusal(await send('GET', '/keys/key_404/audit'))).toEqual([404, 'not_found'])
  })

  test('the audit log of any key, also its own, needs the permission keys', async () => {
    const { id, secret } = await create({ permissions: ['stock', 'orders', 'pets', 'webhooks'] })
    expect(refusal(await send('GET', `/keys/${id}/audit`, undefined, secret))).toEqual([403, 'forbidden'])
  })
})

describe('a key grants no more than it has', () => {
  const beyond: [string, object][] = [
    ['a permission that it lacks', { permissions: ['stock', 'webhooks'] }],
    ['a higher plan', { plan: 'enterprise', perMinute: 1, perDay: 1 }],
    ['more requests a minute', { plan: 'business' }],
  ]
  test.each(beyond)('it creates no key with %s', async (_, body) => {
    const { secret } = await manager()
    const before = await service.store.listKeys()
    const answer = await send(
      'POST',
      '/keys',
      { name: 'Anna', plan: 'free', permissions: [], ...body },
      secret,
    )
    expect(refusal(answer)).toEqual([403, 'forbidden'])
    expect(await service.store.listKeys()).toHaveLength(before.length)
  })

  test.each(beyond)('it gives neither itself nor another key %s', async (_, body) => {
    const { id, secret } = await manager()
    const other = await service.createKey('free', { permissions: [] })
    for (const target of [id, other.id]) {
      expect(refusal(await send('PATCH', `/keys/${target}`, body, secret))).toEqual([403, 'forbidden'])
    }
    expect((await service.store.findKeyRecord(id))?.key.permissions).toEqual(['stock', 'orders', 'keys'])
    expect((await service.store.findKeyRecord(other.id))?.key).toMatchObject({
      permissions: [],
      plan: 'free',
    })
  })

  test('the default permissions are refused as well if it lacks one of them', async () => {
    const { secret } = await manager()
    expect(refusal(await send('POST', '/keys', { name: 'Anna', plan: 'free' }, secret))).toEqual([
      403,
      'forbidden',
    ])
  })

  test('enterprise limits are compared one by one', async () => {
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 10, perDay: 100 } })
    const tried = async (body: object) =>
      (await send('POST', '/keys', { name: 'Anna', plan: 'enterprise', ...body }, secret)).status
    expect(await tried({ perMinute: 11, perDay: 100 })).toBe(403)
    expect(await tried({ perMinute: 10, perDay: 101 })).toBe(403)
    expect(await tried({ perMinute: 10, perDay: 100 })).toBe(201)
    expect(await tried({ plan: 'free' })).toBe(403)
  })

  test('access never outlives the key that grants it', async () => {
    const expiresAt = service.now + 60_000
    const { id, secret } = await manager({ expiresAt })
    const permissions = ['stock']
    const tried = async (time: number | null) => {
      const expiry = time === null ? {} : { expiresAt: new Date(time).toISOString() }
      return (await send('POST', '/keys', { name: 'Anna', plan: 'free', permissions, ...expiry }, secret))
        .status
    }
    expect(await tried(null)).toBe(403)
    expect(await tried(expiresAt + 1)).toBe(403)
    expect(await tried(expiresAt)).toBe(201)
    expect((await send('PATCH', `/keys/${id}`, { expiresAt: null }, secret)).status).toBe(403)
    const lasting = await service.createKey('free', { permissions: ['stock'] })
    expect((await send('POST', `/keys/${lasting.id}/pairing-code`, undefined, secret)).status).toBe(403)
  })

  test('it manages no key with a permission that it lacks', async () => {
    const { secret } = await manager()
    const stronger = await service.createKey('free', { permissions: ['stock', 'webhooks'] })
    const before = await service.store.findKeyRecord(stronger.id)
    for (const [method, path, body] of [
      ['PATCH', '', { name: 'Mine' }],
      ['PATCH', '', { paused: true }],
      ['PATCH', '', { permissions: [] }],
      ['DELETE', '', undefined],
      ['POST', '/rotate', {}],
      ['POST', '/pairing-code', undefined],
    ] as const) {
      const answer = await send(method, `/keys/${stronger.id}${path}`, body, secret)
      expect(refusal(answer)).toEqual([403, 'forbidden'])
      expect(answer.error.message).toContain('"webhooks"')
    }
    expect(await service.store.findKeyRecord(stronger.id)).toEqual(before)
    expect((await auditPage(stronger.id)).map(({ action }) => action)).toEqual(['create'])
  })

  test('it gets no secret of a key with higher limits, but may pause and revoke it', async () => {
    const { secret } = await manager()
    const larger = await service.createKey('business', { permissions: ['stock'] })
    expect((await send('POST', `/keys/${larger.id}/rotate`, {}, secret)).status).toBe(403)
    expect((await send('POST', `/keys/${larger.id}/pairing-code`, undefined, secret)).status).toBe(403)
    expect((await send('PATCH', `/keys/${larger.id}`, { paused: true }, secret)).status).toBe(200)
    expect((await send('DELETE', `/keys/${larger.id}`, undefined, secret)).status).toBe(204)
  })

  test('it changes a stronger key only to take away, and never resumes it', async () => {
    const { secret } = await manager({ permissions: PERMISSIONS, expiresAt: service.now + 6_000 })
    const stronger = await service.createKey('business', { permissions: ['stock'] })
    const changed = async (body: object) => (await send('PATCH', `/keys/${stronger.id}`, body, secret)).status
    expect(await changed({ permissions: PERMISSIONS })).toBe(403)
    expect(await changed({ permissions: ['stock', 'orders'], paused: true })).toBe(403)
    expect(await changed({ name: 'Mine' })).toBe(403)
    expect(await changed({ paused: true })).toBe(200)
    expect(await changed({ paused: false })).toBe(403)
    expect(await changed({ permissions: [], plan: 'pro' })).toBe(200)
    // The key does not expire.
    expect(await changed({ paused: false })).toBe(403)
    const expiresAt = new Date(service.now + 5_000).toISOString()
    expect(await changed({ paused: false, name: 'Mine', expiresAt })).toBe(200)
    expect(await changed({ permissions: PERMISSIONS })).toBe(200)
  })

  test('a manager that lost its permission a moment ago changes nothing', async () => {
    const { id } = await manager()
    const other = await service.createKey('free', { permissions: [] })
    const command = { type: 'revoke', keyId: other.id } as const
    const run = () => service.store.runKeyCommand({ type: 'key', id }, command, service.now)
    const stamp = { at: service.now, actor: 'test' }
    await operatorOf(service.store).changeKey(id, { permissions: ['stock'] }, stamp)
    await expect(run()).rejects.toThrow('it needs the permission "keys"')
    await operatorOf(service.store).changeKey(id, { permissions: ['keys'], paused: true }, stamp)
    await expect(run()).rejects.toThrow('this key is paused')
    expect((await service.store.findKeyRecord(other.id))?.key.revokedAt).toBeUndefined()
  })
})

describe('the last key that manages keys', () => {
  test('cannot be revoked, paused, limited in time or denied the permission, by itself or another, until another key has it', async () => {
    const own = await TestService.start()
    const call = (method: string, path: string, key: string, body?: object) =>
      own.call(method, path, {
        key,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: { 'Content-Type': 'application/json' },
      })
    const [record] = await own.store.listKeys()
    const id = record?.key.id ?? ''
    // None of these can manage keys forever.
    await own.createKey('enterprise', { pausedAt: own.now })
    const temporary = await own.createKey('enterprise', { expiresAt: own.now + 60_000 })
    await own.createKey('enterprise', { permissions: ['stock', 'orders', 'pets', 'webhooks'] })
    for (const secret of [own.key, temporary.secret]) {
      for (const attempt of [
        () => call('DELETE', `/keys/${id}`, secret),
        () => call('PATCH', `/keys/${id}`, secret, { paused: true }),
        () => call('PATCH', `/keys/${id}`, secret, { permissions: ['stock'] }),
        () => call('PATCH', `/keys/${id}`, secret, { expiresAt: new Date(own.now + 60_000).toISOString() }),
      ]) {
        expect(refusal(await attempt())).toEqual([409, 'in_use'])
      }
    }
    expect((await own.store.findKeyRecord(id))?.key).toEqual(record?.key as ApiKey)
    expect((await call('PATCH', `/keys/${id}`, own.key, { name: 'Owner' })).status).toBe(200)
    expect((await call('DELETE', `/keys/${temporary.id}`, temporary.secret)).status).toBe(204)
    const other = await own.createKey('enterprise')
    // Each could leave the management to the other key, but not both at once.
    const answers = await Promise.all([
      call('DELETE', `/keys/${id}`, own.key),
      call('DELETE', `/keys/${other.id}`, other.secret),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 409])
    await own.stop()
  })
})
