import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { NewPet, PetPatch } from '../../src/core/catalog/pet.ts'
import type { Command, Result } from '../../src/core/stock/command.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { lowStockIsRight } from '../support/low-stock-model.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { change, pet } from './plain-rows.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const BY = { keyId: 'key_a', at: 1 }
const HIGHEST = 9223372036854775807n
const LOWEST = -9223372036854775808n
const create = (more: Partial<NewPet> = {}): Command => ({
  type: 'create_pet' as const,
  ...BY,
  pet: { name: 'New', categoryId: 1n, status: 'available', quantity: 4, ...more },
})
const patch = (petId: bigint, petPatch: PetPatch): Command => ({
  type: 'update_pet' as const,
  ...BY,
  petId,
  patch: petPatch,
})
const remove = (removedPet: bigint): Command => ({ type: 'remove_pet' as const, ...BY, petId: removedPet })

/** The guarantees of every adapter for pets and categories. */
export function catalogSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: catalogue`, () => {
    let store: Store
    let other: Store
    beforeEach(async () => {
      store = await underTest.open()
      other = await underTest.open()
      await addPets(store, [{ ...pet(1n, 10), barcode: 'A' }, { ...pet(2n, 5), barcode: 'B' }, pet(3n, 0)])
    })
    afterEach(async () => {
      await lowStockIsRight(underTest, store)
      await store.close()
      await other.close()
      await underTest.discard()
    })

    const idIn = (outcome: Result | undefined): bigint => {
      if (outcome !== undefined && 'pet' in outcome) return outcome.pet.id
      throw new Error(`no pet: ${Bun.inspect(outcome)}`)
    }
    const barcodes = async () =>
      (await other.listPets(undefined, 100)).map(({ id, barcode }): unknown[] => [id, barcode])
    test('a pet whose stock entry was deleted by hand can be created again, and is named until then', async () => {
      await store.changeStock([change(3n, 0)])
      const database = await underTest.connect()
      await database.commit([
        { text: 'DELETE FROM stock WHERE pet_id IN (1, 2)', values: [] },
        { text: 'UPDATE stock SET quantity = 99 WHERE pet_id = 3', values: [] },
      ])
      await database.close()
      const named = await store.findDamage()
      expect(named).toContain('pets without a stock entry: 2 (1, 2)')
      expect(named).toContain(
        'pets whose stock was edited by hand, because it differs from their latest count and the adjustments since: 1 (3)',
      )
      const outcomes = await store.changeStock([
        create({ id: 1n, barcode: 'A' }),
        create({ id: 2n }),
        change(3n, 4),
      ])
      expect(outcomes.map(({ type }) => type)).toEqual(['done', 'done', 'done'])
      expect((await stockOf(other)).map(({ quantity }) => quantity)).toEqual([4, 4, 4])
      expect(await other.findPet(1n)).toMatchObject({ name: 'New', barcode: 'A' })
    })

    test('a new pet is complete and visible to everybody, with its entry', async () => {
      const whole = {
        name: 'ключ 🐶',
        categoryId: 1n,
        status: 'sold',
        barcode: '4006381333931',
        lowStockAt: 0,
      } as const
      const [outcome] = await store.changeStock([create({ ...whole, quantity: 7 })])
      const id = idIn(outcome)
      expect(outcome).toEqual({ type: 'done', pet: { id, ...whole, quantity: 7 } })
      expect(await other.findPet(id)).toEqual({ id, ...whole })
      expect((await stockOf(other)).at(-1)).toEqual({ petId: id, quantity: 7, status: 'sold' })
      expect(await other.findAvailability(id)).toEqual({ petId: id, quantity: 7, reserved: 0 })
    })

    test('ids continue after existing, imported and chosen ones', async () => {
      await addPets(store, [pet(20n, 5), pet(LOWEST, 5), pet(HIGHEST, 5)])
      const made = await store.changeStock([
        create(),
        create({ id: 22n }),
        create(),
        create({ id: 30n }),
        create({ id: -7n }),
        create(),
      ])
      expect(made.map(idIn)).toEqual([21n, 22n, 23n, 30n, -7n, 24n])
      expect((await other.changeStock([create()])).map(idIn)).toEqual([31n])
      expect((await store.changeStock([create()])).map(idIn)).toEqual([32n])
    })

    test('barcodes can move between pets within a commit', async () => {
      await store.changeStock([
        patch(1n, { barcode: null }),
        patch(2n, { barcode: 'A' }),
        patch(1n, { barcode: 'B' }),
        patch(2n, { barcode: 'C' }),
        patch(3n, { barcode: 'A' }),
        remove(1n),
        create({ id: 9n, barcode: 'B' }),
      ])
      expect(await barcodes()).toEqual([
        [2n, 'C'],
        [3n, 'A'],
        [9n, 'B'],
      ])
    })

    test('a pet that is created, changed and removed in one commit keeps its history', async () => {
      await store.changeStock([
        create({ id: 9n, barcode: 'X', lowStockAt: 9 }),
        change(9n, 3),
        patch(9n, { name: 'Nine' }),
        remove(9n),
        create({ id: 10n, barcode: 'X' }),
      ])
      expect(await other.findPet(9n)).toBeUndefined()
      expect(await barcodes()).toContainEqual([10n, 'X'])
      await store.changeStock([create({ id: 9n, quantity: 1 }), change(9n, 2)])
      expect((await historyOf(other, 9n)).map(({ before, after }) => [before, after])).toEqual([
        [0, 4],
        [4, 3],
        [3, 0],
        [0, 1],
        [1, 2],
      ])
    })

    test('a pet that is removed and added again in one commit is a new one', async () => {
      await store.changeStock([patch(1n, { lowStockAt: 50 }), change(1n, 2)])
      const back = { name: 'Back', categoryId: 1n, status: 'pending', quantity: 8 } as const
      await store.changeStock([remove(1n), create({ id: 1n, ...back })])
      expect(await other.findPet(1n)).toEqual({ id: 1n, name: 'Back', categoryId: 1n, status: 'pending' })
      expect((await stockOf(other))[0]).toEqual({ petId: 1n, quantity: 8, status: 'pending' })
    })

    test('of concurrent creations with the same id or barcode, one succeeds and the others are rejected', async () => {
      for (let round = 0; round < 10; round++) {
        const [id, barcode] = [BigInt(-1 - round), `code-${round}`]
        const both = [store, other, store, other, store, other]
        const sameId = both.map((by) => by.changeStock([create({ id, name: 'Same id' })]))
        const sameCode = both.map((by) => by.changeStock([create({ barcode })]))
        const outcomes = (await Promise.all([...sameId, ...sameCode])).flat()
        const wins = outcomes.map((outcome) => 'pet' in outcome)
        expect([wins.slice(0, 6), wins.slice(6)].map((some) => some.filter(Boolean).length)).toEqual([1, 1])
        for (const outcome of outcomes) {
          if ('pet' in outcome) continue
          expect(['pet_exists', 'barcode_taken']).toContain(outcome.type)
        }
      }
    })

    test('concurrent batches with the same pets and barcodes in different orders do not deadlock', async () => {
      const numbers = Array.from({ length: 40 }, (_, index) => index)
      // The pets 1 to 3 exist, the others are new.
      const batch = (word: string) =>
        numbers.map((number) => ({
          id: BigInt(number + 1),
          name: word,
          categoryId: 1n,
          quantity: number,
          barcode: `N${number}`,
        }))
      // Few enough that the last one does not exceed the lock timeout on a busy machine.
      const outcomes = await Promise.all(
        numbers.slice(0, 16).map(async (number) => {
          const pets = number % 2 === 0 ? batch(`w${number}`) : batch(`w${number}`).reverse()
          const from = number % 3 === 0 ? store : other
          const [outcome] = await from.changeStock([
            { type: 'upsert_pets', ...BY, canChangeStock: true, pets },
          ])
          return outcome.type === 'done' ? outcome.created : outcome.type
        }),
      )
      expect(outcomes.filter((created) => created !== 0)).toEqual([37])
      const names = (await other.listPets(undefined, 100)).map(({ name: petName }) => petName)
      expect([names.length, new Set(names).size]).toEqual([40, 1])
      expect((await stockOf(other)).map(({ quantity }) => quantity)).toEqual(numbers)
    })

    test('if a category is removed while a pet is created in it, one of the two is rejected', async () => {
      for (let round = 0; round < 10; round++) {
        const id = BigInt(50 + round)
        await store.changeStock([
          { type: 'create_category', ...BY, category: { id, name: `Short ${round}` } },
        ])
        const [made, gone] = await Promise.all([
          store.changeStock([create({ categoryId: id })]),
          other.changeStock([{ type: 'remove_category', ...BY, categoryId: id }]),
        ])
        const isMade = typeof made[0] === 'object' && 'pet' in made[0]
        expect(gone[0]).toEqual(isMade ? { type: 'category_has_pets' } : { type: 'done' })
        if (!isMade) expect(made[0]).toEqual({ type: 'invalid_category', categoryId: id })
      }
    })

    test('of concurrent creations and renames with the same category name, one succeeds', async () => {
      for (let round = 0; round < 10; round++) {
        const [id, word] = [BigInt(100 + round), `Vögel ${round}`]
        await store.changeStock([{ type: 'create_category', ...BY, category: { id, name: `Old ${round}` } }])
        const outcomes = await Promise.all([
          store.changeStock([{ type: 'create_category', ...BY, category: { name: word } }]),
          other.changeStock([{ type: 'create_category', ...BY, category: { name: word.toUpperCase() } }]),
          other.changeStock([
            { type: 'update_category', ...BY, categoryId: id, patch: { name: word.toLowerCase() } },
          ]),
        ])
        const types = outcomes.map(([outcome]) => outcome.type)
        expect(types.sort()).toEqual(['category_name_taken', 'category_name_taken', 'done'])
      }
    })

    test('categories that had equal names before names were unique keep them', async () => {
      const database = await underTest.connect()
      await database.commit([
        { text: "INSERT INTO categories (id, name) VALUES (61, 'Fish'), (62, 'FISH')", values: [] },
      ])
      await database.close()
      const patched = (categoryPatch: { name?: string; lowStockAt?: number }) =>
        store.changeStock([{ type: 'update_category', ...BY, categoryId: 62n, patch: categoryPatch }])
      expect(await patched({ lowStockAt: 1 })).toMatchObject([{ type: 'done' }])
      expect(await patched({ name: 'FISH', lowStockAt: 2 })).toMatchObject([{ type: 'done' }])
      const taken = { type: 'category_name_taken', owner: { id: 61n, name: 'Fish' } } as const
      expect(await patched({ name: 'fish' })).toEqual([taken])
      expect(await patched({ name: 'Fishes' })).toMatchObject([{ type: 'done' }])
    })
  })
}
