import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import type { PetStatus } from '../../src/core/stock/inventory.ts'
import { historyMethods } from '../../src/store/history.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { operatorOf } from '../support/operator.ts'
import { removePet } from '../support/remove-pet.ts'
import { change as countOf } from './plain-rows.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const HIGHEST = 9223372036854775807n
const LOWEST = -9223372036854775808n

const pet = (id: bigint, status: PetStatus): StockedPet => ({
  id,
  name: `Pet ${id}`,
  categoryId: HIGHEST,
  status,
  quantity: 0,
})
const change = (petId: bigint, quantity: number, keyId = 'key_gone') =>
  countOf(petId, quantity, { keyId, at: quantity })

/** Without the rows of `addPets`, which creates pets at the time 0. */
const afterCreation = <Row extends { readonly at: number }>(rows: readonly Row[]) =>
  rows.filter(({ at }) => at > 0)

async function addKey(store: Store, id: string, name: string): Promise<void> {
  const limits = { perMinute: 1, perDay: 1 }
  await operatorOf(store).addKey(
    { id, name, plan: 'pro', limits, permissions: [], createdAt: 1 },
    { hash: 'hash', hint: 'hint', createdAt: 1 },
    { at: 1, actor: 'test' },
  )
}

/** The guarantees of every adapter for reads page by page. */
export function pageSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: pages`, () => {
    let store: Store
    beforeEach(async () => {
      store = await underTest.open()
      await addPets(store, [
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

    test('lists pets by id ascending, after an id, up to a limit, exact for every int64', async () => {
      expect(await ids(undefined, 9)).toEqual([LOWEST, 2n, 10n, 11n, HIGHEST])
      expect(await ids(undefined, 2)).toEqual([LOWEST, 2n])
      expect(await ids(2n, 2)).toEqual([10n, 11n])
      expect(await ids(5n, 9)).toEqual([10n, 11n, HIGHEST])
      expect(await ids(HIGHEST, 9)).toEqual([])
      const { quantity: _, ...record } = pet(10n, 'pending')
      expect(await store.listPets(2n, 1)).toEqual([record])
    })

    test('returns the history page by page, newest first, each change once', async () => {
      await store.changeStock([1, 2, 3, 4, 6].map((quantity) => change(10n, quantity)))
      await store.changeStock([change(2n, 1)])
      const seen: number[] = []
      const identifiers = new Set<string>()
      let cursor: string | undefined
      do {
        const page = await store.listHistoryPage(10n, 2, cursor)
        expect(page.rows.length).toBeLessThanOrEqual(2)
        for (const entry of afterCreation(page.rows)) {
          seen.push(entry.after)
          identifiers.add(entry.id)
        }
        cursor = page.next
        // Changes made meanwhile are newer than all remaining pages.
        await store.changeStock([change(10n, 100 + seen.length)])
      } while (cursor !== undefined)
      expect(seen).toEqual([6, 4, 3, 2, 1])
      expect(identifiers.size).toBe(5)
    })

    test('returns the history of all pets page by page, newest first, each change once', async () => {
      await store.changeStock([change(10n, 1), change(2n, 2), change(10n, 3)])
      await store.changeStock([change(HIGHEST, 4)])
      await store.changeStock([change(LOWEST, 6), change(10n, 7)])
      await removePet(store, 2n)
      const seen: [bigint, number, number][] = []
      let cursor: string | undefined
      do {
        const page = await store.listRecentHistory(2, cursor)
        seen.push(
          ...afterCreation(page.rows).map((entry): (typeof seen)[0] => [
            entry.petId,
            entry.before,
            entry.after,
          ]),
        )
        cursor = page.next
        await store.changeStock([change(11n, 100 + seen.length)])
      } while (cursor !== undefined)
      expect(seen).toEqual([
        [2n, 2, 0],
        [10n, 3, 7],
        [LOWEST, 0, 6],
        [HIGHEST, 0, 4],
        [10n, 1, 3],
        [2n, 0, 2],
        [10n, 0, 1],
      ])
    })

    test('names the key of a change, or its id if the key is unknown', async () => {
      await addKey(store, 'key_known', 'My shop')
      await store.changeStock([change(10n, 7, 'key_known'), change(10n, 8)])
      expect(await store.listHistoryPage(10n, 9, undefined)).toMatchObject({
        rows: [
          { petId: 10n, before: 7, after: 8, at: 8, keyId: 'key_gone', keyName: 'key_gone' },
          { petId: 10n, before: 0, after: 7, at: 7, keyId: 'key_known', keyName: 'My shop' },
          { petId: 10n, before: 0, after: 0, at: 0 },
        ],
        next: undefined,
      })
      expect(await store.listHistoryPage(404n, 9, undefined)).toEqual({ rows: [], next: undefined })
    })

    describe('filters the history of all pets', () => {
      type Filter = Parameters<Store['listRecentHistory']>[2]
      beforeEach(async () => {
        await addKey(store, 'key_desk', 'Front desk')
        const received = {
          type: 'adjust',
          reason: 'received',
          reference: 'PO-1043',
          changes: [{ petId: 11n, delta: 6 }],
        } as const
        await store.changeStock([
          change(10n, 1, 'key_desk'),
          change(2n, 2),
          change(10n, 3),
          { ...received, keyId: 'key_desk', at: 40 },
          change(10n, 50, 'key_desk'),
        ])
      })

      const AFTERS: readonly (readonly [Filter, readonly number[]])[] = [
        [{}, [50, 6, 3, 2, 1]],
        [{ who: 'Front desk' }, [50, 6, 1]],
        [{ who: 'key_desk' }, [50, 6, 1]],
        [{ who: 'key_gone' }, [3, 2]],
        [{ who: 'front desk' }, []],
        [{ reason: 'received' }, [6]],
        [{ reason: 'sold' }, []],
        [{ reference: 'PO-1043' }, [6]],
        [{ reference: 'PO-1043', petId: 11n }, [6]],
        [{ reference: 'PO-104' }, []],
        [{ since: 3 }, [50, 6, 3]],
        [{ until: 3 }, [2, 1]],
        [{ since: 2, until: 40 }, [3, 2]],
        [{ petId: 10n }, [50, 3, 1]],
        [{ petId: 10n, who: 'Front desk', since: 2 }, [50]],
        [{ petId: 404n }, []],
        [{ since: 60 + 3_600_000 }, []],
      ]

      test('by any combination, in pages of any size', async () => {
        for (const limit of [1, 9]) {
          for (const [filter, afters] of AFTERS) {
            expect([filter, await aftersOf(store, filter, limit)]).toEqual([filter, [...afters]])
          }
        }
      })

      test('starts no further step after its time budget, and continues from there', async () => {
        const database = await underTest.connect()
        try {
          const oneStep = historyMethods(database, { maxRows: 1_000, rowsPerStep: 1, budgetMs: 0 })
          const first = await oneStep.listRecentHistory(9, undefined, { who: 'nobody' })
          expect(first).toEqual({ rows: [], next: expect.any(String) })
          for (const [filter, afters] of AFTERS) {
            expect(await aftersOf(oneStep, filter, 9)).toEqual([...afters])
          }
        } finally {
          await database.close()
        }
      })

      /** The new quantities on all pages. */
      async function aftersOf(from: Pick<Store, 'listRecentHistory'>, filter: Filter, limit: number) {
        const afters: number[] = []
        let cursor: string | undefined
        do {
          const page = await from.listRecentHistory(limit, cursor, filter)
          expect(page.rows.length).toBeLessThanOrEqual(limit)
          afters.push(...afterCreation(page.rows).map(({ after }) => after))
          cursor = page.next
        } while (cursor !== undefined)
        return afters
      }
    })

    describe('returns the edits of all pets', () => {
      type Filter = Parameters<Store['listPetEdits']>[2]
      const MAX = { id: 20n, name: 'Max', categoryId: HIGHEST, status: 'available' } as const
      const edit = { petId: 20n, keyId: 'key_desk' }
      beforeEach(async () => {
        await addKey(store, 'key_desk', 'Front desk')
        await store.changeStock([
          { type: 'create_pet', pet: MAX, keyId: 'key_desk', at: 10 },
          change(20n, 15),
          { type: 'update_pet', patch: { name: 'Rex', barcode: '77' }, ...edit, at: 20 },
          { type: 'update_pet', patch: { status: 'pending' }, petId: 2n, keyId: 'key_gone', at: 30 },
          change(2n, 35),
          { type: 'update_pet', patch: { barcode: null, lowStockAt: 3 }, ...edit, at: 40 },
          change(20n, 45),
        ])
        await store.changeStock([{ type: 'remove_pet', ...edit, at: 50 }])
        await store.changeStock([{ type: 'create_pet', pet: MAX, keyId: 'key_gone', at: 60 }])
      })

      test('newest first, with the state after the change, the changed fields and who made it', async () => {
        const desk = { keyId: 'key_desk', keyName: 'Front desk' }
        const gone = { keyId: 'key_gone', keyName: 'key_gone' }
        const changed = { id: expect.any(String), change: 'changed', ...desk } as const
        const page = await store.listPetEdits(5, undefined, { until: 1_000 })
        expect(page).toEqual({
          rows: [
            { id: expect.any(String), petId: 20n, change: 'created', name: 'Max', at: 60, ...gone, pet: MAX },
            { id: expect.any(String), petId: 20n, change: 'removed', name: 'Rex', at: 50, ...desk },
            {
              ...changed,
              petId: 20n,
              name: 'Rex',
              at: 40,
              pet: { ...MAX, name: 'Rex', lowStockAt: 3 },
              fields: ['barcode', 'lowStockAt'],
            },
            {
              ...changed,
              ...gone,
              petId: 2n,
              name: 'Pet 2',
              at: 30,
              pet: { id: 2n, name: 'Pet 2', categoryId: HIGHEST, status: 'pending' },
              fields: ['status'],
            },
            {
              ...changed,
              petId: 20n,
              name: 'Rex',
              at: 20,
              pet: { ...MAX, name: 'Rex', barcode: '77' },
              fields: ['name', 'barcode'],
            },
          ],
          next: expect.any(String),
        })
      })

      const TIMES: readonly (readonly [Filter, readonly number[]])[] = [
        [{ until: 1_000 }, [60, 50, 40, 30, 20, 10]],
        [{ petId: 20n }, [60, 50, 40, 20, 10]],
        [{ petId: 404n }, []],
        [{ who: 'Front desk' }, [50, 40, 20, 10]],
        [{ who: 'key_gone' }, [60, 30]],
        [{ who: 'nobody' }, []],
        [{ since: 20, until: 50 }, [40, 30, 20]],
        [{ petId: 20n, who: 'key_desk', since: 11, until: 50 }, [40, 20]],
        [{ since: 60 + 3_600_000, until: 60 + 3_600_001 }, []],
      ]

      test('that match every filter, in pages of any size and with any limit of examined rows', async () => {
        const database = await underTest.connect()
        const budgetMs = Number.POSITIVE_INFINITY
        try {
          const oneRow = historyMethods(database, { maxRows: 1, rowsPerStep: 1, budgetMs })
          const noTime = historyMethods(database, { maxRows: 1_000, rowsPerStep: 2, budgetMs: 0 })
          for (const from of [store, oneRow, noTime]) {
            for (const limit of [1, 9]) {
              for (const [filter, times] of TIMES) {
                expect([filter, await timesOf(from, filter, limit)]).toEqual([filter, [...times]])
              }
            }
          }
          const first = await oneRow.listPetEdits(9, undefined, { who: 'nobody' })
          expect(first).toEqual({ rows: [], next: expect.any(String) })
        } finally {
          await database.close()
        }
      })

      test('before a time, also those between it and a much later change of a quantity', async () => {
        const HOUR = 3_600_000
        await store.changeStock([change(20n, 5 * HOUR)])
        expect(await timesOf(store, { until: HOUR }, 9)).toEqual([60, 50, 40, 30, 20, 10])
      })

      /** The times of the edits on all pages, without those of the pets that the store began with. */
      async function timesOf(from: Pick<Store, 'listPetEdits'>, filter: Filter, limit: number) {
        const times: number[] = []
        let cursor: string | undefined
        do {
          const page = await from.listPetEdits(limit, cursor, filter)
          expect(page.rows.length).toBeLessThanOrEqual(limit)
          times.push(...afterCreation(page.rows).map(({ at }) => at))
          cursor = page.next
        } while (cursor !== undefined)
        return times
      }
    })

    test('rejects a text that is no cursor', async () => {
      for (const cursor of ['', 'abc', '1', '1_', '1_2 ', '1_99999999999999999999']) {
        const refused = { code: 'invalid_request' }
        await expect(store.listHistoryPage(10n, 9, cursor)).rejects.toMatchObject(refused)
        await expect(store.listRecentHistory(9, cursor)).rejects.toMatchObject(refused)
        await expect(store.listPetEdits(9, cursor)).rejects.toMatchObject(refused)
      }
    })
  })
}
