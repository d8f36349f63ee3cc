import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Shown, WebhookDesk } from './webhook-desk.ts'

setDefaultTimeout(120_000)

const desk = new WebhookDesk()
const { sent, create, shown } = desk

describe('a webhook', () => {
  test('is created with a secret that is shown once, listed, and removed', async () => {
    const answer = await sent('POST', '/webhooks', {
      url: desk.receiver.url,
      kinds: ['stock.low', 'stock.changed'],
    })
    const { secret, ...webhook } = answer.json as Shown
    expect(answer.headers.get('Location')).toBe(`/v1/webhooks/${webhook.id}`)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(webhook).toEqual({
      id: webhook.id,
      url: desk.receiver.url,
      kinds: ['stock.changed', 'stock.low'],
      paused: false,
      state: 'on',
      createdAt: new Date(desk.service.now).toISOString(),
      createdBy: expect.stringMatching(/^key_/),
      behind: { events: 0 },
      heldPets: 0,
    })
    expect((await desk.service.call('GET', '/webhooks')).json).toEqual([webhook])
    expect(await shown(webhook.id)).toEqual(webhook)
    expect((await desk.service.call('DELETE', `/webhooks/${webhook.id}`)).status).toBe(204)
    expect((await desk.service.call('GET', `/webhooks/${webhook.id}`)).status).toBe(404)
    expect((await desk.service.call('DELETE', `/webhooks/${webhook.id}`)).status).toBe(404)
  })

  test('is created once if sent twice with an Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const body = { url: desk.receiver.url, kinds: ['stock.changed'] }
    const first = await sent('POST', '/webhooks', body, headers)
    const again = await sent('POST', '/webhooks', body, headers)
    expect([again.text, again.headers.get('Idempotency-Replayed')]).toEqual([first.text, 'true'])
    expect((await desk.service.call('GET', '/webhooks')).json).toHaveLength(1)
  })

  test.each<[object, string]>([
    [{}, 'url is missing; it must be an address such as'],
    [{ url: 5 }, 'url must be an address such as'],
    [{ url: 'shop' }, 'url must be an absolute url with a scheme and a host'],
    [{ url: 'https:93.184.216.34' }, 'url must be an absolute url with a scheme and a host'],
    [{ url: `https://shop.example/${'x'.repeat(2_000)}` }, 'url must have at most 2000 characters, got 2021'],
    [{ url: `https://shop.example/${'ü'.repeat(1_900)}` }, 'url must have at most 2000 characters'],
    [{ url: 'https://shop.example/\u0000' }, 'control characters, got U+0000 at position 22'],
    [{ url: 'https://shop.example/\r\nHost: a' }, 'control characters, got U+000D at position 22'],
    [{ url: ' https://shop.example/' }, 'must not contain blanks or control characters, got U+0020'],
    [{ url: 'https://shop.example/\ud800' }, 'url must be valid Unicode'],
    [{ url: 'https:\\\\shop.example\\hooks' }, 'url must not contain a backslash'],
    [{ url: 'https://shop.example:70000/' }, 'url must have a port of at most 65535, got "70000"'],
    [{ url: 'https://shop.example:no/' }, 'url must have a valid host name'],
    [{ url: 'https://[::1/' }, 'url must have a valid host name'],
    [{ url: 'ftp://shop.example/' }, 'url must begin with https:// or http://'],
    [{ url: 'https://me:pw@shop.example/' }, 'must not contain a user name or a password'],
    [{ url: 'https://shop.example:22/' }, 'must use port 443, port 80 or a port above 1024'],
    [{ url: 'https://shop.example/', kinds: [] }, 'kinds must be a list of at least one of stock.changed'],
    [{ url: 'https://shop.example/', kinds: 'stock.low' }, 'kinds must be a list'],
    [{ url: 'https://shop.example/', kinds: ['order.gone'] }, 'kinds[0] must be one of stock.changed'],
    [{ url: 'https://shop.example/', kinds: ['stock.low', 'stock.low'] }, 'kinds contains "stock.low"'],
  ])('%j is rejected, and nothing is created', async (body, message) => {
    const answer = await sent('POST', '/webhooks', { kinds: ['stock.changed'], ...body })
    expect([answer.status, answer.error.message]).toEqual([400, expect.stringContaining(message)])
    expect((await desk.service.call('GET', '/webhooks')).json).toEqual([])
  })

  test('is stored with its URL in normal form', async () => {
    const { url } = await create({ url: 'HTTP://127.0.0.1:80/a/../b c%20ü?q=ü'.replace(' ', '') })
    expect(url).toBe('http://127.0.0.1/bc%20%C3%BC?q=%C3%BC')
  })

  test('answers a test with the result, even with If-None-Match', async () => {
    const { id } = await create()
    const answer = await sent('POST', `/webhooks/${id}/test`, undefined, { 'If-None-Match': '*' })
    expect([answer.status, answer.headers.get('ETag')]).toEqual([200, null])
  })

  test('the store may have ten, even with parallel requests', async () => {
    const post = () => sent('POST', '/webhooks', { url: desk.receiver.url, kinds: ['stock.changed'] })
    const refused = (await Promise.all(Array.from({ length: 13 }, post))).filter(
      ({ status }) => status !== 201,
    )
    expect(refused.map(({ status, error }) => [status, error.code])).toEqual(Array(3).fill([409, 'in_use']))
    expect(refused[0]?.error.message).toContain('the store has 10 webhooks')
    const [one] = (await desk.service.call('GET', '/webhooks')).json as Shown[]
    expect((await desk.service.call('DELETE', `/webhooks/${one.id}`)).status).toBe(204)
    expect((await post()).status).toBe(201)
    expect((await post()).status).toBe(409)
  })

  test('a change must not be empty, and its errors name the problem', async () => {
    const { id } = await create()
    for (const [body, message] of [
      [{}, 'at least one of url, kinds and paused'],
      [{ paused: 'yes' }, 'paused must be true or false'],
      [{ url: 'gopher://x' }, 'url must begin with'],
    ] as const) {
      const answer = await sent('PATCH', `/webhooks/${id}`, body)
      expect([answer.status, answer.error.message]).toEqual([400, expect.stringContaining(message)])
    }
    const answer = await sent('PATCH', `/webhooks/${id}`, { kinds: ['pet.removed'] })
    expect((answer.json as Shown).kinds).toEqual(['pet.removed'])
  })

  test('a test returns its result even if the webhook is removed in the meantime', async () => {
    const { id } = await create()
    desk.receiver.reply = async () => {
      await desk.service.call('DELETE', `/webhooks/${id}`)
      return new Response(null, { status: 204 })
    }
    const tried = await sent('POST', `/webhooks/${id}/test`)
    expect([tried.status, tried.json]).toEqual([200, expect.objectContaining({ delivered: true })])
  })

  test('sends one test event at a time, and other webhooks do not wait for it', async () => {
    const { id } = await create()
    const other = await create()
    const firstAnswer = Promise.withResolvers<Response>()
    desk.receiver.reply = (_, number) =>
      number === 1 ? firstAnswer.promise : new Response(null, { status: 204 })
    const first = sent('POST', `/webhooks/${id}/test`)
    await desk.arrived(1)
    const refused = await sent('POST', `/webhooks/${id}/test`)
    expect([refused.status, refused.error.code, refused.headers.get('Retry-After')]).toEqual([
      503,
      'service_unavailable',
      '1',
    ])
    expect(refused.error.message).toContain('is already being sent')
    expect((await sent('POST', `/webhooks/${other.id}/test`)).status).toBe(200)
    firstAnswer.resolve(new Response(null, { status: 204 }))
    expect((await first).status).toBe(200)
    expect((await sent('POST', `/webhooks/${id}/test`)).status).toBe(200)
    expect(desk.receiver.all).toHaveLength(3)
  })
})
