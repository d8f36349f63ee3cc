import { describe, expect, test } from 'bun:test'
import type { Webhook } from '@petstore/client'
import { Webhooks } from '../../../src/staff-page/data/webhooks/webhooks.ts'

const AT = '2026-11-16T12:00:00.000Z'

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
