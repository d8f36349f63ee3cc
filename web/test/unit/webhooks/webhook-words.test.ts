import { describe, expect, test } from 'bun:test'
import { PetstoreError, type Webhook, type WebhookKind } from '@petstore/client'
import {
  behindWords,
  conditionOf,
  FIRST_KINDS,
  KIND_GROUPS,
  KIND_WORDS,
  kindsWords,
  nextAttemptWords,
  offWords,
  refusalOf,
  subjectWords,
  troubleWords,
} from '../../../src/staff-page/data/webhooks/webhook-words.ts'

const NOW = Date.UTC(2026, 10, 16, 12)
const ago = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString()

function webhook(more: Partial<Webhook> = {}): Webhook {
  return {
    id: 1n,
    url: 'https://shop.example/hooks',
    kinds: FIRST_KINDS,
    paused: false,
    state: 'on',
    createdAt: ago(600),
    behind: { events: 0 },
    heldPets: 0,
    ...more,
  }
}

const FAILING = webhook({ failingSince: ago(5), retryAt: ago(-2), behind: { events: 1_200, since: ago(5) } })
const OFF = webhook({ state: 'off', offAt: ago(3), offReason: 'the receiver answered 410 Gone' })

test('every kind is in one group, and has words', () => {
  const grouped = KIND_GROUPS.flatMap(({ kinds }) => kinds)
  expect(grouped).toHaveLength(Object.keys(KIND_WORDS).length)
  expect(new Set<string>(grouped)).toEqual(new Set(Object.keys(KIND_WORDS)))
})

test.each<[readonly WebhookKind[], string]>([
  [FIRST_KINDS, 'Sends all about stock'],
  [['order.created', 'stock.low'], 'Sends low stock, new orders'],
  [['pet.changed', 'pet.removed', 'stock.changed'], 'Sends quantities, all about pets'],
  [KIND_GROUPS.flatMap(({ kinds }) => kinds), 'Sends everything'],
])('%j is told in a line', (kinds, words) => expect(kindsWords(kinds)).toBe(words))

test('a delivery says what it told of, a test that it is one, and an unknown type is named as it is', () => {
  expect(subjectWords({ type: 'stock.low', messageId: 'evt_1' })).toBe('A pet is low')
  expect(subjectWords({ type: 'stock.low', messageId: 'test_1' })).toBe('Test: A pet is low')
  expect(subjectWords({ type: 'webhook.test', messageId: 'test_1' })).toBe('Test event')
  expect(subjectWords({ type: 'relist', messageId: 'relist_1' })).toBe('Load the whole list again')
  expect(subjectWords({ type: 'shelf.moved', messageId: 'evt_1' })).toBe('shelf.moved')
})

describe('how a webhook stands', () => {
  test('in a word', () => {
    const all = [webhook(), FAILING, webhook({ state: 'paused', paused: true }), OFF]
    expect(all.map(conditionOf)).toEqual(['on', 'failing', 'paused', 'off'])
    expect(conditionOf({ ...FAILING, state: 'off' })).toBe('off')
    expect(conditionOf(webhook({ heldPets: 1, retryAt: ago(-2) }))).toBe('failing')
    expect(conditionOf(webhook({ heldPets: 1 }))).toBe('on')
  })

  test.each([
    [{ events: 0 }, 'Up to date'],
    [{ events: 1, since: ago(0) }, '1 event waiting, the first just now'],
    [{ events: 1_200, since: ago(5) }, '1,200 events waiting, the first 5 minutes ago'],
    [{ events: 2 }, '2 events waiting'],
  ])('behind by %j', (behind, words) => expect(behindWords({ behind }, NOW)).toEqual(words))

  test('when the next attempt is, where one failed', () => {
    expect(nextAttemptWords(FAILING, NOW)).toBe('Next attempt in 120 s')
    expect(nextAttemptWords(FAILING, NOW + 200_000)).toBe('Next attempt now')
    expect(nextAttemptWords(webhook(), NOW)).toBeUndefined()
    expect(nextAttemptWords({ ...FAILING, state: 'paused' }, NOW)).toBeUndefined()
  })

  test('what is wrong, and what to do', () => {
    expect(troubleWords(webhook(), NOW)).toBeUndefined()
    expect(troubleWords(FAILING, NOW)).toMatch(/^Failing since .*Nothing is lost.*turned off\.$/)
    const orphan = webhook({ state: 'paused', pauseReason: 'its key key_1 is revoked' })
    expect(troubleWords(orphan, NOW)).toStartWith('Paused, because its key key_1 is revoked.')
    expect(troubleWords(OFF, NOW)).toMatch(
      /^Turned off 3 minutes ago: the receiver answered 410 Gone\. .*turn it on/,
    )
  })

  test('one line for the page, and only where one is off', () => {
    expect(offWords([webhook(), FAILING])).toBeUndefined()
    expect(offWords([webhook(), OFF])).toMatch(/^The webhook to shop\.example is turned off/)
    expect(offWords([OFF, OFF])).toMatch(/^2 webhooks are turned off/)
  })
})

test.each([
  ['url must begin with https://', 'url', 'The address must begin with https://.'],
  ['kinds must be a list', 'kinds', 'The choice of events must be a list.'],
  ['there are 100 webhooks; remove one first', undefined, 'There are 100 webhooks; remove one first.'],
] as const)('what the service says of %j is shown at its field', (said, field, words) => {
  const error = new PetstoreError('invalid_request', said, { request: 'POST /webhooks', field })
  expect(refusalOf(error)).toEqual({ field, words })
})

test('what has nothing to do with a field is said of webhooks, not of pets', () => {
  const refused = (code: 'not_found' | 'forbidden') =>
    refusalOf(new PetstoreError(code, 'answered', { request: 'PATCH /webhooks/1' }))
  expect(refused('not_found')).toEqual({ field: undefined, words: 'Somebody else has removed this webhook.' })
  expect(refused('forbidden').words).toContain('may not change webhooks')
  const lost = { request: 'POST /webhooks', mayHaveBeenMade: true }
  expect(refusalOf(new PetstoreError('connection_failed', 'got no answer', lost)).words).toContain(
    'Not sure it was saved',
  )
})
