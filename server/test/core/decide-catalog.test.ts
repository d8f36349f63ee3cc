import { describe, expect, test } from 'bun:test'
import type { LockedCatalog } from '../../src/core/catalog/catalog-draft.ts'
import type { Category } from '../../src/core/catalog/category.ts'
import type { NewPet, Pet, PetPatch, PetUpsert } from '../../src/core/catalog/pet.ts'
import type { Command } from '../../src/core/stock/command.ts'
import { decide } from '../../src/core/stock/decide.ts'
import type { LockedEntry } from '../../src/core/stock/inventory.ts'
import { change as countOf, entryWith } from '../store/plain-rows.ts'
import { createOrder, orderCommand, orderWith } from '../support/orders.ts'

const BY = { keyId: 'key_a', at: 7 }
const REX: Pet = { id: 1n, name: 'Rex', categoryId: 1n, status: 'available', barcode: 'A' }
const TOM: Pet = { id: 2n, name: 'Tom', categoryId: 2n, status: 'pending', barcode: 'B', lowStockAt: 3 }
const DOGS: Category = { id: 1n, name: 'Dogs' }
const CATS: Category = { id: 2n, name: 'Cats', lowStockAt: 5 }

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
const upsert = (...pets: PetUpsert[]) => ({ type: 'upsert_pets' as const, ...BY, canChangeStock: true, pets })
const remove = (removedPet: bigint): Command => ({ type: 'remove_pet' as const, ...BY, petId: removedPet })
const set = (petId: bigint, quantity: number): Command => countOf(petId, quantity, BY)

/** Rex and Tom, with ten and two units. */
function decided(asked: readonly Command[], more: Partial<LockedCatalog> = {}, reserved = 0) {
  const stock = new Map<bigint, LockedEntry>([
    [1n, entryWith(10, { reserved })],
    [2n, entryWith(2, { status: 'pending', lowStockAt: 3 })],
  ])
  return decide(asked, stock, {
    catalog: {
      pets: new Map([REX, TOM].map((pet) => [pet.id, pet])),
      categories: new Map([DOGS, CATS].map((category) => [category.id, category])),
      barcodes: new Map([
        ['A', 1n],
        ['B', 2n],
      ]),
      categoriesWithPets: new Set([1n, 2n]),
      newPetIds: [101n, 102n, 103n, 104n],
      newCategoryIds: [51n],
      ...more,
    },
    orders: { now: 0, petIds: new Set(stock.keys()), orders: new Map(), newIds: [1n, 2n] },
  })
}

const exists = (petId: bigint) => ({ type: 'pet_exists', petId })
const taken = (barcode: string, petId: bigint) => ({ type: 'barcode_taken', barcode, petId })
const DONE = { type: 'done' } as const
const UNKNOWN_PET = { type: 'unknown_pet' }
const words = (asked: readonly Command[], more: Partial<LockedCatalog> = {}) =>
  decided(asked, more).results.map((outcome): unknown => {
    if ('pet' in outcome) return `${outcome.pet.id} ${outcome.pet.barcode ?? '-'}`
    if ('items' in outcome) return outcome.items[0]?.quantity
    if ('failures' in outcome) return outcome.failures[0]?.code
    return outcome
  })

