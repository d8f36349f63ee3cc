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
