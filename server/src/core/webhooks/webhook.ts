import { randomBytes, randomInt } from 'node:crypto'
import Type from 'typebox'
import { ORDER_WEBHOOKS, type OrderChange, type OrderWebhookKind } from '../orders/order.ts'
import type { StockEvent } from '../stock/stock-event.ts'
import { DAY } from '../values/clock.ts'
import { notFound, type ServiceError } from '../values/errors.ts'
import { DateTime, Int64, ListOf, quote, type RecordOf, Text, updateOf } from '../values/field.ts'

/** The events that a webhook can subscribe to; part of the contract. */
export const WEBHOOK_KINDS = [
  'stock.changed',
  'stock.low',
  'stock.recovered',
  ...ORDER_WEBHOOKS.map(({ kind }) => kind),
  'pet.changed',
  'pet.removed',
] as const
export type WebhookKind = (typeof WEBHOOK_KINDS)[number]

/** The limit for the whole store. */
export const MAX_WEBHOOKS = 100
/** The limit for each key, so that one key cannot use up the limit of the store. Does not apply to the command line. */
export const MAX_WEBHOOKS_PER_KEY = 10
const MAX_URL_LENGTH = 2_000
/** How long deliveries are also signed with the old secret after a rotation. */
export const OLD_SECRET_MS = DAY

const SETTABLE = {
  url: Text(
    {
      minLength: 1,
      maxLength: MAX_URL_LENGTH,
      description:
        'The address that deliveries are sent to. It starts with https:// and is on the public internet, has no user name, and its port is 443, 80 or a port above 1024.',
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
}

export const NEW_WEBHOOK = { url: SETTABLE.url, kinds: SETTABLE.kinds }

export const WEBHOOK_UPDATE = updateOf(SETTABLE)
export type WebhookPatch = RecordOf<typeof WEBHOOK_UPDATE>

export interface Webhook extends RecordOf<typeof WEBHOOK> {
  /** The id of the key that created the webhook; absent for webhooks of early versions, which did not record it. */
  readonly createdBy?: string
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

export interface WebhookProgress {
  /** Every event up to this cursor has been delivered. */
  readonly cursor: string
  /** When the pending relist was created; absent if none is pending. A relist asks the receiver to read the list again. */
  readonly relistAt?: number
  /** The failure of the oldest undelivered event. */
  readonly failure?: DeliveryFailure
  readonly off?: { readonly at: number; readonly reason: string }
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
    progress: { cursor },
  }
}

/** The secrets that sign deliveries at this time, newest first. */
export function secretsAt({ secret, oldSecret }: Webhook, now: number): string[] {
  return oldSecret !== undefined && oldSecret.until > now ? [secret, oldSecret.secret] : [secret]
}

export function isActive({ paused, progress }: Webhook): boolean {
  return !paused && progress.off === undefined
}

/** When the next attempt is due; `undefined` if deliveries do not fail, or if the webhook is not active. */
export function retryAtOf(webhook: Webhook): number | undefined {
  return isActive(webhook) ? webhook.progress.failure?.retryAt : undefined
}

const KIND_BY_ORDER_CHANGE: ReadonlyMap<OrderChange, OrderWebhookKind> = new Map(
  ORDER_WEBHOOKS.map(({ change, kind }) => [change, kind]),
)

const KIND_BY_EVENT = {
  change: 'stock.changed',
  low: 'stock.low',
  recovered: 'stock.recovered',
  pet: 'pet.changed',
  removed: 'pet.removed',
  relist: 'relist',
} as const satisfies Readonly<Record<Exclude<StockEvent['kind'], 'order'>, WebhookKind | 'relist'>>

/** `undefined` if the event is not delivered to webhooks. */
export function webhookKindOf(event: StockEvent): WebhookKind | 'relist' | undefined {
  return event.kind === 'order' ? KIND_BY_ORDER_CHANGE.get(event.change) : KIND_BY_EVENT[event.kind]
}

/** A `relist` is delivered to all webhooks. */
export function receivesEvent({ kinds }: Pick<Webhook, 'kinds'>, event: StockEvent): boolean {
  const kind = webhookKindOf(event)
  return kind === 'relist' || (kind !== undefined && kinds.includes(kind))
}

export function webhookNotFound(id: bigint): ServiceError {
  return notFound(`webhook ${id} does not exist; GET /webhooks lists all webhooks`)
}

const EXAMPLE_URL = 'https://shop.example/hooks'
/** Rejected because URL.parse silently removes some of these characters, which would change the url. */
const BLANK_OR_CONTROL = /[\s\p{Cc}]/u
const SCHEME_AND_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i
const PORT = /^[^/?#]*:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/

/** Returns the url in normal form, or its problem. `WebhookSender.problemOf` checks whether deliveries to it are allowed. */
export function normalizeUrl(text: string): NormalizedUrl {
  const problem = findUrlProblem(text)
  if (problem !== undefined) return invalidUrl(problem)
  const parsed = URL.parse(text)
  if (parsed === null) return invalidUrl(describeParseProblem(text))
  if (parsed.username !== '' || parsed.password !== '') {
    return invalidUrl('must not contain a user name or a password; deliveries are signed instead')
  }
  // Percent-encoding can make the url longer.
  if (parsed.href.length > MAX_URL_LENGTH) return invalidUrl(describeTooLong(parsed.href))
  return { type: 'valid', url: parsed.href }
}

type NormalizedUrl =
  | { readonly type: 'valid'; readonly url: string }
  | { readonly type: 'invalid'; readonly problem: string }

function invalidUrl(problem: string): NormalizedUrl {
  return { type: 'invalid', problem }
}

function findUrlProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH) return describeTooLong(text)
  const invalidCharacter = BLANK_OR_CONTROL.exec(text)
  if (invalidCharacter !== null) {
    return `must not contain blanks or control characters, got ${formatCodePoint(invalidCharacter[0])} at position ${invalidCharacter.index + 1}; percent-encode it`
  }
  if (!text.isWellFormed()) return 'must be valid Unicode, got half of a surrogate pair'
  if (text.includes('\\')) return 'must not contain a backslash; separate the parts of the path with /'
  if (!SCHEME_AND_HOST.test(text)) {
    return `must be an absolute url with a scheme and a host, such as ${EXAMPLE_URL}, got ${quote(text)}`
  }
  return undefined
}

function describeParseProblem(text: string): string {
  const port = PORT.exec(text)?.[1]
  return port !== undefined && Number(port) > 65_535
    ? `must have a port of at most 65535, got ${quote(port)}`
    : `must have a valid host name and port, such as ${EXAMPLE_URL}, got ${quote(text)}`
}

function describeTooLong({ length }: string): string {
  return `must have at most ${MAX_URL_LENGTH} characters, got ${length}`
}

function formatCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