describe('pets', () => {
  test.each<[string, Command[], unknown[]]>([
    ['get the next ids', [create(), create()], ['101 -', '102 -']],
    ['get the ids that they request', [create({ id: 7n }), create()], ['7 -', '101 -']],
    [
      'never get an id that another has just requested',
      [create({ id: 101n }), create(), create({ id: 103n }), create()],
      [...['101 -', '102 -', '103 -', '104 -']],
    ],
    [
      'do not get a used id',
      [create({ id: 1n }), create({ id: 7n }), create({ id: 7n })],
      [...[exists(1n), '7 -', exists(7n)]],
    ],
    ['may have the id of a removed pet', [remove(1n), create({ id: 1n })], [DONE, '1 -']],
    [
      'do not get a used barcode',
      [create({ barcode: 'A' }), create({ barcode: 'C' }), create({ barcode: 'C' })],
      [...[taken('A', 1n), '102 C', taken('C', 102n)]],
    ],
    [
      'must have an existing category',
      [create({ categoryId: 9n }), patch(1n, { categoryId: 9n })],
      [
        { type: 'invalid_category', categoryId: 9n },
        { type: 'invalid_category', categoryId: 9n },
      ],
    ],
    [
      'pass a barcode on',
      [patch(1n, { barcode: null }), patch(2n, { barcode: 'A' }), patch(1n, { barcode: 'B' })],
      [...['1 -', '2 A', '1 B']],
    ],
    [
      'cannot swap barcodes by one request each',
      [patch(1n, { barcode: 'B' }), patch(2n, { barcode: 'A' })],
      [...[taken('B', 2n), taken('A', 1n)]],
    ],
    [
      'swap them through a third barcode',
      [patch(1n, { barcode: 'C' }), patch(2n, { barcode: 'A' }), patch(1n, { barcode: 'B' })],
      [...['1 C', '2 A', '1 B']],
    ],
    [
      'keep their own barcode',
      [patch(1n, { barcode: 'A', name: 'Max' }), patch(1n, { barcode: 'A' })],
      ['1 A', '1 A'],
    ],
    [
      'release their barcode when removed',
      [remove(1n), create({ barcode: 'A' }), patch(2n, { barcode: 'A' })],
      [DONE, '101 A', taken('A', 101n)],
    ],
    [
      'are created, changed and removed',
      [
        ...[
          create({ id: 7n, barcode: 'C' }),
          patch(7n, { barcode: 'D' }),
          set(7n, 1),
          remove(7n),
          patch(7n, { name: 'X' }),
        ],
        ...[remove(7n), set(7n, 2)],
      ],
      ['7 C', '7 D', 1, DONE, UNKNOWN_PET, UNKNOWN_PET, 'not_found'],
    ],
    [
      'do not exist until they are created',
      [patch(7n, { name: 'X' }), create({ id: 7n })],
      [UNKNOWN_PET, '7 -'],
    ],
  ])('%s', (_, asked, expected) => {
    expect(words(asked)).toEqual(expected)
  })

  test('a rejected request has no effect', () => {
    const decision = decided([
      ...[
        create({ id: 1n }),
        create({ barcode: 'A' }),
        patch(1n, { barcode: 'B', name: 'Max' }),
        remove(404n),
      ],
    ])
    expect([decision.records.length, decision.catalog?.pets.size]).toEqual([0, 0])
  })

  test('unchanged values are not written', () => {
    const decision = decided([patch(1n, { name: 'Rex', barcode: 'A', status: 'available' })])
    expect(decision.results).toEqual([{ type: 'done', pet: { ...REX, quantity: 10 } }])
    expect([decision.records.length, decision.catalog?.pets.size]).toEqual([0, 0])
  })

  test('the final state is written, and the log has every step', () => {
    const { records, entries, catalog } = decided([
      ...[
        set(1n, 9),
        patch(1n, { status: 'sold' }),
        set(1n, 8),
        patch(1n, { categoryId: 2n }),
        create({ id: 7n }),
      ],
      ...[set(7n, 3), remove(7n), remove(2n), create({ id: 2n, quantity: 1, barcode: 'B' })],
    ])
    expect(catalog?.pets).toEqual(
      new Map([
        [1n, { ...REX, status: 'sold', categoryId: 2n }],
        [7n, undefined],
        [2n, { id: 2n, name: 'New', categoryId: 1n, status: 'available', barcode: 'B' }],
      ]),
    )
    const countedAt = BY.at
    expect(entries).toEqual(
      new Map([
        [1n, { entry: entryWith(8, { status: 'sold', lowStockAt: 5, countedAt }), isNew: false }],
        [7n, { entry: undefined, isNew: true }],
        [2n, { entry: entryWith(1, { countedAt }), isNew: false }],
      ]),
    )
    expect(
      records.map((row) => {
        if (row.kind !== 'change' && row.kind !== 'pet' && row.kind !== 'removed') throw new Error(row.kind)
        return [row.kind, row.petId, row.status]
      }),
    ).toEqual([
      ['change', 1n, 'available'],
      ['pet', 1n, 'sold'],
      ['change', 1n, 'sold'],
      ['pet', 1n, 'sold'],
      ['pet', 7n, 'available'],
      ['change', 7n, 'available'],
      ['removed', 7n, 'available'],
      ['removed', 2n, 'pending'],
      ['pet', 2n, 'available'],
    ])
  })

  test('a pet with open orders is not removed, and the error names the reserved units', () => {
    expect(decided([remove(1n)], {}, 3).results).toEqual([{ type: 'pet_reserved', reserved: 3 }])
    const order = createOrder([2n, 2])
    const cancel = orderCommand('cancel_order', orderWith({}, [2n, 2]))
    expect(decided([order, remove(2n), cancel, remove(2n)]).results).toMatchObject([
      ...[{ order: { id: 1n } }, { type: 'pet_reserved', reserved: 2 }, { order: { state: 'cancelled' } }],
      { type: 'done' },
    ])
  })

  test('quantity and reserved units stay when anything else changes', () => {
    const decision = decided([patch(1n, { name: 'Max', status: 'sold', lowStockAt: 1 })], {}, 4)
    const entry = entryWith(10, { reserved: 4, status: 'sold', lowStockAt: 1 })
    expect(decision.entries.get(1n)?.entry).toEqual(entry)
  })
})

