import type { ChangeOutcome } from '../core/stock/stock-request.ts'
import { ServiceError } from '../core/values/errors.ts'
import { normalizeUrl, type Webhook, webhookNotFound } from '../core/webhooks/webhook.ts'
import type { WebhookSender } from '../core/webhooks/webhook-store.ts'
import { errorReply, type KeptReply, NO_CONTENT } from './reply.ts'
import { invalid } from './request-input.ts'

/** What is answered to a request about a webhook. */
export function webhookReply(outcome: ChangeOutcome, reply: (webhook: Webhook) => KeptReply): KeptReply {
  if (typeof outcome === 'object') {
    if ('webhook' in outcome) return reply(outcome.webhook)
    if ('removed' in outcome) return NO_CONTENT
    if ('unknownWebhook' in outcome) return errorReply(webhookNotFound(outcome.unknownWebhook))
    if ('tooManyWebhooks' in outcome) {
      const { tooManyWebhooks: max, of } = outcome
      const message =
        of === 'store'
          ? `the store has ${max} webhooks, the most that it may have; remove one first`
          : `this API key has created ${max} webhooks, the most that a key may have; remove one first`
      return errorReply(new ServiceError('in_use', message))
    }
  }
  throw new Error('a request about a webhook came to what only another one can come to')
}

/** Throws where nothing would ever be sent to this address. */
export async function requireAddress(sender: WebhookSender, url: string | undefined): Promise<void> {
  const problem = url === undefined ? undefined : await sender.problemOf(url)
  if (problem !== undefined) throw invalid(`url ${problem}`)
}

/** The url as it is stored. Whether it may be called is checked later. */
export function normalUrl(url: string): string {
  const normalized = normalizeUrl(url)
  if ('problem' in normalized) throw invalid(`url ${normalized.problem}`)
  return normalized.url
}
