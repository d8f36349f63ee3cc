import { expect, setDefaultTimeout, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

setDefaultTimeout(120_000)

/** A service whose address lookups wait until the test opens them, with a webhook, and its receiver. */
async function startWithSlowLookups() {
  const receiver = new WebhookReceiver()
  const opened = Promise.withResolvers<void>()
  let lookups = 0
  const lookup = async () => {
    lookups++
    await opened.promise
    return ['127.0.0.1']
  }
  const service = await TestService.start({ lookup, settings: { webhookPrivateAddresses: 'on' } })
  const url = `http://slow.invalid:${receiver.port}/hook`
  const { json } = await service.send('POST', '/webhooks', { url, kinds: ['stock.changed'] })
  const { id, secret } = json as { id: number; secret: string }
  const lookedUp = () => until(() => lookups > 0)
  return { service, receiver, id, secret, lookedUp, openLookups: opened.resolve }
}

test('a test event that waits for an address lookup while the secret is rotated is not sent', async () => {
  const { service, receiver, id, lookedUp, openLookups } = await startWithSlowLookups()
  const testing = service.send('POST', `/webhooks/${id}/test`)
  await lookedUp()
  await service.send('POST', `/webhooks/${id}/rotate-secret`)
  openLookups()
  const { status, error } = await testing
  expect([status, error.message]).toEqual([
    503,
    expect.stringContaining('was changed before the test event was sent'),
  ])
  expect(receiver.all).toEqual([])
})
