import { describe, expect, test } from 'bun:test'
import type { Webhook, WebhookDelivery } from '@petstore/client'
import { DeliveryList } from '../../../src/staff-page/data/webhooks/delivery-list.ts'
import { WebhookList } from '../../../src/staff-page/data/webhooks/webhook-list.ts'

const AT = '2026-11-16T12:00:00.000Z'

function delivery(id: number): WebhookDelivery {
  return {
    ...{ id: String(id), attempt: 1, messageId: `evt_${id}`, type: 'stock.changed', at: AT },
    ...{ durationMs: 1, delivered: true, status: 204, response: '' },
  }
}

/** Some attempts that a service has kept, given out in pages of two. */
class Kept {
  latest = 0
  isDown = false
  asked = 0

  readonly read = async (cursor: string | undefined) => {
    this.asked++
    if (this.isDown) throw new Error('no connection')
    const from = cursor === undefined ? this.latest : Number(cursor) - 1
    const items = [from, from - 1].filter((id) => id > 0).map(delivery)
    return { items, next: from > 2 ? items.at(-1)?.id : undefined }
  }
}

describe('the deliveries that are loaded', () => {
  const shown = (list: DeliveryList) => list.get().deliveries?.map(({ id }) => Number(id))

  test('come page by page, and what has come since is put before them', async () => {
    const kept = new Kept()
    const list = new DeliveryList(kept.read)
    kept.latest = 5
    await list.refresh()
    expect([shown(list), list.get().hasMore]).toEqual([[5, 4], true])
    await list.loadMore()
    kept.latest = 6
    await list.refresh()
    expect([shown(list), list.get().hasMore]).toEqual([[6, 5, 4, 3, 2], true])
    await list.loadMore()
    expect([shown(list), list.get().hasMore]).toEqual([[6, 5, 4, 3, 2, 1], false])
    const { asked } = kept
    await list.loadMore()
    expect(kept.asked).toBe(asked)
  })

  test('never have a gap: where more than a page has come since, they begin anew', async () => {
    const kept = new Kept()
    const list = new DeliveryList(kept.read)
    kept.latest = 3
    await list.refresh()
    await list.loadMore()
    kept.latest = 9
    // Both are asked for at once, and take their turns.
    await Promise.all([list.refresh(), list.loadMore()])
    expect([shown(list), list.get().hasMore]).toEqual([[9, 8, 7, 6], true])
  })

  test('stay where a look fails, and it can be tried again', async () => {
    const kept = new Kept()
    const list = new DeliveryList(kept.read)
    kept.latest = 2
    await list.refresh()
    kept.isDown = true
    await list.refresh()
    expect([shown(list), list.get().failure]).toEqual([[2, 1], 'no connection'])
    kept.isDown = false
    await list.refresh()
    expect(list.get()).toMatchObject({ failure: undefined, isLoading: false })
  })
})

describe('the webhooks that the page knows', () => {
  const webhook = (id: bigint, more: Partial<Webhook> = {}): Webhook => ({
    ...{ id, url: 'https://shop.example/', kinds: ['stock.low'], paused: false, state: 'on' },
    ...{ createdAt: AT, behind: { events: 0 }, ...more },
  })

  /** A service with one webhook; what it answers to a look can be held back. */
  function desk() {
    let first = webhook(1n)
    let held: Promise<void> | undefined
    const refuse = () => Promise.reject(new Error('not in this test'))
    const list = new WebhookList(
      {
        list: async () => {
          const told = [first]
          await held
          return { items: told, next: undefined }
        },
        update: async (_, { paused = false }) => {
          first = webhook(1n, { paused, state: paused ? 'paused' : 'on' })
          return first
        },
        create: async (draft) => ({ ...webhook(2n), ...draft, secret: 'whsec_first' }),
        rotateSecret: async (id) => ({ ...webhook(BigInt(id)), secret: 'whsec_next' }),
        remove: async () => {},
        test: refuse,
        deliveries: refuse,
      },
      new AbortController().signal,
    )
    return { list, hold: (until: Promise<void>) => (held = until) }
  }

  test('a look that began before a change does not bring back what was', async () => {
    const { list, hold } = desk()
    await list.refresh()
    const answer = Promise.withResolvers<void>()
    hold(answer.promise)
    const looking = list.refresh()
    await list.change(1n, { paused: true })
    answer.resolve()
    await looking
    expect(list.get().webhooks.map(({ state }) => state)).toEqual(['paused'])
  })

  test('a change is under way until it is answered', async () => {
    const { list } = desk()
    const changing = list.change(1n, { paused: true })
    expect(list.isWorking()).toBe(true)
    await changing
    expect(list.isWorking()).toBe(false)
  })

  test('a secret stays until somebody says that it is kept, and is in no webhook of the list', async () => {
    const { list } = desk()
    await list.refresh()
    const id = await list.create({ url: 'https://shop.example/b', kinds: ['stock.low'] })
    await list.rotateSecret(1n)
    expect([...list.get().secrets]).toEqual([
      [id, 'whsec_first'],
      [1n, 'whsec_next'],
    ])
    expect(Object.values(list.get().webhooks).some((one) => 'secret' in one)).toBe(false)
    list.hideSecret(1n)
    await list.remove(id)
    expect(list.get()).toMatchObject({ secrets: new Map(), webhooks: [{ id: 1n }] })
  })
})
