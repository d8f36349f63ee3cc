import { describe, expect, test } from 'bun:test'
import type { Webhook, WebhookDelivery } from '@petstore/client'
import type { LiveList } from '../../../src/staff-page/data/live-list.ts'
import { Webhooks } from '../../../src/staff-page/data/webhooks/webhooks.ts'

const AT = '2026-11-16T12:00:00.000Z'

function delivery(id: number): WebhookDelivery {
  return {
    id: String(id),
    attempt: 1,
    messageId: `evt_${id}`,
    type: 'stock.changed',
    at: AT,
    durationMs: 1,
    delivered: true,
    status: 204,
    response: '',
  }
}

const { signal } = new AbortController()
const refuse = () => Promise.reject(new Error('not in this test'))
const NO_CALLS = {
  list: refuse,
  create: refuse,
  update: refuse,
  remove: refuse,
  rotateSecret: refuse,
  replay: refuse,
  takeOver: refuse,
  test: refuse,
  deliveries: refuse,
}

/** The attempts that a service has kept, in pages of two. */
class KeptAttempts {
  latest = 0
  isDown = false
  requests = 0

  openList() {
    return new Webhooks(
      { ...NO_CALLS, deliveries: (_, { cursor }) => this.#read(cursor) },
      signal,
    ).deliveries(1n)
  }

  async #read(cursor: string | undefined) {
    this.requests++
    if (this.isDown) throw new Error('no connection')
    const from = cursor === undefined ? this.latest : Number(cursor) - 1
    const items = [from, from - 1].filter((id) => id > 0).map(delivery)
    return { items, next: from > 2 ? items.at(-1)?.id : undefined }
  }
}

describe('the deliveries of a webhook', () => {
  const shown = (list: LiveList<WebhookDelivery>) => list.get().rows.map(({ id }) => Number(id))
  const hasMore = (list: LiveList<WebhookDelivery>) => list.get().next !== undefined

  test('load page by page, and newer ones come before them', async () => {
    const kept = new KeptAttempts()
    const list = kept.openList()
    kept.latest = 5
    await list.reload()
    expect([shown(list), hasMore(list)]).toEqual([[5, 4], true])
    await list.loadMore()
    kept.latest = 6
    await list.reload()
    expect([shown(list), hasMore(list)]).toEqual([[6, 5, 4, 3, 2], true])
    await list.loadMore()
    expect([shown(list), hasMore(list)]).toEqual([[6, 5, 4, 3, 2, 1], false])
    const { requests } = kept
    await list.loadMore()
    expect(kept.requests).toBe(requests)
  })

  test('never have a gap: if there is more than a page of newer ones, the list starts again', async () => {
    const kept = new KeptAttempts()
    const list = kept.openList()
    kept.latest = 3
    await list.reload()
    await list.loadMore()
    kept.latest = 9
    // Both are requested at once, and run one after the other.
    await Promise.all([list.reload(), list.loadMore()])
    expect([shown(list), hasMore(list)]).toEqual([[9, 8, 7, 6], true])
  })

  test('stay if a request fails, and it can be repeated', async () => {
    const kept = new KeptAttempts()
    const list = kept.openList()
    kept.latest = 2
    await list.reload()
    kept.isDown = true
    await list.reload()
    expect([shown(list), list.get().failure]).toEqual([[2, 1], 'no connection'])
    kept.isDown = false
    await list.reload()
    expect(list.get()).toMatchObject({ failure: undefined, isLoading: false })
  })
})

describe('the list of webhooks', () => {
  const webhook = (id: bigint, more: Partial<Webhook> = {}): Webhook => ({
    id,
    url: 'https://shop.example/',
    kinds: ['stock.low'],
    paused: false,
    state: 'on',
    createdAt: AT,
    behind: { events: 0 },
    heldPets: 0,
    ...more,
  })

  /** A service with one webhook. The response to a request for the list can be held back. */
  function open() {
    let first = webhook(1n)
    let held: Promise<void> | undefined
    const webhooks = new Webhooks(
      {
        ...NO_CALLS,
        list: async () => {
          const items = [first]
          await held
          return { items, next: undefined }
        },
        update: async (_, { paused = false }) => {
          first = webhook(1n, { paused, state: paused ? 'paused' : 'on' })
          return first
        },
        create: async (draft) => ({ ...webhook(2n), ...draft, secret: 'whsec_first' }),
        rotateSecret: async (id) => ({ ...webhook(BigInt(id)), secret: 'whsec_next' }),
        remove: async () => {},
      },
      signal,
    )
    return { webhooks, hold: (until: Promise<void>) => (held = until) }
  }

  test('a reload that began before a change does not undo it', async () => {
    const { webhooks, hold } = open()
    await webhooks.list.reload()
    const answer = Promise.withResolvers<void>()
    hold(answer.promise)
    const reload = webhooks.list.reload()
    await webhooks.update(1n, { paused: true })
    answer.resolve()
    await reload
    expect(webhooks.list.get().rows.map(({ state }) => state)).toEqual(['paused'])
  })

  test('a change is under way until it is answered', async () => {
    const { webhooks } = open()
    const change = webhooks.update(1n, { paused: true })
    expect(webhooks.isWorking()).toBe(true)
    await change
    expect(webhooks.isWorking()).toBe(false)
  })

  test('a secret stays until the user has kept it, and is in no webhook of the list', async () => {
    const { webhooks } = open()
    await webhooks.list.reload()
    await webhooks.create({ url: 'https://shop.example/b', kinds: ['stock.low'] })
    await webhooks.rotateSecret(1n)
    expect([...webhooks.secrets.get()]).toEqual([
      [2n, 'whsec_first'],
      [1n, 'whsec_next'],
    ])
    expect(webhooks.list.get().rows.some((row) => 'secret' in row)).toBe(false)
    webhooks.hideSecret(1n)
    await webhooks.remove(2n)
    expect(webhooks.list.get().rows).toMatchObject([{ id: 1n }])
    expect(webhooks.secrets.get().size).toBe(0)
  })
})
