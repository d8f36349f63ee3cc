import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import type { Clock } from '../values/clock.ts'
import { ServiceError } from '../values/errors.ts'
import { Int64, jsonTextWriter } from '../values/field.ts'
import { secretsAt, type Webhook } from './webhook.ts'
import { attemptOf, type DeliveryAttempt, type WebhookSender, type WebhookStore } from './webhook-store.ts'

/** The type of test events. Webhooks cannot subscribe to it. */
export const TEST_EVENT_TYPE = 'webhook.test'

/** The data of a test event. It says nothing about the store, so that receivers cannot mistake it for a real event. */
export const TEST_EVENT = {
  webhookId: Int64('The webhook that was tested.'),
  test: Type.Boolean({ description: 'Always true.' }),
}

const dataToJson = jsonTextWriter(TEST_EVENT)

interface TestParts {
  readonly sender: WebhookSender
  readonly store: Pick<WebhookStore, 'findWebhook' | 'recordDeliveries'>
  readonly clock: Clock
}

/**
 * Sends a test event once, even if the webhook is paused or off, and records the attempt. Sends nothing if the url or the secret
 * changes during the address lookup.
 */
export async function sendTestEvent(
  webhook: Webhook,
  { sender, store, clock }: TestParts,
): Promise<DeliveryAttempt> {
  const at = clock()
  const data = dataToJson({ webhookId: webhook.id, test: true })
  const timestamp = new Date(at).toISOString()
  const message = {
    id: `test_${randomUUID()}`,
    type: TEST_EVENT_TYPE,
    body: `{"type":"${TEST_EVENT_TYPE}","timestamp":"${timestamp}","data":${data}}`,
  }
  const isValid = async () => {
    const current = (await store.findWebhook(webhook.id))?.webhook
    return current?.url === webhook.url && current.secret === webhook.secret
  }
  const result = await sender.send(webhook.url, secretsAt(webhook, at), message, { isValid })
  if (result === undefined) {
    const message = `webhook ${webhook.id} was changed before the test event was sent; send the request again`
    throw new ServiceError('service_unavailable', message)
  }
  const attempt = attemptOf(message, { attempt: 1, at }, result)
  await store.recordDeliveries(webhook.id, [attempt])
  return attempt
}
