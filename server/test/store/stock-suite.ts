import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { addOrders, orderWith } from '../support/orders.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { change } from './plain-rows.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const HIGHEST = 9223372036854775807n
const LOWEST = -9223372036854775808n
const MOST = Number.MAX_SAFE_INTEGER

const pet = (id: bigint, quantity: number): StockedPet => ({
  id,
  name: `Pet "${id}", ключ 🐶`,
  categoryId: HIGHEST,
  status: 'available',
  quantity,
})

/** The guarantees of every adapter for pets, stock, history and orders. */
export function stockSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: stock`, () => {
    let store: Store
    beforeEach(async () => {
      store = await underTest.open()
      await addPets(store, [pet(HIGHEST, 3), pet(2n, MOST), pet(LOWEST, 0), pet(10n, 5)])
    })
    afterEach(async () => {
      await store.close()
      await underTest.discard()
    })

    test('lists the stock by petId ascending, exact for every int64', async () => {
      expect(await stockOf(store)).toEqual([
        { petId: LOWEST, quantity: 0, status: 'available' },
        { petId: 2n, quantity: MOST, status: 'available' },
        { petId: 10n, quantity: 5, status: 'available' },
        { petId: HIGHEST, quantity: 3, status: 'available' },
      ])
    })

    test('records each count in order, also one that confirms the quantity', async () => {
      await store.changeStock([
        change(10n, 6, { at: 100 }),
        change(10n, 6, { at: 101 }),
        change(10n, MOST, { at: 102 }),
      ])
      await store.changeStock([change(10n, 1, { keyId: 'key_b', at: 103 })])
      const entry = (before: number, after: number, at: number, keyId = 'key_a') => ({
        petId: 10n,
        before,
        after,
        adjustmentId: expect.any(BigInt),
        at,
        occurredAt: at,
        keyId,
      })
      expect(await historyOf(store, 10n)).toEqual([
        entry(5, 6, 100),
        entry(6, 6, 101),
        entry(6, MOST, 102),
        entry(MOST, 1, 103, 'key_b'),
      ])
      expect(await historyOf(store, 2n)).toEqual([])
      expect(await historyOf(store, 404n)).toEqual([])
    })

    test('finds pets, with the status of their stock', async () => {
      const { quantity: _, ...record } = pet(HIGHEST, 3)
      expect(await store.findPet(HIGHEST)).toEqual(record)
      expect(await store.findPet(404n)).toBeUndefined()
      expect(await store.countPets()).toBe(4)
    })

    test('lists orders by id', async () => {
      const order = (id: bigint, complete: boolean) => ({
        id,
        petId: 2n,
        quantity: MOST,
        shipDate: 1_790_000_000_123,
        complete,
      })
      const listed = (id: bigint, state: 'open' | 'complete') =>
        orderWith(
          { id, shipDate: 1_790_000_000_123, state, createdAt: expect.any(Number), createdBy: 'importer' },
          [2n, MOST],
        )
      await addOrders(store, [order(HIGHEST, true), order(1n, false)])
      expect(await store.listOrders({}, 9)).toEqual([
        listed(1n, 'open'),
        { ...listed(HIGHEST, 'complete'), closedAt: expect.any(Number), closedBy: 'importer' },
      ])
      await expect(addOrders(store, [order(5n, true), order(6n, false)])).rejects.toThrow('has 0 available')
      expect(await store.listOrders({}, 9)).toHaveLength(2)
    })

    test('keeps everything after closing and reopening', async () => {
      await store.changeStock([change(10n, 6)])
      const before = [await stockOf(store), await historyOf(store, 10n)]
      await store.close()
      store = await underTest.open()
      expect([await stockOf(store), await historyOf(store, 10n)]).toEqual(before)
    })
  })
}
