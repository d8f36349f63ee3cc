import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Command } from '../../src/core/stock/command.ts'
import { GroupCommit } from '../../src/core/stock/group-commit.ts'
import type { InventoryItem } from '../../src/core/stock/inventory.ts'
import { newSecret, type Webhook } from '../../src/core/webhooks/webhook.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { change, pet } from './plain-rows.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const item = (petId: bigint, quantity: number): InventoryItem => ({ petId, quantity, status: 'available' })

/** The guarantees of every adapter for followers of the stock. */
export function changeSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: keeping up with changes`, () => {
    let store: Store
    let other: Store
    beforeEach(async () => {
      store = await underTest.open()
      other = await underTest.open()
      await addPets(store, [pet(1n, 1), pet(2n, 2), pet(3n, 3)])
    })
    afterEach(async () => {
      await store.close()
      await other.close()
      await underTest.discard()
    })

    async function loaded(): Promise<{ items: InventoryItem[]; cursor: string }> {
      const items: InventoryItem[] = []
      const cursor = await store.loadStock((batch) => items.push(...batch))
      return { items, cursor }
    }

    test('loading returns every entry in order, and a cursor after which nothing has changed', async () => {
      const { items, cursor } = await loaded()
      expect(items).toEqual([item(1n, 1), item(2n, 2), item(3n, 3)])
      expect(await store.stockChangesSince(cursor)).toMatchObject({ updated: [], removed: [] })
    })

    test('changes by this process and by another are returned once per pet, with its current state', async () => {
      const { cursor } = await loaded()
      await store.changeStock([change(3n, 30), change(1n, 10), change(1n, 11)])
      await other.changeStock([change(2n, 20)])
      const first = await store.stockChangesSince(cursor)
      if (first === 'reload') throw new Error('so few changes are not too many')
      expect(first.updated.toSorted((a, b) => Number(a.petId - b.petId))).toEqual([
        item(1n, 11),
        item(2n, 20),
        item(3n, 30),
      ])
      expect(await store.stockChangesSince(first.cursor)).toMatchObject({ updated: [], removed: [] })
    })

    test('added pets are returned', async () => {
      const { cursor } = await loaded()
      await addPets(other, [pet(9n, 9)])
      expect(await store.stockChangesSince(cursor)).toMatchObject({ updated: [item(9n, 9)], removed: [] })
    })

    test('if the log was pruned past the cursor, everything must be loaded again', async () => {
      const { cursor } = await loaded()
      await store.changeStock([change(1n, 9)])
      await store.pruneHistory({ keep: 0 }, 1_000)
      expect(await store.stockChangesSince(cursor)).toBe('reload')
    })

    test('a very large number of changes is reported as too many', async () => {
      const { cursor } = await loaded()
      for (let round = 0; round < 11; round++) {
        const batch = Array.from({ length: 1_000 }, (_, index) => change(1n, round * 1_000 + index + 100))
        await store.changeStock(batch)
      }
      expect(await store.stockChangesSince(cursor)).toBe('reload')
    })

    test('a request that the store cannot commit fails alone, and the rest of its batch is committed in order', async () => {
      const finished: number[] = []
      const commits = new GroupCommit({
        store,
        limits: { afterPendingChecks: (work) => setImmediate(work) },
        observers: [{ commitFinished: (commands) => finished.push(commands) }],
      })
      const progress = { cursor: await store.latestEventCursor(), held: [] }
      const webhook = (id: bigint, url: string): Webhook => ({
        id,
        url,
        kinds: ['stock.changed'],
        paused: false,
        createdAt: 1,
        secret: newSecret(),
        revision: 1,
        progress,
      })
      const taken = webhook(7n, 'https://shop.example/')
      await store.changeStock([{ type: 'create_webhook', webhook: taken, keyId: 'key_a', at: 1 }])
      const send = (request: Command) => commits.run(request)
      // As the only request of its turn it is committed at once; the following ones are one batch.
      const first = send(change(1n, 10))
      const batch = await Promise.allSettled([
        send(change(1n, 11)),
        send(change(2n, 20)),
        send({ type: 'create_webhook', webhook: taken, keyId: 'key_a', at: 1 }),
        send(change(1n, 12)),
        send({
          type: 'create_webhook',
          webhook: webhook(8n, 'https://shop.example/\0'),
          keyId: 'key_a',
          at: 1,
        }),
        send(change(3n, 30)),
      ])
      await first
      // SQLite can store NUL, PostgreSQL cannot.
      const withNul = store.version() === undefined ? 'rejected' : 'fulfilled'
      expect(batch.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
        withNul,
        'fulfilled',
      ])
      const { items } = await loaded()
      expect(items).toEqual([item(1n, 12), item(2n, 20), item(3n, 30)])
      const history = await store.listHistoryPage(1n, 3, undefined)
      expect(history.rows.map(({ after }) => after)).toEqual([12, 11, 10])
      const answered = batch.filter(({ status }) => status === 'fulfilled').length
      expect(finished.reduce((sum, updates) => sum + updates)).toBe(1 + answered)
    })

    test('the version, if the store has one, differs after each change by any process', async () => {
      const before = store.version()
      if (before === undefined) return
      expect(store.version()).toBe(before)
      await store.changeStock([change(1n, 10)])
      const own = store.version()
      expect(own).not.toBe(before)
      await other.changeStock([change(1n, 20)])
      // A change by another process is visible from the next turn of the event loop on.
      await new Promise((resume) => setImmediate(resume))
      expect(store.version()).not.toBe(own as number)
    })
  })
}