describe('batches of pets', () => {
  const fresh = { name: 'New', categoryId: 1n }

  test('create and update, with ids that no pet of the batch has chosen', () => {
    const { results } = decided([upsert(fresh, { id: 101n, ...fresh }, { id: 1n, name: 'Max' }, fresh)])
    expect(results).toMatchObject([
      { type: 'done', created: 3, pets: [{ id: 102n }, { id: 101n }, { id: 1n, name: 'Max' }, { id: 103n }] },
    ])
  })

  test('may swap barcodes, and later commands see the new owners', () => {
    const swap = upsert({ id: 1n, barcode: 'B' }, { id: 2n, barcode: 'A' })
    expect(words([swap, create({ barcode: 'A' }), create({ barcode: 'B' })]).slice(1)).toEqual([
      taken('A', 2n),
      taken('B', 1n),
    ])
    const release = upsert({ id: 1n, barcode: null })
    expect(words([release, create({ barcode: 'A' })]).slice(1)).toEqual(['101 A'])
  })

  test('that are refused list each pet that cannot be saved, and why', () => {
    const batch = upsert(
      fresh,
      { ...fresh, barcode: 'A' },
      { id: 1n, name: 'Keeps its barcode' },
      { id: 8n, name: 'New' },
      { id: 9n },
      { categoryId: 1n },
      { id: 2n, categoryId: 404n },
    )
    const invalid = { code: 'invalid_request' }
    expect(decided([batch]).results).toMatchObject([
      {
        failures: [
          { index: 1, code: 'already_exists', message: 'barcode A is already used by pet 1' },
          { index: 3, petId: 8n, ...invalid, field: 'categoryId' },
          {
            index: 4,
            petId: 9n,
            ...invalid,
            message:
              'name and categoryId are missing: there is no pet 9, and a new pet needs a name and a categoryId',
          },
          { index: 5, ...invalid, field: 'name' },
          { index: 6, petId: 2n, ...invalid, field: 'categoryId' },
        ],
      },
    ])
  })

  test('that may not change the stock are refused if a quantity would change, also that of a new pet', () => {
    const without = (...pets: PetUpsert[]): Command => ({ ...upsert(...pets), canChangeStock: false })
    const forbidden = { code: 'forbidden', field: 'quantity' }
    const allowed = [{ ...fresh, quantity: 0 }, fresh, { id: 1n, name: 'Same', quantity: 10 }]
    expect(decided([without(...allowed)]).results).toMatchObject([{ type: 'done' }])
    const refused = [
      { ...fresh, quantity: 3 },
      { id: 1n, quantity: 11 },
    ]
    expect(decided([without(...allowed.slice(0, 2), ...refused)]).results).toMatchObject([
      {
        failures: [
          { index: 2, ...forbidden },
          { index: 3, petId: 1n, ...forbidden },
        ],
      },
    ])
    const empty: Command = { type: 'remove_pet', ...BY, petId: 1n, onlyIfEmpty: true }
    expect(decided([empty, set(1n, 0), empty]).results).toMatchObject([{ type: 'pet_has_stock' }, {}, DONE])
  })

  test('that change nothing write nothing, and count as updated', () => {
    const decision = decided([upsert({ id: 1n, name: 'Rex', quantity: 10, barcode: 'A' }, { id: 2n })])
    expect([decision.results, decision.records]).toMatchObject([[{ type: 'done', created: 0 }], []])
  })

  test('that are refused have no effect on later commands of the commit', () => {
    const refused = upsert({ id: 1n, barcode: null, quantity: 3 }, { ...fresh, barcode: 'C' }, { id: 9n })
    const decision = decided([refused])
    expect(decision.results).toMatchObject([{ type: 'refused', failures: [{ index: 2, petId: 9n }] }])
    expect([decision.records.length, decision.catalog?.pets.size]).toEqual([0, 0])
    const later = [refused, create({ id: 7n, barcode: 'C' }), create({ id: 8n, barcode: 'A' })]
    expect(words(later).slice(1)).toEqual(['7 C', taken('A', 1n)])
  })

  test('log the record, then the quantity with its reason, then the crossing', () => {
    const { records, entries } = decided([upsert({ id: 2n, quantity: 9, name: 'Tim' })])
    expect(records).toMatchObject([
      { kind: 'pet', petId: 2n, after: 2 },
      { kind: 'change', petId: 2n, before: 2, after: 9, by: { reason: 'corrected' } },
      { kind: 'recovered', petId: 2n },
    ])
    expect(entries.get(2n)?.entry?.quantity).toBe(9)
  })
})

