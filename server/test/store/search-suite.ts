import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { SEARCH_SORTS, type SearchParameters, searchOf, searchPage } from '../../src/core/catalog/search.ts'
import type { Command } from '../../src/core/stock/command.ts'
import { PET_STATUSES } from '../../src/core/stock/inventory.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets, putPets } from '../support/add-pets.ts'
import { createOrder, createOrderWith } from '../support/orders.ts'
import { ALL, foundIn, type ModelPet, searched } from './search-model.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const HIGHEST = 9223372036854775807n
const LOWEST = -9223372036854775808n
const START = 1_790_000_000_000
const BY = { keyId: 'key_a', at: 1 }

const pet = (id: bigint, name: string, more: Partial<ModelPet> = {}): ModelPet => ({
  id,
  name,
  categoryId: 1n,
  status: 'available',
  quantity: 5,
  reserved: 0,
  ...more,
})

const SHOP: readonly ModelPet[] = [
  pet(LOWEST, 'Golden Retriever, 8 weeks', { quantity: 3, lowStockAt: 3 }),
  pet(-7n, 'golden hamster', { quantity: 3, categoryId: 2n, barcode: '4006381333931' }),
  pet(1n, 'Müllers Kätzchen', { quantity: 0, status: 'sold', lowStockAt: 0 }),
  pet(2n, "MULLER'S  cat", { quantity: 9, categoryId: HIGHEST, status: 'pending' }),
  pet(42n, 'AND OR NOT NEAR', { quantity: 3, barcode: '"*:&|!(' }),
  pet(43n, 'Goldfish 42', { quantity: 7, categoryId: 2n, lowStockAt: 9, barcode: '42' }),
  pet(44n, '🐶!', { quantity: 1, lowStockAt: 0 }),
  pet(45n, 'Straße ΟΔΟΣ Ørsted 子犬 のガ', { quantity: 8 }),
  pet(HIGHEST, 'Old gold retriever', { quantity: 5, categoryId: 2n, status: 'sold', lowStockAt: 2 }),
]

