import type { Webhook } from './webhook.ts'

/** Is told of what is delivered. */
export interface DeliveryObserver {
  deliveryFinished?(isDelivered: boolean, durationMs: number): void
  webhookTurnedOff?(webhook: Webhook, reason: string): void
}
