import type { Command, CommandOf, OutcomeOf, UnknownWebhook, WebhookDone } from '../stock/command.ts'
import { isEarlierCursor } from '../stock/log-cursor.ts'
import { HOUR } from '../values/clock.ts'
import { allowsRecord } from '../values/record-tag.ts'
import { MAX_WEBHOOKS, OLD_SECRET_HOURS, WEBHOOK, type Webhook } from './webhook.ts'

/** All webhooks of the store, by id. The commit has locked them. */
export type LockedWebhooks = ReadonlyMap<bigint, Webhook>

const WEBHOOK_ACTIONS = [
  'create webhook',
  'change webhook',
  'rotate webhook secret',
  'replay webhook',
  'take over webhook',
  'remove webhook',
] as const
export type WebhookAction = (typeof WEBHOOK_ACTIONS)[number]

/** Whether an entry of the audit log is about a webhook. */
export function isWebhookAction(action: string): boolean {
  return WEBHOOK_ACTIONS.some((webhookAction) => webhookAction === action)
}

/** A line in the audit log of the key that a webhook belongs to. */
export interface WebhookAudit {
  readonly keyId: string
  readonly actorId: string
  readonly action: WebhookAction
  readonly detail: string
  readonly at: number
}

export interface WebhookChanges {
  /** Each changed webhook after the change; `undefined` if it was removed. */
  readonly webhooks: ReadonlyMap<bigint, Webhook | undefined>
  readonly audit: readonly WebhookAudit[]
}

/** The webhooks that a commit is building. */
export class WebhooksDraft {
  readonly webhooks = new Map<bigint, Webhook | undefined>()
  readonly audit: WebhookAudit[] = []
  readonly #locked: LockedWebhooks

  constructor(locked: LockedWebhooks) {
    this.#locked = locked
  }

  create(command: CommandOf<'create_webhook'>): OutcomeOf<'create_webhook'> {
    const { webhook, urlProblem, keyId } = command
    if (urlProblem !== undefined) return { type: 'invalid_url', problem: urlProblem }
    if (this.#count() >= MAX_WEBHOOKS) return { type: 'too_many_webhooks' }
    if (this.#find(webhook.id) !== undefined) throw new Error(`webhook ${webhook.id} already exists`)
    const created = { ...webhook, createdBy: keyId }
    this.#log('create webhook', created, command, created.kinds.join())
    return this.#put(created)
  }

  /** A webhook that was turned off is turned on again by setting `paused` to false, or by a new url. */
  update(command: CommandOf<'update_webhook'>): OutcomeOf<'update_webhook'> {
    const { webhookId, patch, urlProblem } = command
    if (urlProblem !== undefined) return { type: 'invalid_url', problem: urlProblem }
    const before = this.#find(webhookId)
    if (before !== undefined && !allowsRecord(command, WEBHOOK, before)) return { type: 'record_changed' }
    return this.#change('change webhook', command, (webhook) => {
      const { off: _, ...progressWhenOn } = webhook.progress
      const hasNewUrl = patch.url !== undefined && patch.url !== webhook.url
      const isTurnedOn = patch.paused === false || hasNewUrl
      return { ...webhook, ...patch, progress: isTurnedOn ? progressWhenOn : webhook.progress }
    })
  }

  rotateSecret(command: CommandOf<'rotate_webhook_secret'>): OutcomeOf<'rotate_webhook_secret'> {
    const { secret, at } = command
    return this.#change('rotate webhook secret', command, (webhook) => ({
      ...webhook,
      secret,
      oldSecret: { secret: webhook.secret, until: at + OLD_SECRET_HOURS * HOUR },
    }))
  }

  /** Moves the cursor back only, and not before a pending relist is delivered: no event is skipped. */
  replay(command: CommandOf<'replay_webhook'>): OutcomeOf<'replay_webhook'> {
    return this.#change('replay webhook', command, (webhook) => {
      const { cursor } = command
      const { progress } = webhook
      const isRepeat = progress.relistAt === undefined && isEarlierCursor(cursor, progress.cursor)
      if (!isRepeat) return webhook
      // The events of the other held pets are among those that are sent again.
      const held = progress.held.filter((pet) => isEarlierCursor(pet.cursor, cursor))
      return { ...webhook, progress: { ...progress, cursor, held } }
    })
  }

  /** From now on, the webhook belongs to the key that runs the command. */
  takeOver(command: CommandOf<'take_over_webhook'>): OutcomeOf<'take_over_webhook'> {
    return this.#change('take over webhook', command, ({ owner: _, ...webhook }) => ({
      ...webhook,
      createdBy: command.keyId,
    }))
  }

  remove(command: CommandOf<'remove_webhook'>): OutcomeOf<'remove_webhook'> {
    const { webhookId } = command
    const webhook = this.#find(webhookId)
    if (webhook === undefined) return { type: 'unknown_webhook' }
    if (!allowsRecord(command, WEBHOOK, webhook)) return { type: 'record_changed' }
    this.#log('remove webhook', webhook, command)
    this.webhooks.set(webhookId, undefined)
    return { type: 'done' }
  }

  /** Every change clears the failures, so that the next attempts are made at once. */
  #change(
    action: WebhookAction,
    command: Command & { readonly webhookId: bigint },
    applyChange: (webhook: Webhook) => Webhook,
  ): WebhookDone | UnknownWebhook {
    const webhook = this.#find(command.webhookId)
    if (webhook === undefined) return { type: 'unknown_webhook' }
    const { failingSince: _, retryAt: __, ...progress } = webhook.progress
    const held = progress.held.map(({ petId, cursor }) => ({ petId, cursor }))
    const changed = applyChange({ ...webhook, progress: { ...progress, held } })
    const detail = describeChange(webhook, changed)
    this.#log(action, webhook, command, detail)
    if (changed.createdBy !== webhook.createdBy) this.#log(action, changed, command, detail)
    return this.#put({ ...changed, revision: webhook.revision + 1 })
  }

  #put(webhook: Webhook): WebhookDone {
    this.webhooks.set(webhook.id, webhook)
    return { type: 'done', webhook }
  }

  #log(action: WebhookAction, webhook: Webhook, { keyId: actorId, at }: Command, change = ''): void {
    const keyId = webhook.createdBy ?? actorId
    const detail = `webhook ${webhook.id} (${hostOf(webhook)})${change === '' ? '' : `: ${change}`}`
    this.audit.push({ keyId, actorId, action, detail, at })
  }

  #count(): number {
    const ids = new Set([...this.#locked.keys(), ...this.webhooks.keys()])
    return [...ids].filter((id) => this.#find(id) !== undefined).length
  }

  #find(id: bigint): Webhook | undefined {
    return this.webhooks.has(id) ? this.webhooks.get(id) : this.#locked.get(id)
  }
}

/** The path of the url may contain a secret. */
function hostOf({ url }: Webhook): string {
  return URL.parse(url)?.host ?? 'no address'
}

function describeChange(before: Webhook, after: Webhook): string {
  return [
    ['host', hostOf(before), hostOf(after)],
    ['kinds', before.kinds.join(), after.kinds.join()],
    ['paused', before.paused ? 'yes' : 'no', after.paused ? 'yes' : 'no'],
    ['key', before.createdBy ?? 'none', after.createdBy ?? 'none'],
  ]
    .filter(([, old, current]) => old !== current)
    .map(([field, old, current]) => `${field}: ${old} → ${current}`)
    .join('; ')
}
