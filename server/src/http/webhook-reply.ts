import type {
  CreateWebhook,
  OutcomeOf,
  RemoveWebhook,
  RotateWebhookSecret,
  UpdateWebhook,
} from '../core/stock/command.ts'
import { ServiceError } from '../core/values/errors.ts'
import { normalizeUrl, type Webhook, webhookNotFound } from '../core/webhooks/webhook.ts'
import type { WebhookSender } from '../core/webhooks/webhook-store.ts'
import { errorReply, type KeptReply, NO_CONTENT } from './reply.ts'
import { invalid } from './request-input.ts'

export function createdWebhookReply(
  outcome: OutcomeOf<CreateWebhook>,
  reply: (webhook: Webhook) => KeptReply,
): KeptReply {
  switch (outcome.type) {
    case 'done':
      return reply(outcome.webhook)
    case 'too_many_webhooks': {
      const owner = outcome.of === 'store' ? 'the store has' : 'this API key has created'
      const message = `${owner} ${outcome.max} webhooks, which is the maximum; remove one first`
      return errorReply(new ServiceError('in_use', message))
    }
  }
}

export function changedWebhookReply(
  outcome: OutcomeOf<UpdateWebhook | RotateWebhookSecret>,
  webhookId: bigint,
  reply: (webhook: Webhook) => KeptReply,
): KeptReply {
  switch (outcome.type) {
    case 'done':
      return reply(outcome.webhook)
    case 'unknown_webhook':
      return errorReply(webhookNotFound(webhookId))
  }
}

export function removedWebhookReply(outcome: OutcomeOf<RemoveWebhook>, webhookId: bigint): KeptReply {
  switch (outcome.type) {
    case 'done':
      return NO_CONTENT
    case 'unknown_webhook':
      return errorReply(webhookNotFound(webhookId))
  }
}

/** Throws if deliveries to this address are not allowed. */
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
