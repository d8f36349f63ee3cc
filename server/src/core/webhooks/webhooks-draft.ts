import { STORE_KEY_ID, type WebhookOutcome, type WebhookRequest } from '../stock/stock-request.ts'
import {
  MAX_WEBHOOKS,
  MAX_WEBHOOKS_PER_KEY,
  OLD_SECRET_MS,
  type Webhook,
  type WebhookProgress,
} from './webhook.ts'

/** What a commit about webhooks finds, under its lock. */
export interface LockedWebhooks {
  /** Those that are named and are there. */
  readonly named: ReadonlyMap<bigint, Webhook>
  readonly total: number
  /** How many each key has created, by its id. */
  readonly createdBy: ReadonlyMap<string, number>
}

/** As each is from then on; `undefined` where it is gone. */
export type WebhookChanges = ReadonlyMap<bigint, Webhook | undefined>

/** The webhooks as the requests so far have left them. */
export class WebhooksDraft {
  readonly #found: LockedWebhooks
  readonly #changed = new Map<bigint, Webhook | undefined>()
  readonly #createdBy: Map<string, number>
  #total: number

  constructor(found: LockedWebhooks) {
    this.#found = found
    this.#total = found.total
    this.#createdBy = new Map(found.createdBy)
  }

  get changes(): WebhookChanges {
    return this.#changed
  }

  decide(request: WebhookRequest): WebhookOutcome {
    if ('newWebhook' in request) return this.#create({ ...request.newWebhook, createdBy: request.keyId })
    const before = this.#find(request.webhookId)
    if (before === undefined) return { unknownWebhook: request.webhookId }
    if (request.webhookChange === 'remove') {
      this.#changed.set(before.id, undefined)
      this.#count(before, -1)
      return { removed: before.id }
    }
    const after = changed(before, request.webhookChange, request.at)
    this.#changed.set(after.id, after)
    return { webhook: after }
  }

  #create(webhook: Webhook & { readonly createdBy: string }): WebhookOutcome {
    if (this.#total >= MAX_WEBHOOKS) return { tooManyWebhooks: MAX_WEBHOOKS, of: 'store' }
    const { createdBy } = webhook
    if (createdBy !== STORE_KEY_ID && (this.#createdBy.get(createdBy) ?? 0) >= MAX_WEBHOOKS_PER_KEY) {
      return { tooManyWebhooks: MAX_WEBHOOKS_PER_KEY, of: 'key' }
    }
    if (this.#find(webhook.id) !== undefined) throw new Error(`there is a webhook ${webhook.id} already`)
    this.#changed.set(webhook.id, webhook)
    this.#count(webhook, 1)
    return { webhook }
  }

  #count({ createdBy }: Webhook, change: 1 | -1): void {
    this.#total += change
    if (createdBy !== undefined)
      this.#createdBy.set(createdBy, (this.#createdBy.get(createdBy) ?? 0) + change)
  }

  #find(id: bigint): Webhook | undefined {
    return this.#changed.has(id) ? this.#changed.get(id) : this.#found.named.get(id)
  }
}

type Change = Exclude<Extract<WebhookRequest, { webhookId: bigint }>['webhookChange'], 'remove'>

/** Whatever is changed, it is tried again at once; one that was turned off is turned on by not being paused any more. */
function changed(webhook: Webhook, change: Change, at: number): Webhook {
  const { failure: _, off, ...place } = webhook.progress
  const revision = webhook.revision + 1
  if ('newSecret' in change) {
    const oldSecret = { secret: webhook.secret, until: at + OLD_SECRET_MS }
    return { ...webhook, secret: change.newSecret, oldSecret, revision, progress: withOff(place, off) }
  }
  if ('cursor' in change) return { ...webhook, progress: withOff({ cursor: change.cursor }, off), revision }
  const staysOff = change.paused !== false
  return { ...webhook, ...change, revision, progress: withOff(place, staysOff ? off : undefined) }
}

function withOff(progress: WebhookProgress, off: WebhookProgress['off']): WebhookProgress {
  return off === undefined ? progress : { ...progress, off }
}
