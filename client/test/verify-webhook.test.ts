import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { checkPayload } from '../../server/test/support/contract-check.ts'
import { TestService } from '../../server/test/support/test-service.ts'
import { isPetstoreError, type ReceivedWebhook, verifyWebhook, type WebhookKind } from '../src/index.ts'
import { verifyWebhookAt } from '../src/verify-webhook.ts'
import { failureOf } from './support/failure-of.ts'
import { clientOf } from './support/live-service.ts'
import { type Delivery, receiveWebhooks } from './support/webhook-receiver.ts'

const KINDS: readonly WebhookKind[] = [
  'stock.changed',
  'stock.low',
  'stock.recovered',
  'order.created',
  'order.completed',
  'order.cancelled',
  'order.expired',
  'pet.changed',
  'pet.removed',
]
const BIG = 9007199254740993n
const SECRET = `whsec_${btoa('what deliveries are signed with')}`
const OTHER = `whsec_${btoa('what others are signed with here')}`
const NOW = Date.UTC(2026, 10, 16, 12)
const MINUTE = 60_000

const receiver = receiveWebhooks()
let service: TestService
let created: { readonly id: bigint; readonly secret: string }
beforeAll(async () => {
  service = await TestService.start({ realTime: true, settings: { webhookPrivateAddresses: 'on' } })
  created = await clientOf(service).webhooks.create({ url: receiver.url, kinds: KINDS })
}, 120_000)
afterAll(async () => {
  await service.stop()
  await receiver.stop()
})

/** Causes an event of each kind. */
async function causeEvents(): Promise<void> {
  const client = clientOf(service)
  await client.orders.create({ petId: 1n, quantity: 1, holdSeconds: 1 })
  const bought = await client.orders.create({ petId: BIG, quantity: 2 })
  await client.orders.complete(bought.id)
  await client.orders.cancel((await client.orders.create({ petId: BIG, quantity: 1 })).id)
  await client.pets.update(BIG, { lowStockAt: 5 })
  await client.inventory.receive({ petId: BIG, quantity: 3 }, { reference: 'PO "7"' })
  await client.pets.remove(2n)
}

describe('deliveries of a live service', () => {
  test('each kind is verified, with exact ids, by the client and by the standardwebhooks package', async () => {
    await causeEvents()
    const deliveries = await receiver.first(KINDS)
    const standard = new StandardWebhook(created.secret)
    const found = new Map<string, ReceivedWebhook>()
    for (const { headers, body } of deliveries) {
      const payload = await verifyWebhook(headers, body, created.secret)
      checkPayload(payload.type, body)
      expect(standard.verify(body, Object.fromEntries(headers))).toEqual(JSON.parse(body))
      expect(payload.id).toBe(headers.get('webhook-id') ?? '')
      found.set(payload.type, payload)
    }
    expect([...found.keys()]).toEqual([...KINDS])
    const change = found.get('stock.changed')
    if (change?.type !== 'stock.changed') throw new Error('there is no change')
    expect(change).toMatchObject({
      timestamp: change.data.at,
      data: { petId: BIG, before: 7, after: 5, status: 'available', reason: 'sold' },
    })
    expect(found.get('order.completed')).toMatchObject({
      data: { change: 'completed', state: 'complete', lines: [{ petId: BIG, quantity: 2, reserved: 0 }] },
    })
    expect(found.get('stock.low')).toMatchObject({ data: { petId: BIG, available: 5, lowStockAt: 5 } })
    expect(found.get('pet.removed')).toMatchObject({ data: { petId: 2n } })
  }, 120_000)

  test('relist reports missed events, and after a rotation either secret verifies it', async () => {
    const old = created.secret
    const { secret } = await clientOf(service).webhooks.rotateSecret(created.id)
    await service.store.changeStock([
      {
        type: 'replay_webhook',
        webhookId: created.id,
        cursor: '0.dead',
        keyId: 'petstore',
        at: Date.now(),
      },
    ])
    const [relist] = await receiver.first(['relist'])
    if (relist === undefined) throw new Error('nothing came')
    for (const either of [secret, old, [OTHER, secret]]) {
      expect(await verifyWebhook(relist.headers, relist.body, either)).toMatchObject({
        type: 'relist',
        data: {},
      })
    }
    expect((await failure(relist, OTHER, Date.now())).message).toContain('no signature matches the secret')
  }, 120_000)
})

/** A delivery that the standardwebhooks package has signed. */
function delivery(
  data: object = { petId: 5, at: '2026-11-16T12:00:00.000Z', keyId: 'key_a' },
  type = 'pet.removed',
) {
  const body = JSON.stringify({ type, timestamp: '2026-11-16T12:00:00.000Z', data })
  return { body, headers: signed(body) }
}

