import type { ChangeOrigin, CommandOf } from '../stock/command.ts'
import type { Webhook } from './webhook.ts'
import type { Rewind } from './webhook-store.ts'

/**
 * Moves the cursor of a webhook back. The command fails if the webhook has changed since it was read: another rewind may have
 * moved the cursor further back, and this command would then skip events.
 */
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
