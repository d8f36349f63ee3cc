import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { signed, WebhookReceiver } from '../support/webhook-receiver.ts'

setDefaultTimeout(120_000)

/** A service whose address lookups wait until a test opens them, and a receiver. */
class SlowLookups {
  readonly receiver = new WebhookReceiver()
  service!: TestService
  lookups = 0
  readonly #opened = Promise.withResolvers<void>()

  async start(): Promise<void> {
    const lookup = async () => {
      this.lookups++
      await this.#opened.promise
      return ['127.0.0.1']
    }
    this.service = await TestService.start({ lookup, settings: { webhookPrivateAddresses: 'on' } })
  }

  open(): void {
    this.#opened.resolve()
  }

  send(method: string, path: string, body?: object) {
    return this.service.send(method, path, body)
  }

  async createWebhook(): Promise<{ id: number; secret: string }> {
    const url = `http://slow.invalid:${this.receiver.port}/hook`
    const { json } = await this.send('POST', '/webhooks', { url, kinds: ['stock.changed'] })
    return json as { id: number; secret: string }
  }

  async stop(): Promise<void> {
    this.open()
    await this.service.stop()
    await this.receiver.stop()
  }
}

let shop: SlowLookups
afterEach(() => shop.stop())

async function startShop(): Promise<{ id: number; secret: string }> {
  shop = new SlowLookups()
  await shop.start()
  return shop.createWebhook()
}

test('a delivery that waits for an address lookup while the secret is rotated is signed with the new secret', async () => {
  const { id, secret } = await startShop()
  await shop.service.setQuantity(1n, '{"quantity": 41}')
  await until(() => shop.lookups > 0)
  const rotated = (await shop.send('POST', `/webhooks/${id}/rotate-secret`)).json as { secret: string }
  shop.open()
  await until(() => shop.receiver.all.length > 0)
  const [delivery] = shop.receiver.all
  if (delivery === undefined) throw new Error('nothing came')
  expect(delivery.signatures).toEqual([signed(delivery, rotated.secret), signed(delivery, secret)])
})

test('a test event that waits for an address lookup while the secret is rotated is not sent', async () => {
  const { id } = await startShop()
  const testing = shop.send('POST', `/webhooks/${id}/test`)
  await until(() => shop.lookups > 0)
  await shop.send('POST', `/webhooks/${id}/rotate-secret`)
  shop.open()
  const { status, error } = await testing
  expect([status, error.message]).toEqual([
    503,
    expect.stringContaining('was changed before the test event was sent'),
  ])
  expect(shop.receiver.all).toEqual([])
})