describe('categories', () => {
  const make = (more: { id?: bigint; name?: string; lowStockAt?: number } = {}): Command => ({
    type: 'create_category',
    ...BY,
    category: { name: 'Birds', ...more },
  })
  const change = (
    categoryId: bigint,
    categoryPatch: { name?: string; lowStockAt?: number | null },
  ): Command => ({
    type: 'update_category',
    ...BY,
    categoryId,
    patch: categoryPatch,
  })
  const drop = (removedCategory: bigint): Command => ({
    type: 'remove_category' as const,
    ...BY,
    categoryId: removedCategory,
  })

  const named = (owner: Category) => ({ type: 'category_name_taken', owner })
  const CAFE: Category = { id: 3n, name: 'Caf\u00e9' }
  // The store has categories 3 and 4 from a time when names were not unique.
  const all = [DOGS, CATS, CAFE, { id: 4n, name: 'café' }]
  const categories = new Map(all.map((category) => [category.id, category]))

  test.each<[string, Command, unknown, string[], bigint[]]>([
    ['gets the next id', make(), { type: 'done', category: { id: 51n, name: 'Birds' } }, ['created'], []],
    [
      'gets the requested id',
      make({ id: 9n, lowStockAt: 0 }),
      { type: 'done', category: { id: 9n, name: 'Birds', lowStockAt: 0 } },
      ['created'],
      [],
    ],
    ['does not get a used id', make({ id: 1n }), { type: 'category_exists', categoryId: 1n }, [], []],
    [
      'is renamed',
      change(2n, { name: 'Kittens' }),
      { type: 'done', category: { ...CATS, name: 'Kittens' } },
      ['changed'],
      [],
    ],
    [
      'gets a threshold',
      change(1n, { lowStockAt: 2 }),
      { type: 'done', category: { ...DOGS, lowStockAt: 2 } },
      ['changed'],
      [1n],
    ],
    [
      'loses its threshold',
      change(2n, { lowStockAt: null }),
      { type: 'done', category: { id: 2n, name: 'Cats' } },
      ['changed'],
      [2n],
    ],
    [
      'stays unchanged',
      change(2n, { name: 'Cats', lowStockAt: 5 }),
      { type: 'done', category: CATS },
      [],
      [],
    ],
    ['does not get a used name', make({ name: ' dOgs' }), named(DOGS), [], []],
    ['does not get a used name in NFD', make({ name: 'Cafe\u0301' }), named(CAFE), [], []],
    ['is not renamed to a used name', change(2n, { name: 'DOGS', lowStockAt: 1 }), named(DOGS), [], []],
    [
      'is renamed to its own name in another case',
      change(2n, { name: 'CATS' }),
      { type: 'done', category: { ...CATS, name: 'CATS' } },
      ['changed'],
      [],
    ],
    [
      'keeps a name that another category has as well',
      change(4n, { name: 'café', lowStockAt: 2 }),
      { type: 'done', category: { id: 4n, name: 'café', lowStockAt: 2 } },
      ['changed'],
      [4n],
    ],
    ['does not get a shared name in another case', change(4n, { name: 'CAFÉ' }), named(CAFE), [], []],
    ['does not exist', change(9n, { name: 'X' }), { type: 'unknown_category' }, [], []],
    ['is in use', drop(1n), { type: 'category_has_pets' }, [], []],
    ['cannot be removed twice', drop(9n), { type: 'unknown_category' }, [], []],
  ])('one %s', (_, request, outcome, told, thresholds) => {
    const decision = decided([request], { categories })
    expect(decision.results).toEqual([outcome] as typeof decision.results)
    expect(decision.records.map((row): unknown => row.kind === 'category' && row.change)).toEqual(told)
    expect([...(decision.catalog?.thresholdChanges.keys() ?? [])]).toEqual(thresholds)
  })

  const apply = (...petIds: bigint[]): Command => ({ type: 'apply_thresholds', ...BY, petIds })

  test('pets get the threshold of their category, unless they have their own or do not exist', () => {
    const categories = new Map([DOGS, CATS].map((category) => [category.id, { ...category, lowStockAt: 12 }]))
    const decision = decided([apply(1n, 2n, 404n)], { categories })
    expect(decision.results).toEqual([DONE])
    expect(decision.records).toMatchObject([{ kind: 'low', petId: 1n, entry: { lowStockAt: 12 } }])
    expect(decision.catalog?.pets.size).toBe(0)
  })

  test('a threshold that the same commit changes again has its last value', () => {
    const changed = decided([change(1n, { lowStockAt: 2 }), apply(1n), patch(1n, { lowStockAt: 11 })])
    expect(changed.entries.get(1n)?.entry).toMatchObject({ lowStockAt: 11 })
    const removed = decided([change(1n, { lowStockAt: 2 }), apply(1n), remove(1n)])
    expect(removed.entries.get(1n)?.entry).toBeUndefined()
  })

  test('the name of a removed or renamed category is free, and that of a new one is not', () => {
    const { results } = decided(
      [
        drop(2n),
        make({ name: 'cats' }),
        change(1n, { name: 'Cats' }),
        change(51n, { name: 'Fish' }),
        change(1n, { name: 'Cats' }),
      ],
      { categoriesWithPets: new Set() },
    )
    const cats = { id: 51n, name: 'cats' }
    expect(results).toMatchObject([DONE, { category: cats }, named(cats), DONE, DONE])
  })

  test('an unused category is removed', () => {
    const decision = decided([drop(2n)], { categoriesWithPets: new Set([1n]) })
    expect(decision.results).toEqual([DONE])
    expect(decision.catalog?.categories).toEqual(new Map([[2n, undefined]]))
    expect(decision.records).toMatchObject([{ kind: 'category', change: 'removed', category: CATS }])
  })
})
