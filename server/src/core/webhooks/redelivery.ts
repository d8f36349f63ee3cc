import type { ChangeOrigin, CommandOf } from '../stock/command.ts'
import type { Webhook } from './webhook.ts'
import type { Rewind } from './webhook-store.ts'

/** Moves a webhook back. The command fails if the webhook has changed since it was read, so that no events are skipped. */
export function rewindCommand(
  { id, revision, progress }: Webhook,
  { type, cursor }: Rewind,
  { keyId, at }: ChangeOrigin,
): CommandOf<'move_webhook_cursor'> {
  return {
    type: 'move_webhook_cursor',
    webhookId: id,
    cursor,
    relistAt: type === 'relist' ? at : progress.relistAt,
    onlyIfRevision: revision,
    keyId,
    at,
  }
}
