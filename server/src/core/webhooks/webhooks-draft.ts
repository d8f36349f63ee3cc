import {
  type CreateWebhook,
  type MoveWebhook,
  type OutcomeOf,
  type RemoveWebhook,
  type RotateWebhookSecret,
  STORE_KEY_ID,
  type UnknownWebhook,
  type UpdateWebhook,
  type WebhookDone,
} from '../stock/command.ts'
import {
  MAX_WEBHOOKS,
  MAX_WEBHOOKS_PER_KEY,
  OLD_SECRET_MS,
  type Webhook,
  type WebhookProgress,
} from './webhook.ts'

/** The webhooks that a commit has locked and read. */
export interface LockedWebhooks {
  /** The webhooks that the commands name, if they exist. */
  readonly named: ReadonlyMap<bigint, Webhook>
  readonly total: number
  /** The number of webhooks that each API key has created, by its id. */
  readonly createdBy: ReadonlyMap<string, number>
}

/** Each changed webhook after the change; `undefined` if it was removed. */
export type WebhookChanges = ReadonlyMap<bigint, Webhook | undefined>

/** The webhooks that a commit is building. */
export class WebhooksDraft {
  readonly #locked: LockedWebhooks
  readonly #changed = new Map<bigint, Webhook | undefined>()
  readonly #createdBy: Map<string, number>
  #total: number

  constructor(locked: LockedWebhooks) {
    this.#locked = locked
    this.#total = locked.total
    this.#createdBy = new Map(locked.createdBy)
  }

  get changes(): WebhookChanges {
    return this.#changed
  }

  create({ webhook, keyId }: CreateWebhook): OutcomeOf<CreateWebhook> {
    if (this.#total >= MAX_WEBHOOKS) return { type: 'too_many_webhooks', max: MAX_WEBHOOKS, scope: 'store' }
    if (keyId !== STORE_KEY_ID && (this.#createdBy.get(keyId) ?? 0) >= MAX_WEBHOOKS_PER_KEY) {
      return { type: 'too_many_webhooks', max: MAX_WEBHOOKS_PER_KEY, scope: 'key' }
    }
    if (this.#find(webhook.id) !== undefined) throw new Error(`webhook ${webhook.id} already exists`)
    const created = { ...webhook, createdBy: keyId }
    this.#count(created, 1)
    return this.#put(created)
  }

  /** A webhook that was turned off is turned on again by setting `paused` to false. */
  update({ webhookId, patch }: UpdateWebhook): OutcomeOf<UpdateWebhook> {
    return this.#change(webhookId, (webhook, position, off) => ({
      ...webhook,
      ...patch,
      progress: withOff(position, patch.paused === false ? undefined : off),
    }))
  }

  rotateSecret({ webhookId, secret, at }: RotateWebhookSecret): OutcomeOf<RotateWebhookSecret> {
    return this.#change(webhookId, (webhook, position, off) => ({
      ...webhook,
      secret,
      oldSecret: { secret: webhook.secret, until: at + OLD_SECRET_MS },
      progress: withOff(position, off),
    }))
  }

  move({ webhookId, cursor }: MoveWebhook): OutcomeOf<MoveWebhook> {
    return this.#change(webhookId, (webhook, _, off) => ({
      ...webhook,
      progress: withOff({ cursor }, off),
    }))
  }

  remove({ webhookId }: RemoveWebhook): OutcomeOf<RemoveWebhook> {
    const webhook = this.#find(webhookId)
    if (webhook === undefined) return { type: 'unknown_webhook' }
    this.#changed.set(webhookId, undefined)
    this.#count(webhook, -1)
    return { type: 'done' }
  }

  /** Every change clears the failure, so that the next attempt is made at once. */
  #change(
    webhookId: bigint,
    applyChange: (webhook: Webhook, position: WebhookProgress, off: WebhookProgress['off']) => Webhook,
  ): WebhookDone | UnknownWebhook {
    const webhook = this.#find(webhookId)
    if (webhook === undefined) return { type: 'unknown_webhook' }
    const { failure: _, off, ...position } = webhook.progress
    return this.#put({ ...applyChange(webhook, position, off), revision: webhook.revision + 1 })
  }

  #put(webhook: Webhook): WebhookDone {
    this.#changed.set(webhook.id, webhook)
    return { type: 'done', webhook }
  }

  #count({ createdBy }: Webhook, change: 1 | -1): void {
    this.#total += change
    if (createdBy !== undefined)
      this.#createdBy.set(createdBy, (this.#createdBy.get(createdBy) ?? 0) + change)
  }

  #find(id: bigint): Webhook | undefined {
    return this.#changed.has(id) ? this.#changed.get(id) : this.#locked.named.get(id)
  }
}

function withOff(progress: WebhookProgress, off: WebhookProgress['off']): WebhookProgress {
  return off === undefined ? progress : { ...progress, off }
}
