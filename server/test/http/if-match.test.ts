import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { OPERATIONS } from '../../src/http/routes.ts'
import { addWebhook } from '../support/add-webhook.ts'
import { type Answer, TestService } from '../support/test-service.ts'

setDefaultTimeout(120_000)

const NOWHERE = 'http://127.0.0.1:1111/'

let service: TestService
let keyId: string
let orderId: string

beforeAll(async () => {
  service = await TestService.start({ settings: { webhookPrivateAddresses: 'on' } })
  await addWebhook(service.store, { id: 1n, url: NOWHERE })
  keyId = (await service.createKey('pro', { name: 'Till' })).id
  await send('POST', '/pets', { id: 50, name: 'Biscuit', categoryId: 1 })
  await send('POST', '/categories', { id: 50, name: 'Birds' })
  await service.setQuantity(1n, '{"quantity": 9}')
  orderId = idOf(await send('POST', '/store/orders', { petId: 1, quantity: 1 }))
})
afterAll(() => service.stop())

function send(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return service.call(method, path, {
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { 'Content-Type': 'application/json', ...headers },
  })
}

const idOf = ({ headers }: Answer) => headers.get('Location')?.split('/').at(-1) ?? ''
const tagOf = ({ headers }: Answer) => headers.get('ETag') ?? ''

const pathOf = (path: string) =>
  path
    .replace('{orderId}', orderId)
    .replace('{keyId}', keyId)
    .replace('{petId}', path.startsWith('/pets') ? '50' : '1')
    .replace('{categoryId}', '50')
    .replace('{webhookId}', '1')

/**
 * Two changes of a record, and how to read its ETag: categories have no GET, so an empty change returns it.
 * Both changes differ from what is stored: a change that changes nothing leaves the ETag as it is.
 */
const RECORDS = {
  '/store/orders/{orderId}': { read: 'GET', one: { note: 'one' }, other: { note: 'other' } },
  '/pets/{petId}': { read: 'GET', one: { name: 'One' }, other: { name: 'Other' } },
  '/categories/{categoryId}': { read: 'PATCH', one: { lowStockAt: 1 }, other: { lowStockAt: 2 } },
  '/keys/{keyId}': { read: 'GET', one: { name: 'One' }, other: { name: 'Other' } },
  '/webhooks/{webhookId}': { read: 'GET', one: { url: `${NOWHERE}one` }, other: { url: `${NOWHERE}other` } },
} as const

const records = Object.entries(RECORDS).map(([template, record]) => ({ template, ...record }))

describe('If-Match', () => {
  test.each(records)(
    'lets one of two changes of $template through',
    async ({ template, read, one, other }) => {
      const path = pathOf(template)
      const tag = tagOf(await (read === 'GET' ? send('GET', path) : send('PATCH', path, { name: 'Parrots' })))
      expect(tag).not.toBe('')
      const answers = await Promise.all(
        [one, other].map((body) => send('PATCH', path, body, { 'If-Match': tag })),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
      const refused = answers.find(({ status }) => status === 412)
      expect(refused?.error).toMatchObject({ code: 'precondition_failed', status: 412 })
      expect(refused?.error.message).toContain('is not in the state that If-Match names')
      const made = answers.find(({ status }) => status === 200)
      if (made === undefined) throw new Error('no change was made')
      expect(tagOf(made)).not.toBe(tag)
      expect((await send('PATCH', path, other, { 'If-Match': `"x", ${tagOf(made)}` })).status).toBe(200)
      expect((await send('PATCH', path, one, { 'If-Match': '*' })).status).toBe(200)
    },
  )

  test.each(records)('protects $template from a removal with an old ETag', async ({ template }) => {
    const path = pathOf(template)
    const before = await service.contents()
    expect((await send('DELETE', path, undefined, { 'If-Match': '"old"' })).status).toBe(412)
    expect(await service.contents()).toEqual(before)
  })

  test('is not concerned with what changes by itself: the use of a key, the backlog of a webhook', async () => {
    const { id, secret } = await service.createKey('pro', { name: 'Busy' })
    const keyTag = tagOf(await send('GET', `/keys/${id}`))
    await service.call('GET', '/inventory', { key: secret })
    await service.restart()
    const usedTag = tagOf(await send('GET', `/keys/${id}`))
    expect(usedTag).not.toBe(keyTag)
    expect((await send('PATCH', `/keys/${id}`, { name: 'Still busy' }, { 'If-Match': keyTag })).status).toBe(
      200,
    )

    await send('PATCH', '/webhooks/1', { paused: true })
    const hookTag = tagOf(await send('GET', '/webhooks/1'))
    await service.setQuantity(1n, '{"quantity": 8}')
    expect(tagOf(await send('GET', '/webhooks/1'))).not.toBe(hookTag)
    expect((await send('PATCH', '/webhooks/1', { paused: true }, { 'If-Match': hookTag })).status).toBe(200)
  })

  test('has the ETag of a new record', async () => {
    const created = await send('POST', '/categories', { id: 51, name: 'Fish' })
    const renamed = await send('PATCH', '/categories/51', { name: 'Fishes' }, { 'If-Match': tagOf(created) })
    expect(renamed.status).toBe(200)
    const pet = await send('POST', '/pets', { id: 51, name: 'Nemo', categoryId: 51 })
    expect(tagOf(pet)).toBe(tagOf(await send('GET', '/catalog/51')))
    const order = await send('POST', '/store/orders', { petId: 1, quantity: 1 })
    expect(tagOf(order)).toBe(tagOf(await send('GET', `/store/orders/${idOf(order)}`)))
  })

  test('is part of the request that an Idempotency-Key names', async () => {
    const tag = tagOf(await send('GET', '/catalog/50'))
    const change = (headers: Record<string, string>) =>
      send('PATCH', '/pets/50', { name: 'Once' }, { 'Idempotency-Key': 'condition', ...headers })
    const first = await change({ 'If-Match': tag })
    const again = await change({ 'If-Match': tag })
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text])
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    for (const headers of [{}, { 'If-Match': '*' }, { 'If-Match': `${tag}, "x"` }]) {
      expect((await change(headers)).error.code).toBe('idempotency_key_reused')
    }
  })

  const changes = OPERATIONS.filter(({ method }) => method === 'PATCH' || method === 'DELETE')
  test.each(changes)('is checked by $method $path', async ({ method, path, body }) => {
    const example = (body as { examples?: readonly object[] } | undefined)?.examples?.[0]
    const { status } = await send(method, pathOf(path), example, { 'If-Match': '"old"' })
    expect(status).toBe(412)
  })

  const others = OPERATIONS.filter(({ method }) => method === 'GET' || method === 'POST')
  test.each(others.filter(({ takesPairingCode }) => !takesPairingCode))(
    'is 400 for $method $path, which would ignore it',
    async ({ method, path, body }) => {
      const { status, error } = await send(method, pathOf(path), body && {}, { 'If-Match': '*' })
      expect([status, error.code]).toEqual([400, 'invalid_request'])
      expect(error.message).toContain('does not support If-Match')
    },
  )
})
