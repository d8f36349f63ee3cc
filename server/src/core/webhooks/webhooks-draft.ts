import {
  type CommandOf,
  type OutcomeOf,
  SYSTEM_KEY_ID,
  type UnknownWebhook,
  type WebhookDone,
} from '../stock/command.ts'
import { MAX_WEBHOOKS, MAX_WEBHOOKS_PER_KEY, OLD_SECRET_MS, type Webhook } from './webhook.ts'

/** The webhooks that a commit has locked and read. */
export interface LockedWebhooks {
  /** The existing webhooks that the commands name. */
  readonly byId: ReadonlyMap<bigint, Webhook>
  readonly total: number
  /** The number of webhooks that each API key has created, by its id. */
  readonly countByKey: ReadonlyMap<string, number>
}

/** Each changed webhook after the change; `undefined` if it was removed. */
export type WebhookChanges = ReadonlyMap<bigint, Webhook | undefined>

/** The webhooks that a commit is building. */
export class WebhooksDraft {
  readonly changes = new Map<bigint, Webhook | undefined>()
  readonly #locked: LockedWebhooks
  readonly #countByKey: Map<string, number>
  #total: number

  constructor(locked: LockedWebhooks) {
    this.#locked = locked
    this.#total = locked.total
    this.#countByKey = new Map(locked.countByKey)
  }

  create({ webhook, urlProblem, keyId }: CommandOf<'create_webhook'>): OutcomeOf<'create_webhook'> {
    if (urlProblem !== undefined) return { type: 'invalid_url', problem: urlProblem }
    if (this.#total >= MAX_WEBHOOKS) return { type: 'too_many_webhooks', max: MAX_WEBHOOKS, scope: 'store' }
    if (keyId !== SYSTEM_KEY_ID && (this.#countByKey.get(keyId) ?? 0) >= MAX_WEBHOOKS_PER_KEY) {
      return { type: 'too_many_webhooks', max: MAX_WEBHOOKS_PER_KEY, scope: 'key' }
    }
    if (this.#find(webhook.id) !== undefined) throw new Error(`webhook ${webhook.id} already exists`)
    const created = { ...webhook, createdBy: keyId }
    this.#addToCounts(created, 1)
    return this.#put(created)
  }

  /** A webhook that was turned off is turned on again by setting `paused` to false, or by a new url. */
  update({ webhookId, patch, urlProblem }: CommandOf<'update_webhook'>): OutcomeOf<'update_webhook'> {
    if (urlProblem !== undefined) return { type: 'invalid_url', problem: urlProblem }
    return this.#change(webhookId, (webhook) => {
      const { off: _, ...progressWhenOn } = webhook.progress
      const hasNewUrl = patch.url !== undefined && patch.url !== webhook.url
      const isTurnedOn = patch.paused === false || hasNewUrl
      return { ...webhook, ...patch, progress: isTurnedOn ? progressWhenOn : webhook.progress }
    })
  }

  rotateSecret(command: CommandOf<'rotate_webhook_secret'>): OutcomeOf<'rotate_webhook_secret'> {
    const { webhookId, secret, at } = command
    return this.#change(webhookId, (webhook) => ({
      ...webhook,
      secret,
      oldSecret: { secret: webhook.secret, until: at + OLD_SECRET_MS },
    }))
  }

  move(command: CommandOf<'move_webhook_cursor'>): OutcomeOf<'move_webhook_cursor'> {
    const { webhookId, cursor, relistAt, onlyIfRevision } = command
    const revision = this.#find(webhookId)?.revision
    const isOutdated = onlyIfRevision !== undefined && revision !== onlyIfRevision
    if (revision !== undefined && isOutdated) return { type: 'webhook_changed' }
    return this.#change(webhookId, (webhook) => {
      const { relistAt: _, ...progress } = webhook.progress
      const relist = relistAt === undefined ? {} : { relistAt }
      return { ...webhook, progress: { ...progress, cursor, ...relist } }
    })
  }

  remove({ webhookId }: CommandOf<'remove_webhook'>): OutcomeOf<'remove_webhook'> {
    const webhook = this.#find(webhookId)
    if (webhook === undefined) return { type: 'unknown_webhook' }
    this.changes.set(webhookId, undefined)
    this.#addToCounts(webhook, -1)
    return { type: 'done' }
  }

  /** Every change clears the failure, so that the next attempt is made at once. */
  #change(webhookId: bigint, applyChange: (webhook: Webhook) => Webhook): WebhookDone | UnknownWebhook {
    const webhook = this.#find(webhookId)
    if (webhook === undefined) return { type: 'unknown_webhook' }
    const { failure: _, ...progress } = webhook.progress
    return this.#put({ ...applyChange({ ...webhook, progress }), revision: webhook.revision + 1 })
  }

  #put(webhook: Webhook): WebhookDone {
    this.changes.set(webhook.id, webhook)
    return { type: 'done', webhook }
  }

  #addToCounts({ createdBy }: Webhook, difference: 1 | -1): void {
    this.#total += difference
    if (createdBy === undefined) return
    this.#countByKey.set(createdBy, (this.#countByKey.get(createdBy) ?? 0) + difference)
  }

  #find(id: bigint): Webhook | undefined {
    return this.changes.has(id) ? this.changes.get(id) : this.#locked.byId.get(id)
  }
}
