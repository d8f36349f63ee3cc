import { randomBytes, randomInt } from 'node:crypto'
import Type from 'typebox'
import { type ApiKey, keyState } from '../keys/api-key.ts'
import { ORDER_WEBHOOKS, orderWebhookKind } from '../orders/order.ts'
import type { StockEvent } from '../stock/stock-event.ts'
import { notFound, type ServiceError } from '../values/errors.ts'
import { DateTime, Int64, ListOf, type RecordOf, Text, updateOf } from '../values/field.ts'
import { MAX_URL_LENGTH, URL_DESCRIPTION } from './webhook-url.ts'

/** The events that a webhook can subscribe to; part of the contract. */
export const WEBHOOK_KINDS = [
  'stock.changed',
  'stock.low',
  'stock.recovered',
  ...ORDER_WEBHOOKS.map(({ kind }) => kind),
  'pet.changed',
  'pet.removed',
  'category.changed',
] as const
export type WebhookKind = (typeof WEBHOOK_KINDS)[number]

/** For the whole store. Earlier versions allowed more, which continue. */
export const MAX_WEBHOOKS = 10
/** How long a receiver may refuse a single event before the event is parked, or everything before the webhook is turned off. */
export const GIVE_UP_DAYS = 3
/** How long deliveries are also signed with the old secret after a rotation. */
export const OLD_SECRET_HOURS = 24
/** From the first connection of an attempt until the status of the response has arrived. */
export const RESPONSE_TIMEOUT_SECONDS = 15

const SETTABLE = {
  url: Text(
    {
      minLength: 1,
      maxLength: MAX_URL_LENGTH,
      description: URL_DESCRIPTION,
    },
    'an address such as https://shop.example/hooks',
    (url) => url !== '',
  ),
  kinds: ListOf(
    WEBHOOK_KINDS,
    { title: 'WebhookKind', description: 'A kind of event that a webhook can receive.' },
    { description: 'The kinds of events that the webhook receives.' },
  ),
  paused: Type.Boolean({
    description: 'While the webhook is paused, nothing is sent. Afterwards it continues where it stopped.',
  }),
}

/** The fields of a webhook that callers see. */
export const WEBHOOK = {
  id: Int64('Identifier of the webhook.'),
  ...SETTABLE,
  createdAt: DateTime('When the webhook was created, in UTC.'),
  createdBy: Type.Optional(
    Type.String({
      description: 'The id of the key that the webhook belongs to; absent for webhooks of early versions.',
    }),
  ),
}

export const NEW_WEBHOOK = { url: SETTABLE.url, kinds: SETTABLE.kinds }

export const WEBHOOK_UPDATE = updateOf(SETTABLE)
export type WebhookPatch = RecordOf<typeof WEBHOOK_UPDATE>

export interface Webhook extends RecordOf<typeof WEBHOOK> {
  /** The key that the webhook belongs to, as it was read with the webhook. Absent if no key created the webhook. */
  readonly owner?: WebhookOwner
  /** `whsec_` followed by the signing key in base64. */
  readonly secret: string
  readonly oldSecret?: { readonly secret: string; readonly until: number }
  readonly progress: WebhookProgress
  /**
   * Incremented by every change that a caller makes and by every new lease. A delivery that has read an earlier revision cannot
   * save its progress.
   */
  readonly revision: number
}

export type WebhookOwner = Pick<ApiKey, 'id' | 'permissions' | 'expiresAt' | 'revokedAt' | 'pausedAt'>

export interface WebhookProgress {
  /** Every event up to this cursor has been delivered or parked, except those of the held pets. */
  readonly cursor: string
  readonly held: readonly HeldPet[]
  /** When the pending relist was created; absent if none is pending. A relist asks the receiver to read the list again. */
  readonly relistAt?: number
  /** When the first attempt failed since the last success. */
  readonly failingSince?: number
  /** When the next retry is due. */
  readonly retryAt?: number
  readonly off?: { readonly at: number; readonly reason: string }
}

/** A pet whose events wait, because the receiver refused one of them. */
export interface HeldPet {
  /** `undefined` for the events that are about no pet. */
  readonly petId: bigint | undefined
  /** The next event of the pet is the first one after this cursor. */
  readonly cursor: string
  /** The failure of that event; absent if it is to be sent at once. */
  readonly failure?: DeliveryFailure
}

export interface DeliveryFailure {
  readonly since: number
  readonly attempts: number
  readonly retryAt: number
}

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** A webhook that receives the events after the cursor. */
export function newWebhook(settings: Pick<Webhook, 'url' | 'kinds' | 'createdAt'>, cursor: string): Webhook {
  return {
    ...settings,
    // In the unlikely case that another webhook has this random id, the commit fails.
    id: BigInt(randomInt(1_000_000_000, 10_000_000_000)),
    paused: false,
    secret: newSecret(),
    revision: 1,
    progress: { cursor, held: [] },
  }
}

/** The secrets that sign deliveries at this time, newest first. */
export function secretsAt({ secret, oldSecret }: Webhook, now: number): string[] {
  return oldSecret !== undefined && oldSecret.until > now ? [secret, oldSecret.secret] : [secret]
}

/** Why the key of the webhook pauses it; `undefined` if the key may have webhooks. */
export function findOwnerProblem({ owner }: Webhook, now: number): string | undefined {
  if (owner === undefined) return undefined
  const state = keyState(owner, now)
  if (state !== 'active') return `its key ${owner.id} is ${state}`
  return owner.permissions.includes('webhooks')
    ? undefined
    : `its key ${owner.id} lacks the permission "webhooks"`
}

export function isActive(webhook: Webhook, now: number): boolean {
  const { paused, progress } = webhook
  return !paused && progress.off === undefined && findOwnerProblem(webhook, now) === undefined
}

/** When the next attempt is due; `undefined` if deliveries do not fail, or if the webhook is not active. */
export function retryAtOf(webhook: Webhook, now: number): number | undefined {
  return isActive(webhook, now) ? webhook.progress.retryAt : undefined
}

const KIND_BY_EVENT = {
  change: 'stock.changed',
  low: 'stock.low',
  recovered: 'stock.recovered',
  pet: 'pet.changed',
  removed: 'pet.removed',
  category: 'category.changed',
  relist: 'relist',
} as const satisfies Readonly<Record<Exclude<StockEvent['kind'], 'order'>, WebhookKind | 'relist'>>

export function webhookKindOf(event: StockEvent): WebhookKind | 'relist' {
  return event.kind === 'order' ? orderWebhookKind(event.change) : KIND_BY_EVENT[event.kind]
}

/** A `relist` is delivered to all webhooks. */
export function receivesEvent({ kinds }: Pick<Webhook, 'kinds'>, event: StockEvent): boolean {
  const kind = webhookKindOf(event)
  return kind === 'relist' || kinds.includes(kind)
}

export function webhookNotFound(id: bigint): ServiceError {
  return notFound(`webhook ${id} does not exist; GET /webhooks lists all webhooks`)
}
