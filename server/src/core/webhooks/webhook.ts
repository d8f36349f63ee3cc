import { randomBytes, randomInt } from 'node:crypto'
import { ORDER_WEBHOOKS, type OrderChange, type OrderWebhookKind } from '../orders/order.ts'
import type { StockEvent } from '../stock/stock-event.ts'
import { ServiceError } from '../values/errors.ts'

/** What a webhook can be told of; part of the contract. */
export const WEBHOOK_KINDS: readonly WebhookKind[] = [
  'stock.changed',
  'stock.low',
  'stock.recovered',
  ...ORDER_WEBHOOKS.map(({ kind }) => kind),
  'pet.changed',
  'pet.removed',
]
export type WebhookKind =
  | 'stock.changed'
  | 'stock.low'
  | 'stock.recovered'
  | OrderWebhookKind
  | 'pet.changed'
  | 'pet.removed'

/** In all of the store. */
export const MAX_WEBHOOKS = 100
/** That one key may have created: it takes many keys to fill the store. The command line has no such limit. */
export const MAX_WEBHOOKS_PER_KEY = 10
export const MAX_URL_LENGTH = 2_000
/** For so long after a rotation, deliveries are signed with the secret of before as well. */
export const OLD_SECRET_MS = 24 * 60 * 60 * 1_000

/** Somebody who is told of what happens by requests to their address. */
export interface Webhook {
  readonly id: bigint
  readonly url: string
  readonly kinds: readonly WebhookKind[]
  readonly paused: boolean
  readonly createdAt: number
  /** The id of the key that created it; `undefined` if it was created before this was recorded. */
  readonly createdBy?: string
  /** `whsec_` and what is signed with, in base64. */
  readonly secret: string
  readonly oldSecret?: { readonly secret: string; readonly until: number }
  readonly progress: WebhookProgress
  /** Another one with every change that a caller makes; what was begun before is not written down any more. */
  readonly revision: number
}

/** How far deliveries have come. */
export interface WebhookProgress {
  /** A place in the log: everything up to it has been delivered. */
  readonly cursor: string
  /** Since when it is due to be told that the place before was gone, and the list is to be read again. */
  readonly relistAt?: number
  /** Of the first that is not delivered, where that was tried. */
  readonly failure?: DeliveryFailure
  /** Where it was turned off, and why; until somebody turns it on again. */
  readonly off?: { readonly at: number; readonly reason: string }
}

export interface DeliveryFailure {
  readonly since: number
  readonly attempts: number
  readonly retryAt: number
}

export type WebhookPatch = Partial<Pick<Webhook, 'url' | 'kinds' | 'paused'>>

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** One that hardly any other has; the commit refuses it where one does. */
export function newWebhookId(): bigint {
  return BigInt(randomInt(1_000_000_000, 10_000_000_000))
}

/** What it is signed with at this time, the newest first. */
export function secretsAt({ secret, oldSecret }: Webhook, now: number): string[] {
  return oldSecret !== undefined && oldSecret.until > now ? [secret, oldSecret.secret] : [secret]
}

export function isServed({ paused, progress }: Webhook): boolean {
  return !paused && progress.off === undefined
}

const ORDER_KINDS: ReadonlyMap<OrderChange, OrderWebhookKind> = new Map(
  ORDER_WEBHOOKS.map(({ change, kind }) => [change, kind]),
)

/** Under which kind an event is told; `undefined` where it is told to nobody, and `relist` is told to everybody. */
export function kindOf(event: StockEvent): WebhookKind | 'relist' | undefined {
  if (event.kind === 'order') return ORDER_KINDS.get(event.change)
  if (event.kind === 'relist') return 'relist'
  return KINDS[event.kind]
}

const KINDS = {
  change: 'stock.changed',
  low: 'stock.low',
  recovered: 'stock.recovered',
  pet: 'pet.changed',
  removed: 'pet.removed',
} as const satisfies Readonly<Record<Exclude<StockEvent['kind'], 'order' | 'relist'>, WebhookKind>>

export function petOf(event: StockEvent): bigint | undefined {
  if (event.kind === 'relist') return undefined
  return event.kind === 'order' ? event.order.petId : event.petId
}

export function noWebhook(id: bigint): ServiceError {
  return new ServiceError('not_found', `there is no webhook ${id}; GET /webhooks lists those there are`)
}
