import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { ExportedPet, ImportedPet, StockedPet } from '../../src/core/catalog/pet.ts'
import type { OrderRow } from '../../src/core/orders/order.ts'
import type { StagedImport } from '../../src/core/transfer/import.ts'
import type { Store } from '../../src/store/store.ts'
import { addOrders } from '../support/add-orders.ts'
import { removePet } from '../support/remove-pet.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const NOTHING_MORE = { barcode: null, lowStockAt: null }

const HIGHEST = 9223372036854775807n
const LOWEST = -9223372036854775808n
const ACT = { at: 1_790_000_000_000, keyId: 'petstore-import' }

const pet = (id: bigint, changes: Partial<StockedPet> = {}): StockedPet => ({
  id,
  name: `Pet ${id}`,
  categoryId: 1n,
  status: 'available',
  quantity: 5,
  ...changes,
})

const order = (id: bigint, changes: Partial<OrderRow> = {}): OrderRow => ({
  id,
  petId: 1n,
  quantity: 2,
  shipDate: 1_790_000_000_123,
  complete: false,
  ...changes,
})

/** What every adapter guarantees for imports and exports. */
export function importSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: import and export`, () => {
    let store: Store
    beforeEach(async () => {
      store = await underTest.open()
    })
    afterEach(async () => {
      await store.close()
      await underTest.discard()
    })

    async function stage<Value>(
      staged: StagedImport<Value>,
      values: readonly Value[],
    ): Promise<StagedImport<Value>> {
      await staged.add(values.map((value, index) => ({ line: index + 2, value })))
      expect(await staged.finishStaging(10)).toEqual({ count: 0, first: [] })
      return staged
    }

    async function apply(...pets: ImportedPet[]) {
      const staged = await stage(await store.stagePets(), pets)
      try {
        return await staged.apply(ACT)
      } finally {
        await staged.discard()
      }
    }

    async function all<Value>(batches: AsyncIterable<readonly Value[]>): Promise<Value[]> {
      const values: Value[] = []
      for await (const batch of batches) values.push(...batch)
      return values
    }
    /** Without the names of the categories. */
    const pets = async () => (await all(store.exportPets())).map(({ category: _, ...pet }) => pet)

    test('adds new pets, changes those that differ, and leaves the others', async () => {
      await store.addPets([pet(1n), pet(2n), pet(3n), pet(4n)])
      const counts = await apply(
        pet(HIGHEST, { name: 'ключ 🐶', categoryId: LOWEST }),
        pet(2n, { quantity: 6 }),
        pet(3n),
        pet(LOWEST, { quantity: Number.MAX_SAFE_INTEGER }),
      )
      expect(counts).toEqual({ added: 2, changed: 1, unchanged: 1 })
      expect(await pets()).toEqual([
        pet(LOWEST, { quantity: Number.MAX_SAFE_INTEGER }),
        pet(1n),
        pet(2n, { quantity: 6 }),
        pet(3n),
        pet(4n),
        pet(HIGHEST, { name: 'ключ 🐶', categoryId: LOWEST }),
      ])
    })

    test('each field counts as a difference, and only that field changes', async () => {
      await store.addPets([pet(1n), pet(2n), pet(3n), pet(4n)])
      const wanted = [
        pet(1n, { name: 'Another' }),
        pet(2n, { categoryId: 9n }),
        pet(3n, { status: 'sold' }),
        pet(4n, { quantity: 0 }),
      ]
      expect(await apply(...wanted)).toEqual({ added: 0, changed: 4, unchanged: 0 })
      expect(await pets()).toEqual(wanted)
    })

    test('a new category gets the name in the file, and an existing category keeps its name', async () => {
      await store.addPets([pet(1n, { categoryId: 1n })])
      const counts = await apply(
        { ...pet(1n, { categoryId: 1n }), category: 'Dogs' },
        { ...pet(2n, { categoryId: 9n }), category: 'Birds' },
      )
      expect(counts).toEqual({ added: 1, changed: 0, unchanged: 1 })
      expect((await all(store.exportPets())).map(({ category }) => category)).toEqual(['Category 1', 'Birds'])
    })

    test('a new category gets the name in the file, even if the pet with the lowest id lacks it', async () => {
      await apply(pet(1n, { categoryId: 9n }), { ...pet(2n, { categoryId: 9n }), category: 'Dogs' })
      expect((await all(store.exportPets())).map(({ category }) => category)).toEqual(['Dogs', 'Dogs'])
    })

    test('applying the same file again changes and logs nothing', async () => {
      await apply(pet(1n), pet(2n))
      const cursor = await store.loadStock(() => {})
      expect(await apply(pet(2n), pet(1n))).toEqual({ added: 0, changed: 0, unchanged: 2 })
      expect(await store.stockChangesSince(cursor)).toMatchObject({ updated: [], removed: [] })
    })

    test('a changed quantity and a new pet add one history row; a name and a status add none', async () => {
      await store.addPets([pet(1n), pet(2n)])
      await apply(pet(1n, { quantity: 8 }), pet(2n, { name: 'Another', status: 'sold' }), pet(3n))
      expect(await historyOf(store, 1n)).toEqual([{ petId: 1n, before: 5, after: 8, ...ACT }])
      expect(await historyOf(store, 2n)).toEqual([])
      expect(await historyOf(store, 3n)).toEqual([{ petId: 3n, before: 0, after: 5, ...ACT }])
    })

    test('subscribers are notified of every added or changed pet', async () => {
      await store.addPets([pet(1n), pet(2n), pet(3n)])
      const cursor = await store.loadStock(() => {})
      await apply(pet(1n, { quantity: 8 }), pet(2n, { status: 'sold' }), pet(3n), pet(4n))
      const changes = await store.stockChangesSince(cursor)
      if (changes === 'reload') throw new Error('three changes are not too many')
      const byId = changes.updated.toSorted((a, b) => Number(a.petId - b.petId))
      expect(byId.map(({ petId, quantity, status }) => [petId, quantity, status])).toEqual([
        [1n, 8, 'available'],
        [2n, 5, 'sold'],
        [4n, 5, 'available'],
      ])
    })

    test('subscribers list everything again if more than a thousand pets were added', async () => {
      const cursor = await store.loadStock(() => {})
      await apply(...Array.from({ length: 1_000 }, (_, index) => pet(BigInt(index))))
      expect(await store.stockChangesSince(cursor)).not.toBe('reload')
      await apply(...Array.from({ length: 1_001 }, (_, index) => pet(BigInt(index + 5_000))))
      expect(await store.stockChangesSince(cursor)).toBe('reload')
    })

    test('the first line of an id counts, and the others are returned as duplicates', async () => {
      const staged = await store.stagePets()
      await staged.add([
        { line: 2, value: pet(7n, { name: 'first' }) },
        { line: 3, value: pet(HIGHEST) },
        { line: 5, value: pet(7n, { name: 'second' }) },
      ])
      await staged.add([{ line: 6, value: pet(7n, { name: 'third' }) }])
      expect(await staged.finishStaging(1)).toEqual({ count: 2, first: [{ line: 5, firstLine: 2, id: 7n }] })
      expect(await staged.apply(ACT)).toEqual({ added: 2, changed: 0, unchanged: 0 })
      await staged.discard()
      expect(await pets()).toEqual([pet(7n, { name: 'first' }), pet(HIGHEST)])
    })

    test('a preview returns the changes by line, and changes nothing', async () => {
      await store.addPets([pet(1n), pet(2n)])
      const staged = await stage(await store.stagePets(), [
        pet(9n),
        pet(2n, { status: 'sold' }),
        pet(1n),
        pet(3n),
      ])
      const preview = await staged.preview(1)
      await staged.discard()
      expect(preview).toEqual({
        added: { count: 2, first: [{ line: 2, value: { ...pet(9n), ...NOTHING_MORE } }] },
        changed: {
          count: 1,
          first: [
            {
              line: 3,
              value: { ...pet(2n, { status: 'sold' }), ...NOTHING_MORE },
              before: { ...pet(2n), ...NOTHING_MORE },
            },
          ],
        },
        unchanged: 1,
      })
      expect(await pets()).toEqual([pet(1n), pet(2n)])
    })

    test('staged rows are invisible, and discarding them leaves nothing', async () => {
      const staged = await stage(await store.stagePets(), [pet(1n)])
      expect(await store.countPets()).toBe(0)
      await store.addPets([pet(2n)])
      await staged.discard()
      expect(await pets()).toEqual([pet(2n)])
    })

    test('an aborted import changes nothing, and others can write', async () => {
      await store.addPets([pet(1n)])
      const staged = await stage(
        await store.stagePets(),
        Array.from({ length: 50_000 }, (_, index) => pet(BigInt(index + 1), { quantity: 9 })),
      )
      const controller = new AbortController()
      const progress: number[] = []
      const applied = staged.apply({
        ...ACT,
        signal: controller.signal,
        onProgress: (done) => {
          progress.push(done)
          controller.abort()
        },
      })
      await expect(applied).rejects.toThrow('abort')
      await staged.discard()
      expect(progress).toHaveLength(1)
      expect(await pets()).toEqual([pet(1n)])
      expect(await historyOf(store, 1n)).toEqual([])
      await store.changeStock([
        { type: 'adjust', changes: [{ petId: 1n, quantity: 6 }], keyId: 'key_a', at: 1 },
      ])
    })

    test('progress reaches the number of different rows', async () => {
      await store.addPets([pet(1n)])
      const staged = await stage(await store.stagePets(), [pet(1n), pet(2n), pet(3n)])
      const progress: [number, number][] = []
      await staged.apply({ ...ACT, onProgress: (done, total) => progress.push([done, total]) })
      await staged.discard()
      expect(progress.at(-1)).toEqual([2, 2])
    })

    test('a change since the staging is seen, and the import overwrites and logs it', async () => {
      await store.addPets([pet(1n), pet(2n), pet(3n)])
      const staged = await stage(await store.stagePets(), [pet(1n), pet(2n, { quantity: 7 }), pet(3n)])
      await store.changeStock([
        { type: 'adjust', changes: [{ petId: 1n, quantity: 1 }], keyId: 'key_a', at: 1 },
        { type: 'adjust', changes: [{ petId: 2n, quantity: 7 }], keyId: 'key_a', at: 2 },
      ])
      await removePet(store, 3n)
      expect(await staged.apply(ACT)).toEqual({ added: 1, changed: 1, unchanged: 1 })
      await staged.discard()
      expect(await historyOf(store, 1n)).toEqual([
        { petId: 1n, before: 5, after: 1, at: 1, keyId: 'key_a' },
        { petId: 1n, before: 1, after: 5, ...ACT },
      ])
      expect((await historyOf(store, 2n)).map(({ after }) => after)).toEqual([7])
      expect(await pets()).toEqual([pet(1n), pet(2n, { quantity: 7 }), pet(3n)])
    })

    test('a removed pet is an event, and its history continues when it is imported again', async () => {
      await store.addPets([pet(1n), pet(2n)])
      await store.changeStock([
        { type: 'adjust', changes: [{ petId: 1n, quantity: 6 }], keyId: 'key_a', at: 1 },
      ])
      const cursor = await store.loadStock(() => {})
      expect(await removePet(store, 1n)).toBe('removed')
      expect(await removePet(store, 1n)).toBe('unknown_pet')
      expect(await store.findPet(1n)).toBeUndefined()
      expect((await stockOf(store)).map(({ petId }) => petId)).toEqual([2n])
      expect(await store.stockChangesSince(cursor)).toMatchObject({ updated: [], removed: [1n] })
      expect(await historyOf(store, 1n)).toHaveLength(2)

      expect(await apply(pet(1n, { quantity: 9 }))).toEqual({ added: 1, changed: 0, unchanged: 0 })
      await store.changeStock([
        { type: 'adjust', changes: [{ petId: 1n, quantity: 10 }], keyId: 'key_a', at: 2 },
      ])
      expect((await historyOf(store, 1n)).map(({ before, after }) => [before, after])).toEqual([
        [5, 6],
        [6, 0],
        [0, 9],
        [9, 10],
      ])
    })

    test('orders are added, changed or left alone', async () => {
      await store.addPets([pet(1n, { quantity: 6 }), pet(LOWEST)])
      await addOrders(store, [order(1n), order(2n), order(3n)])
      const wanted = [order(1n), order(2n, { complete: true }), order(HIGHEST, { petId: LOWEST })]
      const staged = await stage(await store.stageOrders(), wanted)
      const preview = await staged.preview(5)
      expect(preview.changed.first).toEqual([
        { line: 3, value: order(2n, { complete: true }), before: order(2n) },
      ])
      expect(await staged.apply(ACT)).toEqual({ added: 1, changed: 1, unchanged: 1 })
      await staged.discard()
      expect(await all(store.exportOrders())).toEqual([
        order(1n),
        order(2n, { complete: true }),
        order(3n),
        order(HIGHEST, { petId: LOWEST }),
      ])
    })

    test('an export is a snapshot, even if records change meanwhile', async () => {
      const many = Array.from({ length: 12_000 }, (_, index) => pet(BigInt(index)))
      await apply(...many)
      const exported: ExportedPet[] = []
      for await (const batch of store.exportPets()) {
        if (exported.length === 0) {
          await store.changeStock([
            { type: 'adjust', changes: [{ petId: 11_999n, quantity: 1 }], keyId: 'key_a', at: 1 },
          ])
          await removePet(store, 11_998n)
        }
        exported.push(...batch)
      }
      expect(exported).toEqual(many.map((one) => ({ ...one, category: 'Category 1' })))
    })

    test('an export of an empty store yields no batch', async () => {
      expect(await pets()).toEqual([])
      expect(await all(store.exportOrders())).toEqual([])
    })
  })
}
