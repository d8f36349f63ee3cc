import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import type { PetStatus } from '../../src/core/stock/inventory.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets, putPets } from '../support/add-pets.ts'
import { addWebhook } from '../support/add-webhook.ts'
import { removePet } from '../support/remove-pet.ts'
import { change } from './plain-rows.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const pet = (
  id: bigint,
  quantity: number,
  status: PetStatus = 'available',
  name = 'Biscuit',
): StockedPet => ({
  id,
  name,
  categoryId: 1n,
  status,
  quantity,
})

/** The guarantees of every adapter for followers of events. */
export function eventSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: events`, () => {
    let store: Store
    let other: Store
    beforeEach(async () => {
      store = await underTest.open()
      other = await underTest.open()
      await addPets(store, [pet(1n, 1), pet(2n, 2, 'sold')])
    })
    afterEach(async () => {
      await store.close()
      await other.close()
      await underTest.discard()
    })

    /** All events after the cursor, read a few at a time, without their cursors. */
    async function eventsAfter(cursor: string, limit = 3): Promise<object[]> {
      const all: object[] = []
      for (;;) {
        const found = await store.eventsAfter(cursor, limit)
        if (typeof found === 'string') throw new Error(found)
        expect(found.events.length).toBeLessThanOrEqual(limit)
        all.push(...found.events.map(({ cursor: _, ...event }) => event))
        if (found.events.length < limit) return all
        cursor = found.cursor
      }
    }

    const IMPORTER = { at: 9, keyId: 'importer' }
    const quantity = (petId: bigint, before: number, after: number, rest: object = {}) => ({
      kind: 'change',
      petId,
      before,
      after,
      status: 'available',
      reserved: 0,
      available: after,
      adjustmentId: expect.any(BigInt),
      at: 1,
      occurredAt: expect.any(Number),
      keyId: 'key_a',
      ...rest,
    })

    test('each change of a quantity is returned once, in order, whichever process made it', async () => {
      const cursor = await store.latestEventCursor()
      await store.changeStock([change(1n, 10), change(2n, 20), change(1n, 11), change(1n, 11)])
      await other.changeStock([change(1n, 12, { at: 7 })])
      expect(await eventsAfter(cursor)).toEqual([
        quantity(1n, 1, 10),
        quantity(2n, 2, 20, { status: 'sold' }),
        quantity(1n, 10, 11),
        quantity(1n, 11, 11),
        quantity(1n, 11, 12, { at: 7 }),
      ])
    })

    test('changes of categories are returned in order with the others, also those of imports', async () => {
      const by = { at: 1, keyId: 'key_a' }
      const cursor = await store.latestEventCursor()
      await store.changeStock([change(1n, 10)])
      await store.changeStock([
        { type: 'create_category', ...by, category: { id: 7n, name: 'Birds', lowStockAt: 3 } },
      ])
      await other.changeStock([
        { type: 'update_category', ...by, categoryId: 7n, patch: { lowStockAt: null } },
      ])
      await store.changeStock([{ type: 'remove_category', ...by, categoryId: 7n }])
      await putPets(store, [{ ...pet(9n, 4), categoryId: 8n }], IMPORTER)
      await store.changeStock([change(1n, 11)])
      const birds = { kind: 'category', categoryId: 7n, name: 'Birds', ...by }
      expect(await eventsAfter(cursor)).toEqual([
        quantity(1n, 1, 10),
        { ...birds, change: 'created', lowStockAt: 3 },
        { ...birds, change: 'changed' },
        { ...birds, change: 'removed' },
        { kind: 'category', change: 'created', categoryId: 8n, name: 'Category 8', at: 9, keyId: 'importer' },
        expect.objectContaining({ kind: 'pet', petId: 9n, categoryId: 8n }),
        quantity(1n, 10, 11),
      ])
    })

    test('added, changed and removed pets are returned between the other events, in order', async () => {
      const cursor = await store.latestEventCursor()
      await store.changeStock([change(1n, 10)])
      await addPets(other, [pet(9n, 9)])
      await store.changeStock([change(9n, 8), change(1n, 11)])
      await putPets(store, [pet(1n, 11, 'pending'), pet(2n, 2, 'sold', 'Another name')], IMPORTER)
      await store.changeStock([change(1n, 12)])
      await removePet(other, 9n, 3)
      await store.changeStock([change(1n, 13)])
      const told = { categoryId: 1n, at: 9, keyId: 'importer' }
      expect(await eventsAfter(cursor)).toEqual([
        quantity(1n, 1, 10),
        {
          kind: 'pet',
          change: 'created',
          petId: 9n,
          name: 'Biscuit',
          quantity: 9,
          status: 'available',
          ...told,
          at: expect.any(Number),
          keyId: 'petstore',
        },
        quantity(9n, 9, 8),
        quantity(1n, 10, 11),
        {
          kind: 'pet',
          change: 'changed',
          petId: 1n,
          name: 'Biscuit',
          quantity: 11,
          status: 'pending',
          ...told,
        },
        {
          kind: 'pet',
          change: 'changed',
          petId: 2n,
          name: 'Another name',
          quantity: 2,
          status: 'sold',
          ...told,
        },
        quantity(1n, 11, 12, { status: 'pending' }),
        { kind: 'removed', petId: 9n, at: 3, keyId: 'petstore' },
        quantity(1n, 12, 13, { status: 'pending' }),
      ])
    })

    test('the cursor of an event is right after it', async () => {
      const start = await store.latestEventCursor()
      await store.changeStock([change(1n, 10), change(2n, 20)])
      await addPets(other, [pet(9n, 9)])
      await store.changeStock([change(9n, 8)])
      const all = await eventsAfter(start)
      const found = await store.eventsAfter(start, 100)
      if (typeof found === 'string') throw new Error(found)
      expect(all).toHaveLength(4)
      for (const [index, { cursor }] of found.events.entries()) {
        expect(await eventsAfter(cursor)).toEqual(all.slice(index + 1))
      }
      expect(await eventsAfter(found.cursor)).toEqual([])
    })

    test('a replay moves a webhook back, and never forward or away from a pending relist', async () => {
      const start = await store.latestEventCursor()
      await store.changeStock([change(1n, 10), change(1n, 11)])
      const { id, progress } = await addWebhook(store, { id: 1n, url: 'http://127.0.0.1:9/' })
      const cursorAfter = async (cursor: string) => {
        const replay = { type: 'replay_webhook', webhookId: id, cursor, keyId: 'key_a', at: 1 } as const
        await other.changeStock([replay])
        return (await store.findWebhook(id))?.webhook.progress.cursor
      }
      const [, identity = ''] = start.split('.')
      expect(await cursorAfter(`999999.${identity}`)).toBe(progress.cursor)
      expect(await cursorAfter(start)).toBe(start)
      expect((await store.findWebhook(id))?.lag.events).toBe(2)
      const [leased] = await store.leaseWebhooks(60_000)
      if (leased === undefined) throw new Error('the webhook was not leased')
      await store.saveProgress(leased, { cursor: progress.cursor, held: [], relistAt: 1 }, [])
      expect(await cursorAfter(start)).toBe(progress.cursor)
    })

    test('attempts are recorded even if the webhook was changed, and its progress is not saved', async () => {
      const { id, revision, progress } = await addWebhook(store, { id: 1n, url: 'http://127.0.0.1:9/' })
      const [leased] = await store.leaseWebhooks(60_000)
      if (leased === undefined) throw new Error('the webhook was not leased')
      const update = { type: 'update_webhook', webhookId: id, patch: { paused: true } } as const
      await other.changeStock([{ ...update, keyId: 'key_a', at: 1 }])
      const attempt = {
        messageId: 'evt_1_a',
        type: 'stock.changed',
        at: 1,
        durationMs: 1,
        response: '',
        attempt: 1,
        isDelivered: true,
      }
      expect(await store.saveProgress(leased, { cursor: '0.dead', held: [] }, [attempt])).toBe(false)
      expect((await store.findWebhook(id))?.webhook.progress).toEqual(progress)
      expect(await store.listDeliveries(id, 10, undefined)).toEqual([expect.objectContaining(attempt)])
      await other.changeStock([{ type: 'remove_webhook', webhookId: id, keyId: 'key_a', at: 1 }])
      expect(await store.saveProgress({ id, revision }, { cursor: '0.dead', held: [] }, [attempt])).toBe(
        false,
      )
    })

    test('a cursor from before the identity was renewed cannot be resumed, and one from after it can', async () => {
      const before = await store.latestEventCursor()
      await store.changeStock([change(1n, 10)])
      await other.renewIdentity()
      expect(await store.eventsAfter(before, 10)).toBe('relist_needed')
      const cursor = await store.latestEventCursor()
      await store.changeStock([change(1n, 11)])
      expect(await eventsAfter(cursor)).toEqual([quantity(1n, 10, 11)])
    })

    test('a cursor from before the pruned part must list again; a later one continues', async () => {
      const early = await store.latestEventCursor()
      await store.changeStock([change(1n, 10), change(2n, 20)])
      const late = await store.latestEventCursor()
      await other.changeStock([change(1n, 11)])
      expect(await other.pruneHistory({ keep: 1 }, 2)).toBe(2)
      expect(await other.pruneHistory({ keep: 1 }, 100)).toBe(3)
      expect(await store.eventsAfter(early, 10)).toBe('relist_needed')
      expect(await eventsAfter(late)).toEqual([quantity(1n, 10, 11)])
      expect(await other.pruneHistory({ keep: 0 }, 100)).toBe(1)
      expect(await store.eventsAfter(late, 10)).toBe('relist_needed')
      const latest = await store.latestEventCursor()
      await store.changeStock([change(1n, 12)])
      expect(await eventsAfter(latest)).toEqual([quantity(1n, 11, 12)])
    })

    test('changes before a time are removed, except those after a later change', async () => {
      await store.changeStock([change(1n, 10, { at: 2_000_000_000_000 }), change(1n, 11, { at: 5 })])
      const { prunable, total } = await store.countPrunable({ before: 1_900_000_000_000 })
      expect([prunable, total]).toEqual([3, 5])
      expect(await store.pruneHistory({ before: 1_900_000_000_000 }, 100)).toBe(3)
      expect(await store.pruneHistory({ before: 1_900_000_000_000 }, 100)).toBe(0)
    })
  })
}
