import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'bun:test'
import type { Store } from '../../src/store/store.ts'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

// biome-ignore lint/suspicious/noExplicitAny: a webhook, as its tests look at it
export type Shown = any

/** A service, and a new receiver for each test. Webhooks are removed after each test. */
export class WebhookDesk {
  service!: TestService
  receiver!: WebhookReceiver
  #quantity = 1_000
  #runningRenewals = 0

  constructor() {
    beforeAll(async () => {
      this.service = await TestService.start({
        settings: { webhookPrivateAddresses: 'on' },
        wrapStore: (store) => ({ ...store, leaseWebhooks: this.#counted(store.leaseWebhooks) }),
      })
    })
    beforeEach(() => {
      this.receiver = new WebhookReceiver()
    })
    afterEach(async () => {
      for (const { id } of (await this.service.call('GET', '/webhooks')).json as Shown[])
        await this.service.call('DELETE', `/webhooks/${id}`)
      await this.receiver.stop()
    })
    afterAll(() => this.service.stop())
  }

  #counted(leaseWebhooks: Store['leaseWebhooks']): Store['leaseWebhooks'] {
    return async (durationMs) => {
      this.#runningRenewals++
      try {
        return await leaseWebhooks(durationMs)
      } finally {
        this.#runningRenewals--
      }
    }
  }

  /**
   * Moves the clock while no leases are being renewed. A renewal that reads the time before and after the move would find that
   * its own lease has ended, and the delivery that is being sent would be repeated.
   */
  passTime = async (ms: number): Promise<void> => {
    await until(() => this.#runningRenewals === 0)
    this.service.now += ms
  }

  sent = (method: string, path: string, body?: object, headers = {}) =>
    this.service.send(method, path, body, { headers })

  create = async (fields: object = {}): Promise<Shown> => {
    const body = { url: this.receiver.url, kinds: ['stock.changed'], ...fields }
    const answer = await this.sent('POST', '/webhooks', body)
    expect(answer.status).toBe(201)
    return answer.json
  }

  shown = async (id: number): Promise<Shown> => (await this.service.call('GET', `/webhooks/${id}`)).json

  arrived = (count: number) => until(() => this.receiver.all.length >= count)

  /** Waits until everything is delivered. */
  settled = (id: number) => until(async () => (await this.shown(id)).behind.events === 0)

  /** Waits until this many attempts are listed. They are saved right after the progress of the webhook. */
  recorded = (id: number, count: number) =>
    until(async () => {
      const { json } = await this.service.call('GET', `/webhooks/${id}/deliveries`)
      return (json as readonly unknown[]).length >= count
    })

  /** Sets a quantity that the pet never had. */
  changePet = async (petId = 1n): Promise<number> => {
    const answer = await this.service.setQuantity(petId, `{"quantity": ${++this.#quantity}}`)
    expect(answer.status).toBe(200)
    return this.#quantity
  }
}
