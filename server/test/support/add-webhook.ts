import { newSecret, type Webhook, type WebhookKind } from '../../src/core/webhooks/webhook.ts'
import type { Store } from '../../src/store/store.ts'

/** Adds a webhook with a known id at the end of the log. */
export async function addWebhook(
  store: Pick<Store, 'changeStock' | 'latestEventCursor'>,
  given: { readonly id: bigint; readonly url: string; readonly kinds?: readonly WebhookKind[] },
): Promise<Webhook> {
  const newWebhook: Webhook = {
    kinds: ['stock.changed'] as const,
    ...given,
    paused: false,
    createdAt: 0,
    secret: newSecret(),
    revision: 1,
    progress: { cursor: await store.latestEventCursor(), held: [] },
  }
  await store.changeStock([{ type: 'create_webhook', webhook: newWebhook, keyId: 'test', at: 0 }])
  return newWebhook
}
