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

/** In the whole store. */
export const MAX_WEBHOOKS = 100
/** Created by one key, so that one key cannot use up the limit of the store. Does not apply to the command line. */
export const MAX_WEBHOOKS_PER_KEY = 10
export const MAX_URL_LENGTH = 2_000
/** How long deliveries are also signed with the old secret after a rotation. */
export const OLD_SECRET_MS = 24 * 60 * 60 * 1_000

export interface Webhook {
  readonly id: bigint
  readonly url: string
  readonly kinds: readonly WebhookKind[]
  readonly paused: boolean
  readonly createdAt: number
  /** The id of the key that created it; `undefined` if it was created before this was recorded. */
  readonly createdBy?: string
  /** `whsec_` followed by the signing key in base64. */
  readonly secret: string
  readonly oldSecret?: { readonly secret: string; readonly until: number }
  readonly progress: WebhookProgress
  /** Incremented by every change of a caller. Progress of an earlier revision is not saved. */
  readonly revision: number
}

export interface WebhookProgress {
  /** Every event up to this cursor has been delivered. */
  readonly cursor: string
  /** If a relist is due, because the log was pruned past the cursor: since when. */
  readonly relistAt?: number
  /** The failure of the oldest undelivered event. */
  readonly failure?: DeliveryFailure
  /** If the webhook was turned off: when and why. */
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

/** A random id. In the unlikely case that it is taken, the commit rejects it. */
export function newWebhookId(): bigint {
  return BigInt(randomInt(1_000_000_000, 10_000_000_000))
}

/** The secrets to sign with at this time, newest first. */
export function secretsAt({ secret, oldSecret }: Webhook, now: number): string[] {
  return oldSecret !== undefined && oldSecret.until > now ? [secret, oldSecret.secret] : [secret]
}

export function isActive({ paused, progress }: Webhook): boolean {
  return !paused && progress.off === undefined
}

const ORDER_KINDS: ReadonlyMap<OrderChange, OrderWebhookKind> = new Map(
  ORDER_WEBHOOKS.map(({ change, kind }) => [change, kind]),
)

const KINDS = {
  change: 'stock.changed',
  low: 'stock.low',
  recovered: 'stock.recovered',
  pet: 'pet.changed',
  removed: 'pet.removed',
  relist: 'relist',
} as const satisfies Readonly<Record<Exclude<StockEvent['kind'], 'order'>, WebhookKind | 'relist'>>

/** `undefined` if the event is not delivered to webhooks. A `relist` is delivered to all of them. */
export function kindOf(event: StockEvent): WebhookKind | 'relist' | undefined {
  return event.kind === 'order' ? ORDER_KINDS.get(event.change) : KINDS[event.kind]
}

export function petOf(event: StockEvent): bigint | undefined {
  if (event.kind === 'relist') return undefined
  return event.kind === 'order' ? event.order.petId : event.petId
}

export function webhookNotFound(id: bigint): ServiceError {
  return new ServiceError('not_found', `webhook ${id} does not exist; GET /webhooks lists all webhooks`)
}

const EXAMPLE_URL = 'https://shop.example/hooks'
/** URL.parse silently removes some of these, so the stored url would differ from the one that was sent. */
const BLANK_OR_CONTROL = /[\s\p{Cc}]/u
const SCHEME_AND_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i
const PORT = /^[^/?#]*:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/

/** Returns the url in normal form, or its problem. Whether the url may be called is up to the sender. */
export function normalizeUrl(text: string): { readonly url: string } | { readonly problem: string } {
  const problem = problemOf(text)
  if (problem !== undefined) return { problem }
  const parsed = URL.parse(text)
  if (parsed === null) return { problem: parseProblemOf(text) }
  if (parsed.username !== '' || parsed.password !== '') {
    return { problem: 'must not contain a user name or a password; deliveries are signed instead' }
  }
  // Percent-encoding makes it longer.
  return parsed.href.length > MAX_URL_LENGTH ? { problem: tooLong(parsed.href) } : { url: parsed.href }
}

function problemOf(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return tooLong(text)
  const unwanted = BLANK_OR_CONTROL.exec(text)
  if (unwanted !== null) {
    return `must not contain blanks or control characters, got ${codePoint(unwanted[0])} at position ${unwanted.index + 1}; percent-encode it`
  }
  if (!text.isWellFormed()) return 'must be valid Unicode, got half of a surrogate pair'
  if (text.includes('\\')) return 'must not contain a backslash; separate the parts of the path with /'
  if (!SCHEME_AND_HOST.test(text)) {
    return `must be an absolute url with a scheme and a host, such as ${EXAMPLE_URL}, got ${shortened(text)}`
  }
  return undefined
}

function parseProblemOf(text: string): string {
  const port = PORT.exec(text)?.[1]
  return port !== undefined && Number(port) > 65_535
    ? `must have a port of at most 65535, got ${shortened(port)}`
    : `must have a valid host name and port, such as ${EXAMPLE_URL}, got ${shortened(text)}`
}

function tooLong({ length }: string): string {
  return `must have at most ${MAX_URL_LENGTH} characters, got ${length}`
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

function shortened(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
