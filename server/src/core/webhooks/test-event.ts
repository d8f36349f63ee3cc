import { randomUUID } from 'node:crypto'
import Type from 'typebox'
import type { Clock } from '../values/clock.ts'
import { ServiceError } from '../values/errors.ts'
import { Int64, jsonTextWriter } from '../values/field.ts'
import { MAX_PARALLEL_TESTS } from './shared-delivery.ts'
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
  readonly store: Pick<WebhookStore, 'recordDeliveries'>
  readonly clock: Clock
}

/** Sends a test event once, even if the webhook is paused or off, and records the attempt. */
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
  const result = await sender.send(webhook.url, secretsAt(webhook, at), message)
  const attempt = attemptOf(message, 1, at, result)
  await store.recordDeliveries(webhook.id, [attempt])
  return attempt
}

/** Limits the test events that a process sends in parallel: one for each key, and MAX_PARALLEL_TESTS in total. */
export class TestEventSlots {
  readonly #sendingKeys = new Set<string>()

  /** Throws `service_unavailable` without calling `send` if a limit is reached. */
  async run<T>(keyId: string, send: () => Promise<T>): Promise<T> {
    if (this.#sendingKeys.has(keyId)) {
      throw new ServiceError(
        'service_unavailable',
        'this key is already sending a test event; wait for its response, then send the request again',
      )
    }
    if (this.#sendingKeys.size >= MAX_PARALLEL_TESTS) {
      throw new ServiceError(
        'service_unavailable',
        `the service is already sending ${MAX_PARALLEL_TESTS} test events; send the request again shortly`,
      )
    }
    this.#sendingKeys.add(keyId)
    try {
      return await send()
    } finally {
      this.#sendingKeys.delete(keyId)
    }
  }
}