/** The guarantees of every adapter for searches. */
export function searchSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: search of an unchanged shop`, () => {
    let store: Store
    beforeAll(async () => {
      store = await underTest.open()
      await addPets(store, SHOP)
    })
    afterAll(async () => {
      await store.close()
      await underTest.discard()
    })

    test.each([
      ['gold', [LOWEST, -7n, 43n, HIGHEST]],
      ['RETR gol', [LOWEST, HIGHEST]],
      ['golden golden retriever', [LOWEST]],
      ['retriever,golden', [LOWEST]],
      ['den', []],
      ['muller', [1n, 2n]],
      ['MÜLLER katz', [1n]],
      ['Mu\u0308ller', [1n, 2n]],
      ['strasse', [45n]],
      ['STRASSE', [45n]],
      ['οδος', [45n]],
      ['orsted', [45n]],
      ['子', [45n]],
      ['のカ', []],
      ['のｶﾞ', [45n]],
      ['42', [42n, 43n]],
      ['4', [43n]],
      ['-7', [-7n]],
      ['9223372036854775807', [HIGHEST]],
      ['-9223372036854775808', [LOWEST]],
      [' 4006381333931 ', [-7n]],
      ['"*:&|!(', [42n]],
      ['🐶', []],
      ['%', []],
      ['gold%fish', []],
      ['go_d', []],
    ] as const)('finds %s', async (q, ids) => {
      expect(await findInPages(store, { q })).toEqual([...ids])
    })
  })

  describe(`${name}: search`, () => {
    let now: number
    let store: Store
    beforeEach(async () => {
      now = START
      store = await underTest.open(() => now)
      await addPets(store, SHOP)
    })
    afterEach(async () => {
      expect(await store.findDamage()).toEqual([])
      await store.close()
      await underTest.discard()
    })

    const find = (parameters: Partial<SearchParameters>) => findInPages(store, parameters)
    const change = (...requests: Command[]) => store.changeStock(requests)

    test('returns complete rows, with the effective threshold', async () => {
      await change(
        { type: 'create_category', ...BY, category: { id: 9n, name: 'Fish', lowStockAt: 4 } },
        {
          type: 'create_pet',
          ...BY,
          pet: { id: 90n, name: 'Carp', categoryId: 9n, status: 'sold', quantity: 4 },
        },
        createOrder([43n, 2]),
      )
      const { rows } = await searchPage(store, searchOf({ ...ALL, low: true, sort: '-available' }), {
        limit: 9,
        cursor: undefined,
      })
      expect(rows.slice(0, 2)).toEqual([
        {
          petId: 43n,
          name: 'Goldfish 42',
          categoryId: 2n,
          status: 'available',
          quantity: 7,
          reserved: 2,
          barcode: '42',
          lowStockAt: 9,
          ownLowStockAt: 9,
          lowSince: expect.any(Number),
        },
        {
          petId: 90n,
          name: 'Carp',
          categoryId: 9n,
          status: 'sold',
          quantity: 4,
          reserved: 0,
          lowStockAt: 4,
          lowSince: BY.at,
        },
      ])
    })

    test('returns since when a pet is low, while it is', async () => {
      const since = async (petId: bigint) => {
        const page = { limit: 1, cursor: undefined }
        return (await searchPage(store, searchOf({ ...ALL, q: String(petId) }), page)).rows[0]?.lowSince
      }
      const set = (quantity: number, at: number) =>
        change({ type: 'adjust', ...BY, at, changes: [{ petId: HIGHEST, quantity }] })
      expect(await since(HIGHEST)).toBeUndefined()
      await set(2, 1_000)
      await set(1, 2_000)
      expect(await since(HIGHEST)).toBe(1_000)
      await set(3, 3_000)
      expect(await since(HIGHEST)).toBeUndefined()
      await change({ ...createOrder([HIGHEST, 1]), at: 4_000 })
      expect(await since(HIGHEST)).toBe(4_000)
    })

    test('an expired hold reserves nothing', async () => {
      await change(createOrderWith({ holdSeconds: 60 }, [2n, 4]))
      const reserved = async () =>
        (await searchPage(store, searchOf({ ...ALL, q: '2' }), { limit: 1, cursor: undefined })).rows[0]
          ?.reserved
      expect(await reserved()).toBe(4)
      now += 60_000
      expect(await reserved()).toBe(0)
    })

    test('finds a pet by its current name', async () => {
      await change({ type: 'update_pet', ...BY, petId: 1n, patch: { name: 'Łódź' } })
      await change({ type: 'remove_pet', ...BY, petId: -7n })
      await change({
        type: 'create_pet',
        ...BY,
        pet: { id: -8n, name: 'Mullet', categoryId: 1n, status: 'sold', quantity: 1 },
      })
      expect(await find({ q: 'mulle' })).toEqual([-8n, 2n])
      expect(await find({ q: 'lodz' })).toEqual([1n])
      expect(await find({ q: 'golden' })).toEqual([LOWEST])
      await change({ type: 'update_pet', ...BY, petId: 1n, patch: { name: 'ŁÓDŹ', categoryId: 2n } })
      expect(await find({ q: 'lodz', categoryId: 2n })).toEqual([1n])
    })

    test('finds pets that an import added, renamed or took a barcode from', async () => {
      await putPets(
        store,
        [
          pet(1n, 'Käfer', { barcode: 'X-1' }),
          pet(300n, 'Zwergkäfer Kurt'),
          pet(-7n, 'golden hamster', { categoryId: 2n }),
        ],
        BY,
      )
      expect(await find({ q: 'kafer' })).toEqual([1n])
      expect(await find({ q: 'kurt zwerg' })).toEqual([300n])
      expect(await find({ q: 'muller' })).toEqual([2n])
      expect(await find({ q: 'X-1' })).toEqual([1n])
    })

    test('pets added, removed and changed between pages do not shift or repeat the others', async () => {
      for (const sort of SEARCH_SORTS) {
        const before = foundIn(SHOP, { ...ALL, sort })
        let changes = 0
        const seen = await searched(
          store,
          { ...ALL, sort },
          {
            limit: 2,
            between: async () => {
              const id = 1_000n + BigInt(changes++)
              const name = changes % 2 === 0 ? 'AAA' : 'ZZZ'
              await change({
                type: 'create_pet',
                ...BY,
                pet: { id, name, categoryId: 1n, status: 'sold', quantity: changes * 3 },
              })
            },
          },
        )
        expect(seen.filter((id) => id < 1_000n || id === HIGHEST)).toEqual(before)
        expect(new Set(seen).size).toBe(seen.length)
        for (let id = 1_000n; id < 1_000n + BigInt(changes); id++)
          await change({ type: 'remove_pet', ...BY, petId: id })
      }
    })

    test('a page continues after a removed pet', async () => {
      const search = searchOf({ ...ALL, sort: 'name' })
      const first = await searchPage(store, search, { limit: 4, cursor: undefined })
      const last = first.rows.at(-1)?.petId
      if (last === undefined || first.next === undefined) throw new Error('there are more pets than that')
      await change({ type: 'remove_pet', ...BY, petId: last })
      const rest = await searchPage(store, search, { limit: 99, cursor: first.next })
      expect([...first.rows, ...rest.rows].map(({ petId }) => petId)).toEqual(
        foundIn(SHOP, { ...ALL, sort: 'name' }),
      )
    })

    test('finds what a simple model finds, for any query and page size', async () => {
      const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
      const words = ['a', 'ab', 'abc', 'b', 'ba', 'é', 'É2', '10', '7', '-5', 'C-10', 'ab b', 'c']
      const pets = await addMany(store, words)
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            q: maybe(fc.constantFrom(...words, 'zz')),
            status: maybe(fc.constantFrom(...PET_STATUSES)),
            categoryId: maybe(fc.constantFrom(1n, 2n, 3n)),
            low: maybe(fc.boolean()),
            below: maybe(fc.integer({ min: 0, max: 12 })),
            sort: fc.constantFrom(...SEARCH_SORTS),
          }),
          fc.record({ limit: fc.integer({ min: 1, max: 30 }) }),
          async (parameters, pages) => {
            expect(await searched(store, parameters, pages)).toEqual(foundIn(pets, parameters))
          },
        ),
        { numRuns: 150 },
      )
    })
  })
}

/** Large and small pages find the same pets. */
async function findInPages(store: Store, parameters: Partial<SearchParameters>): Promise<bigint[]> {
  const asked = { ...ALL, ...parameters }
  const ids = await searched(store, asked)
  for (const limit of [1, 2, 4]) {
    expect({ limit, ids: await searched(store, asked, { limit }) }).toEqual({ limit, ids })
  }
  return ids
}

/** A few kinds of names and numbers, so that many pets are alike. */
async function addMany(store: Store, words: readonly string[]): Promise<ModelPet[]> {
  const wordAt = (index: number) => words[index % words.length] ?? ''
  const pets = Array.from({ length: 90 }, (_, index) => {
    const id = BigInt(index) - 30n
    const reserved = index % 4 === 0 ? index % 5 : 0
    return pet(1_000n + id, `${wordAt(index)} ${wordAt(index * 7 + 3)}`, {
      categoryId: BigInt(index % 3) + 1n,
      quantity: ((index * 5) % 11) + reserved,
      reserved,
      ...(index % 2 === 0 ? { lowStockAt: index % 7 } : {}),
      ...(index % 10 === 0 ? { barcode: `C-${index}` } : {}),
      status: PET_STATUSES[index % 3] ?? 'sold',
    })
  })
  await addPets(store, pets)
  await store.changeStock(
    pets.filter(({ reserved }) => reserved > 0).map(({ id, reserved }) => createOrder([id, reserved])),
  )
  return [...SHOP, ...pets]
}
