import { isPetstoreError, type Webhook, type WebhookKind } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { agoWords, momentWords, untilWords } from '../time-words.ts'

interface KindGroup {
  readonly title: string
  /** Where all of it is chosen. */
  readonly whole: string
  readonly kinds: readonly WebhookKind[]
}

export const KIND_GROUPS: readonly KindGroup[] = [
  {
    title: 'Stock',
    whole: 'all about stock',
    kinds: ['stock.changed', 'stock.low', 'stock.recovered'],
  },
  {
    title: 'Orders',
    whole: 'all about orders',
    kinds: ['order.created', 'order.completed', 'order.cancelled', 'order.expired'],
  },
  { title: 'Pets', whole: 'all about pets', kinds: ['pet.changed', 'pet.removed'] },
]

/** What keeps another shop in step, and warns before a shelf is empty. */
export const FIRST_KINDS: readonly WebhookKind[] = ['stock.changed', 'stock.low', 'stock.recovered']

/** As a choice in the form, and as the subject of a delivery. */
export const KIND_WORDS: Readonly<Record<WebhookKind, string>> = {
  'stock.changed': 'A quantity changed',
  'stock.low': 'A pet is low',
  'stock.recovered': 'A pet is no longer low',
  'order.created': 'An order was made',
  'order.completed': 'An order was completed',
  'order.cancelled': 'An order was cancelled',
  'order.expired': 'A hold ran out',
  'pet.changed': 'A pet was added or edited',
  'pet.removed': 'A pet was removed',
}

const SHORT_WORDS: Readonly<Record<WebhookKind, string>> = {
  'stock.changed': 'quantities',
  'stock.low': 'low stock',
  'stock.recovered': 'stock no longer low',
  'order.created': 'new orders',
  'order.completed': 'completed orders',
  'order.cancelled': 'cancelled orders',
  'order.expired': 'holds that ran out',
  'pet.changed': 'added and edited pets',
  'pet.removed': 'removed pets',
}

/** Everything a webhook is told of, in a line. */
export function kindsWords(kinds: readonly WebhookKind[]): string {
  if (KIND_GROUPS.every((group) => isWhole(group, kinds))) return 'Told of everything'
  const parts = KIND_GROUPS.flatMap((group) =>
    isWhole(group, kinds)
      ? [group.whole]
      : group.kinds.filter((kind) => kinds.includes(kind)).map((kind) => SHORT_WORDS[kind]),
  )
  return `Told of ${parts.join(', ')}`
}

function isWhole(group: KindGroup, kinds: readonly WebhookKind[]): boolean {
  return group.kinds.every((kind) => kinds.includes(kind))
}

/** What a delivery told of; the types of a service that is newer than the page are named as they are. */
export function subjectWords({ type, messageId }: { type: string; messageId: string }): string {
  if (type === 'webhook.test') return 'Test'
  const words = Object.entries(KIND_WORDS).find(([kind]) => kind === type)?.[1]
  const subject = type === 'relist' ? 'Read the whole list again' : (words ?? type)
  return messageId.startsWith('test_') ? `Test: ${subject}` : subject
}

export type WebhookCondition = 'on' | 'failing' | 'paused' | 'off'

export function conditionOf({ state, failingSince }: Webhook): WebhookCondition {
  return state === 'on' && failingSince !== undefined ? 'failing' : state
}

export const CONDITION_WORDS: Readonly<Record<WebhookCondition, string>> = {
  on: 'On',
  failing: 'Failing',
  paused: 'Paused',
  off: 'Off',
}

/** How far it is behind, in events and in time. */
export function behindWords({ behind }: Pick<Webhook, 'behind'>, now: number): string {
  const { events, since } = behind
  if (events === 0) return 'Up to date'
  const count = events === 1 ? '1 event behind' : `${events.toLocaleString('en')} events behind`
  return since === undefined ? count : `${count}, the first of them ${agoWords(Date.parse(since), now)}`
}

/** When what failed is tried again; `undefined` where nothing waits for that. */
export function nextAttemptWords(webhook: Webhook, now: number): string | undefined {
  if (conditionOf(webhook) !== 'failing' || webhook.retryAt === undefined) return undefined
  const at = Date.parse(webhook.retryAt)
  return at <= now ? 'Next attempt now' : `Next attempt ${untilWords(at, now)}`
}

/** What is wrong with it and what to do; `undefined` where nothing is. */
export function troubleWords(webhook: Webhook, now: number): string | undefined {
  const { failingSince, offAt, offReason } = webhook
  const condition = conditionOf(webhook)
  if (condition === 'off') {
    const when = offAt === undefined ? '' : ` ${agoWords(Date.parse(offAt), now)}`
    const why = offReason === undefined ? '' : `: ${offReason}`
    return `Turned off${when}${why}. Nothing is sent any more. Have the receiver mended, send a test, then turn it on again: it goes on from where it stopped.`
  }
  if (condition === 'failing' && failingSince !== undefined) {
    return `Failing since ${momentWords(Date.parse(failingSince))}. Nothing is lost: it is tried again by itself, and goes on from where it stopped. The deliveries show what came back. After 3 days it is turned off.`
  }
  return undefined
}

/** One line for the whole page; `undefined` where none is off. */
export function offWords(webhooks: readonly Webhook[]): string | undefined {
  const off = webhooks.filter(({ state }) => state === 'off')
  const [first] = off
  if (first === undefined) return undefined
  if (off.length > 1) return `${off.length} webhooks are turned off: what happens is not sent there any more.`
  return `The webhook to ${hostOf(first.url)} is turned off: what happens is not sent there any more.`
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url
}

/** A refused request in words, and the field that it is about. */
export interface Refusal {
  readonly field: 'url' | 'kinds' | undefined
  readonly words: string
}

const FIELD_WORDS = { url: 'The address', kinds: 'What it is told of' } as const

export function refusalOf(error: unknown): Refusal {
  if (!isPetstoreError(error, 'invalid_request')) return { field: undefined, words: webhookFailure(error) }
  const said = error.message
  const field = (['url', 'kinds'] as const).find((name) => said.startsWith(`${name} `))
  const words = field === undefined ? capitalised(said) : FIELD_WORDS[field] + said.slice(field.length)
  return { field, words: `${words}.` }
}

/** What failed, in words for the one who pressed the button. */
export function webhookFailure(error: unknown): string {
  if (isPetstoreError(error) && error.mayHaveBeenMade)
    return 'No answer came, so it may have been done. Refresh the webhooks before you try again.'
  if (isPetstoreError(error, 'not_found')) return 'Somebody else has removed this webhook.'
  if (isPetstoreError(error, 'forbidden'))
    return 'This key may not change webhooks. Sign in with one that may.'
  return failureWords(error)
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
