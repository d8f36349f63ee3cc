import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import type { PetStatus } from '../../src/core/stock/inventory.ts'
import type { Store } from '../../src/store/store.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const HIGHEST = 9223372036854775807n
const LOWEST = -9223372036854775808n

const pet = (id: bigint, status: PetStatus): StockedPet => ({
  id,
  name: `Pet ${id}`,
  categoryId: HIGHEST,
  status,
  quantity: 5,
})
const change = (petId: bigint, quantity: number, keyId = 'key_gone') => ({
  petId,
  quantity,
  keyId,
  at: quantity,
})

/** What every adapter of the port promises to those who read page by page. */
export function pageSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: pages`, () => {
    let store: Store
    beforeEach(async () => {
      store = await underTest.open()
      await store.addPets([
        pet(HIGHEST, 'available'),
        pet(2n, 'sold'),
        pet(LOWEST, 'available'),
        pet(10n, 'pending'),
        pet(11n, 'available'),
      ])
    })
    afterEach(async () => {
      await store.close()
      await underTest.discard()
    })

    const ids = async (...request: Parameters<Store['listPets']>) =>
      (await store.listPets(...request)).map(({ id }) => id)

    test('lists pets by id ascending, from behind an id, up to a limit, exact for every int64', async () => {
      expect(await ids({}, 9)).toEqual([LOWEST, 2n, 10n, 11n, HIGHEST])
      expect(await ids({}, 2)).toEqual([LOWEST, 2n])
      expect(await ids({ after: 2n }, 2)).toEqual([10n, 11n])
      expect(await ids({ after: 5n }, 9)).toEqual([10n, 11n, HIGHEST])
      expect(await ids({ after: HIGHEST }, 9)).toEqual([])
      const { quantity: _, ...record } = pet(10n, 'pending')
      expect(await store.listPets({ after: 2n }, 1)).toEqual([record])
    })

    test('lists pets of one status', async () => {
      expect(await ids({ status: 'available' }, 9)).toEqual([LOWEST, 11n, HIGHEST])
      expect(await ids({ status: 'available', after: LOWEST }, 1)).toEqual([11n])
      expect(await ids({ status: 'available', after: HIGHEST }, 1)).toEqual([])
      expect(await ids({ status: 'sold' }, 9)).toEqual([2n])
    })

    test('gives the history page by page, newest first, each change once', async () => {
      await store.changeStock([1, 2, 3, 4, 6].map((quantity) => change(10n, quantity)))
      await store.changeStock([change(2n, 1)])
      const seen: number[] = []
      const identifiers = new Set<string>()
      let cursor: string | undefined
      do {
        const page = await store.listHistoryPage(10n, 2, cursor)
        if (page === 'unknown_cursor') throw new Error('it gave this cursor itself')
        expect(page.entries.length).toBeLessThanOrEqual(2)
        for (const entry of page.entries) {
          seen.push(entry.after)
          identifiers.add(entry.id)
        }
        cursor = page.next
        // What happens meanwhile is newer than every page that is still to come.
        await store.changeStock([change(10n, 100 + seen.length)])
      } while (cursor !== undefined)
      expect(seen).toEqual([6, 4, 3, 2, 1])
      expect(identifiers.size).toBe(5)
    })

    test('gives the history of all pets page by page, newest first, each change once', async () => {
      await store.changeStock([change(10n, 1), change(2n, 2), change(10n, 3)])
      await store.changeStock([change(HIGHEST, 4)])
      await store.changeStock([change(LOWEST, 6), change(10n, 7)])
      await store.removePet(2n)
      const seen: [bigint, number, number][] = []
      let cursor: string | undefined
      do {
        const page = await store.listRecentHistory(2, cursor)
        if (page === 'unknown_cursor') throw new Error('it gave this cursor itself')
        seen.push(...page.entries.map((entry): (typeof seen)[0] => [entry.petId, entry.before, entry.after]))
        cursor = page.next
        await store.changeStock([change(11n, 100 + seen.length)])
      } while (cursor !== undefined)
      expect(seen).toEqual([
        [10n, 3, 7],
        [LOWEST, 5, 6],
        [HIGHEST, 5, 4],
        [10n, 1, 3],
        [2n, 5, 2],
        [10n, 5, 1],
      ])
    })

    test('tells in the history of all pets what it tells in that of one', async () => {
      await store.changeStock([change(10n, 7), change(10n, 8)])
      expect(await store.listRecentHistory(9, undefined)).toEqual(
        await store.listHistoryPage(10n, 9, undefined),
      )
    })

    test('names the key of a change, and gives its id where the key is not known', async () => {
      const key = {
        id: 'key_known',
        name: 'My shop',
        plan: 'pro' as const,
        limits: { perMinute: 1, perDay: 1 },
        readOnly: false,
        createdAt: 1,
      }
      await store.addKey(key, { hash: 'hash', hint: 'hint', createdAt: 1 }, { at: 1, actor: 'test' })
      await store.changeStock([change(10n, 7, 'key_known'), change(10n, 8)])
      expect(await store.listHistoryPage(10n, 9, undefined)).toMatchObject({
        entries: [
          { petId: 10n, before: 7, after: 8, at: 8, keyId: 'key_gone', keyName: 'key_gone' },
          { petId: 10n, before: 5, after: 7, at: 7, keyId: 'key_known', keyName: 'My shop' },
        ],
        next: undefined,
      })
      expect(await store.listHistoryPage(404n, 9, undefined)).toEqual({ entries: [], next: undefined })
    })

    test.each(['', 'abc', '1.5', '1 ', '99999999999999999999'])(
      'does not know the cursor "%s"',
      async (cursor) => {
        expect(await store.listHistoryPage(10n, 9, cursor)).toBe('unknown_cursor')
        expect(await store.listRecentHistory(9, cursor)).toBe('unknown_cursor')
      },
    )
  })
}
