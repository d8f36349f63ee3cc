import type { ChangeOrigin, MoveWebhook } from '../stock/command.ts'
import type { Webhook } from './webhook.ts'
import type { Rewind } from './webhook-store.ts'

/** Moves the webhook back. Fails if it has changed since it was read, so that it never skips events. */
export function rewindCommand(
  { id, revision, progress }: Webhook,
  { type, cursor }: Rewind,
  { keyId, at }: ChangeOrigin,
): MoveWebhook {
  return {
    type: 'move_webhook',
    webhookId: id,
    cursor,
    relistAt: type === 'relist' ? at : progress.relistAt,
    onlyIfRevision: revision,
    keyId,
    at,
  }
}
