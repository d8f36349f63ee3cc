import { isPetstoreError, type Webhook, type WebhookKind } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { agoWords, momentWords, untilWords } from '../time-words.ts'

interface KindGroup {
  readonly title: string
  readonly kinds: readonly WebhookKind[]
}

export const KIND_GROUPS: readonly KindGroup[] = [
  { title: 'Stock', kinds: ['stock.changed', 'stock.low', 'stock.recovered'] },
  {
    title: 'Orders',
    kinds: ['order.created', 'order.changed', 'order.completed', 'order.cancelled', 'order.expired'],
  },
  { title: 'Pets', kinds: ['pet.changed', 'pet.removed'] },
  { title: 'Categories', kinds: ['category.changed'] },
]

/** Keeps another shop in sync, and warns before a shelf is empty. */
export const FIRST_KINDS: readonly WebhookKind[] = ['stock.changed', 'stock.low', 'stock.recovered']

/** Names a kind in the form and in the list of deliveries. */
export const KIND_WORDS: Readonly<Record<WebhookKind, string>> = {
  'stock.changed': 'A quantity changed',
  'stock.low': 'A pet is low',
  'stock.recovered': 'A pet is no longer low',
  'order.created': 'An order was made',
  'order.changed': 'An order was edited',
  'order.completed': 'An order was completed',
  'order.cancelled': 'An order was cancelled',
  'order.expired': 'A hold ran out',
  'pet.changed': 'A pet was added or edited',
  'pet.removed': 'A pet was removed',
  'category.changed': 'A category was added, edited or removed',
}

const SHORT_WORDS: Readonly<Record<WebhookKind, string>> = {
  'stock.changed': 'quantities',
  'stock.low': 'low stock',
  'stock.recovered': 'stock no longer low',
  'order.created': 'new orders',
  'order.changed': 'edited orders',
  'order.completed': 'completed orders',
  'order.cancelled': 'cancelled orders',
  'order.expired': 'holds that ran out',
  'pet.changed': 'added and edited pets',
  'pet.removed': 'removed pets',
  'category.changed': 'categories',
}

export function kindsWords(kinds: readonly WebhookKind[]): string {
  if (KIND_GROUPS.every((group) => isWhole(group, kinds))) return 'Sends everything'
  const parts = KIND_GROUPS.flatMap((group) =>
    isWhole(group, kinds)
      ? [`all about ${group.title.toLowerCase()}`]
      : group.kinds.filter((kind) => kinds.includes(kind)).map((kind) => SHORT_WORDS[kind]),
  )
  return `Sends ${parts.join(', ')}`
}

function isWhole(group: KindGroup, kinds: readonly WebhookKind[]): boolean {
  return group.kinds.every((kind) => kinds.includes(kind))
}

/** The subject of a delivery. A type that this version of the page does not know keeps its technical name. */
export function subjectWords({ type, messageId }: { type: string; messageId: string }): string {
  if (type === 'webhook.test') return 'Test event'
  const words = Object.entries(KIND_WORDS).find(([kind]) => kind === type)?.[1]
  const subject = type === 'relist' ? 'Load the whole list again' : (words ?? type)
  return messageId.startsWith('test_') ? `Test: ${subject}` : subject
}

export type WebhookCondition = 'on' | 'failing' | 'paused' | 'off'

export function conditionOf({ state, failingSince, retryAt }: Webhook): WebhookCondition {
  // After a change, events that wait are sent at once, without a time of a retry.
  const isFailing = failingSince !== undefined || retryAt !== undefined
  return state === 'on' && isFailing ? 'failing' : state
}

export const CONDITION_WORDS: Readonly<Record<WebhookCondition, string>> = {
  on: 'On',
  failing: 'Failing',
  paused: 'Paused',
  off: 'Off',
}

/** How many events wait, and since when. */
export function behindWords({ behind }: Pick<Webhook, 'behind'>, now: number): string {
  const { events, since } = behind
  if (events === 0) return 'Up to date'
  const count = events === 1 ? '1 event waiting' : `${events.toLocaleString('en')} events waiting`
  return since === undefined ? count : `${count}, the first ${agoWords(Date.parse(since), now)}`
}

/** When the next attempt is; `undefined` if none is planned. */
export function nextAttemptWords(webhook: Webhook, now: number): string | undefined {
  if (conditionOf(webhook) !== 'failing' || webhook.retryAt === undefined) return undefined
  const at = Date.parse(webhook.retryAt)
  return at <= now ? 'Next attempt now' : `Next attempt ${untilWords(at, now)}`
}

/** What is wrong with it and what to do; `undefined` if nothing is wrong. */
export function troubleWords(webhook: Webhook, now: number): string | undefined {
  const { failingSince, heldPets, offAt, offReason } = webhook
  const condition = conditionOf(webhook)
  if (condition === 'paused' && webhook.pauseReason !== undefined) {
    return `Paused, because ${webhook.pauseReason}. Nothing is lost. Somebody who manages people can take the webhook over.`
  }
  if (condition === 'off') {
    const when = offAt === undefined ? '' : ` ${agoWords(Date.parse(offAt), now)}`
    const why = offReason === undefined ? '' : `: ${offReason}`
    return `Turned off${when}${why}. Nothing is sent any more. Get the receiver fixed, send a test event, then turn it on: it continues where it stopped.`
  }
  if (condition === 'failing' && failingSince !== undefined) {
    return `Failing since ${momentWords(Date.parse(failingSince))}. Nothing is lost: it retries by itself and continues where it stopped. The deliveries show the answers. If nothing is accepted for 3 days, it is turned off.`
  }
  if (condition === 'failing') {
    const pets = heldPets === 1 ? 'one pet' : `${heldPets.toLocaleString('en')} pets`
    return `The receiver refuses an event of ${pets}. Their later events wait; those of all other pets are sent. After 3 days the refused event is skipped and marked in the deliveries.`
  }
  return undefined
}

/** A line for the whole page; `undefined` if no webhook is off. */
export function offWords(webhooks: readonly Webhook[]): string | undefined {
  const off = webhooks.filter(({ state }) => state === 'off')
  const [first] = off
  if (first === undefined) return undefined
  if (off.length > 1) return `${off.length} webhooks are turned off: nothing is sent there any more.`
  return `The webhook to ${hostOf(first.url)} is turned off: nothing is sent there any more.`
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url
}

/** Why the service refused a form, and the field that is wrong. */
export interface Refusal {
  readonly field: 'url' | 'kinds' | undefined
  readonly words: string
}

const FIELD_WORDS = { url: 'The address', kinds: 'The choice of events' } as const

export function refusalOf(error: unknown): Refusal {
  if (!isPetstoreError(error, 'invalid_request')) return { field: undefined, words: webhookFailure(error) }
  const { message } = error
  const field = (['url', 'kinds'] as const).find((name) => name === error.field)
  // The message begins with the name of the field.
  const words = field === undefined ? capitalised(message) : FIELD_WORDS[field] + message.slice(field.length)
  return { field, words: `${words}.` }
}

export function webhookFailure(error: unknown): string {
  if (isPetstoreError(error) && error.mayHaveBeenMade)
    return 'Not sure it was saved. Refresh the webhooks before you try again.'
  return failureWords(error, {
    not_found: 'Somebody else has removed this webhook.',
    forbidden: 'This key may not change webhooks. Sign in with one that may.',
  })
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