function signed(body: string): Record<string, string> {
  return {
    'webhook-id': 'evt_1_a',
    'webhook-timestamp': String(NOW / 1_000),
    'webhook-signature': new StandardWebhook(SECRET).sign('evt_1_a', new Date(NOW), body),
  }
}

async function failure(
  { headers, body }: Pick<Delivery, 'body'> & { readonly headers: Headers | Record<string, string> },
  secret: string | readonly string[] = SECRET,
  now = NOW,
) {
  const error = await failureOf(verifyWebhookAt(now, headers, body, secret))
  expect(isPetstoreError(error, 'invalid_webhook')).toBe(true)
  return error
}

describe('verifyWebhook', () => {
  const verify = (headers: Parameters<typeof verifyWebhook>[0], body: string | Uint8Array) =>
    verifyWebhookAt(NOW, headers, body, SECRET)

  test('accepts deliveries of the standardwebhooks package: headers in any form, text or bytes', async () => {
    const { headers, body } = delivery({
      petId: 1,
      at: 'a',
      keyId: 'é"},{',
    })
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    )
    for (const form of [headers, new Headers(headers), upper]) {
      for (const text of [body, new TextEncoder().encode(body)]) {
        expect(await verify(form, text)).toMatchObject({ id: 'evt_1_a', data: { petId: 1n, keyId: 'é"},{' } })
      }
    }
  })

  test('one matching signature is enough, and those of other versions are ignored', async () => {
    const { headers, body } = delivery()
    const several = {
      ...headers,
      'webhook-signature': `v1a,AAAA v1,AAAA v1,%% ${headers['webhook-signature']}`,
    }
    expect(await verify(several, body)).toMatchObject({ type: 'pet.removed' })
    const asOther = { ...headers, 'webhook-signature': `v2${headers['webhook-signature']?.slice(2)}` }
    expect((await failure({ headers: asOther, body })).message).toContain('no signature matches the secret')
  })

  test('refuses another secret, and another body, id, time or length than was signed', async () => {
    const { headers, body } = delivery()
    const longer = `v1,${btoa(`${atob(headers['webhook-signature']?.slice(3) ?? '')}x`)}`
    for (const [changed, text, secret] of [
      [{}, body, OTHER],
      [{}, body.replace('5', '6'), SECRET],
      [{}, `${body} `, SECRET],
      [{ 'webhook-signature': longer }, body, SECRET],
      [{ 'webhook-id': 'evt_2_a' }, body, SECRET],
      [{ 'webhook-timestamp': String(NOW / 1_000 + 1) }, body, SECRET],
    ] as const) {
      const refused = await failure({ headers: { ...headers, ...changed }, body: text }, secret)
      expect(refused.message).toStartWith('no signature matches the secret')
    }
  })

  test('refuses deliveries signed more than 5 minutes ago or in the future', async () => {
    const { headers, body } = delivery()
    for (const now of [NOW - 5 * MINUTE, NOW + 5 * MINUTE]) {
      expect(await verifyWebhookAt(now, headers, body, SECRET)).toMatchObject({
        id: 'evt_1_a',
      })
    }
    expect((await failure({ headers, body }, SECRET, NOW + 5 * MINUTE + 1_000)).message).toStartWith(
      'the delivery was signed 301 s ago by the clock of this machine',
    )
    const early = await failure({ headers, body }, SECRET, NOW - 5 * MINUTE - 1_000)
    expect(early.message).toContain('signed 301 s in the future')
    const noTime = { ...headers, 'webhook-timestamp': '1e3' }
    expect((await failure({ headers: noTime, body })).message).toContain('not a time in seconds: "1e3"')
  })

  test('names the header that is missing', async () => {
    const { headers, body } = delivery()
    for (const name of Object.keys(headers)) {
      const { [name]: _, ...others } = headers
      for (const form of [others, new Headers(others), { ...others, [name]: '' }]) {
        expect((await failure({ headers: form, body })).message).toBe(`the header ${name} is missing`)
      }
    }
  })

  test('returns an event of an unknown type as unknown, with its text', async () => {
    for (const eventType of ['pet.sung', 'constructor']) {
      const { headers, body } = delivery({ petId: 5 }, eventType)
      expect(await verify(headers, body)).toEqual({ id: 'evt_1_a', type: 'unknown', eventType, body })
    }
  })

  test('says why it cannot read a signed body', async () => {
    for (const body of ['', '{', 'null', '[]', '{"data":{}}', delivery({ petId: 1.5 }).body]) {
      expect((await failure({ headers: signed(body), body })).message).toStartWith(
        'the signature is valid, but',
      )
    }
  })

  test('an invalid secret is a TypeError that does not quote it', async () => {
    const { headers, body } = delivery()
    for (const secret of ['whsec_', 'whsec_ä', []]) {
      const call = verifyWebhook(headers, body, secret)
      await expect(call).rejects.toThrow(TypeError)
      await expect(call).rejects.not.toThrow('ä')
    }
  })
})
