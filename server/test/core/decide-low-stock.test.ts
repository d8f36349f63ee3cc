import { describe, expect, test } from 'bun:test'
import type { LockedCatalog } from '../../src/core/catalog/catalog-draft.ts'
import type { Pet, PetPatch } from '../../src/core/catalog/pet.ts'
import type { Order } from '../../src/core/orders/order.ts'
import type { Command, SubmittedCommand } from '../../src/core/stock/command.ts'
import { decide } from '../../src/core/stock/decide.ts'
import type { LockedEntry } from '../../src/core/stock/inventory.ts'
import { isLow } from '../../src/core/stock/stock-draft.ts'
import { MAX_QUANTITY } from '../../src/core/values/field.ts'
import { change, entryWith } from '../store/plain-rows.ts'
import { createOrder, orderCommand, orderWith } from '../support/orders.ts'

const NOW = 1_000_000
const BY = { keyId: 'key_a', at: 7 }
const entry = (more: Partial<LockedEntry> = {}): LockedEntry => entryWith(10, { lowStockAt: 3, ...more })
const set = (quantity: number, petId = 1n): Command => change(petId, quantity, BY)
const reserve = (quantity: number): Command => createOrder([1n, quantity])
const update = (type: 'complete_order' | 'cancel_order', orderId = 1n): Command =>
  orderCommand(type, orderWith({ id: orderId }, [1n, 1]))
const RELEASE: Command = { type: 'release_holds', ...BY, orderIds: [1n, 2n], petIds: [1n] }
const patch = (petPatch: PetPatch): Command => ({
  type: 'update_pet' as const,
  ...BY,
  petId: 1n,
  patch: petPatch,
})
const order = (quantity: number, more: Partial<Order> = {}): Order => orderWith(more, [1n, quantity])
const REMOVE: Command = { type: 'remove_pet', ...BY, petId: 1n }
const create = (more: Partial<Pet & { quantity: number }> = {}): Command => ({
  type: 'create_pet' as const,
  ...BY,
  pet: { id: 1n, name: 'Rex', categoryId: 1n, status: 'available', quantity: 10, ...more },
})

/** Category 1 has no threshold; category 2 has 5, category 3 has 20. */
function catalogOf(pet: Partial<Pet> | undefined): LockedCatalog {
  const known: Pet = { id: 1n, name: 'Rex', categoryId: 1n, status: 'available', ...pet }
  return {
    pets: new Map(pet === undefined ? [] : [[1n, known]]),
    categories: new Map([
      [1n, { id: 1n, name: 'Dogs' }],
      [2n, { id: 2n, name: 'Cats', lowStockAt: 5 }],
      [3n, { id: 3n, name: 'Birds', lowStockAt: 20 }],
    ]),
    barcodes: new Map(),
    categoriesWithPets: new Set(),
    newPetIds: [101n, 102n],
    newCategoryIds: [],
  }
}

interface Case {
  readonly from?: Partial<LockedEntry> | null
  readonly orders?: readonly Order[]
  readonly pet?: Partial<Pet>
  readonly asked: readonly SubmittedCommand[]
}

function decided({ from, orders = [], pet = { lowStockAt: 3 }, asked }: Case) {
  const found = from === null ? new Map<bigint, LockedEntry>() : new Map([[1n, entry(from)]])
  return decide(asked, found, {
    orders: {
      now: NOW,
      petIds: new Set([1n]),
      orders: new Map(orders.map((one) => [one.id, one])),
      newIds: [11n, 12n, 13n],
    },
    catalog: catalogOf(from === null ? undefined : pet),
  })
}

/** Each crossing with the available units after it. */
function crossings(decision: ReturnType<typeof decide>): string[] {
  return decision.records.flatMap((made) =>
    made.kind === 'low' || made.kind === 'recovered'
      ? [`${made.kind} ${made.entry.quantity - made.entry.reserved}`]
      : [],
  )
}

describe('a pet is low', () => {
  test.each<[Parameters<typeof isLow>[0], boolean]>([
    [{ quantity: 4, reserved: 0, lowStockAt: 3 }, false],
    [{ quantity: 3, reserved: 0, lowStockAt: 3 }, true],
    [{ quantity: 5, reserved: 2, lowStockAt: 3 }, true],
    [{ quantity: 0, reserved: 0, lowStockAt: 0 }, true],
    [{ quantity: 1, reserved: 0, lowStockAt: 0 }, false],
    [{ quantity: 0, reserved: 4, lowStockAt: 0 }, true],
    [{ quantity: 0, reserved: 0, lowStockAt: null }, false],
    [{ quantity: MAX_QUANTITY, reserved: 0, lowStockAt: MAX_QUANTITY }, true],
  ])('%j: %p', (state, expected) => {
    expect(isLow(state)).toBe(expected)
  })
})

describe('a crossing is logged once, in the request that causes it', () => {
  test.each<[string, Case, string[]]>([
    ['by a quantity', { asked: [set(3)] }, ['low 3']],
    ['not by a quantity above the threshold', { asked: [set(4)] }, []],
    ['not by a quantity that stays below', { from: { quantity: 2 }, asked: [set(0)] }, []],
    ['back by a quantity', { from: { quantity: 2 }, asked: [set(4)] }, ['recovered 4']],
    ['not by the same quantity again', { from: { quantity: 3 }, asked: [set(3)] }, []],
    [
      'by an adjustment',
      { asked: [{ type: 'adjust', ...BY, changes: [{ petId: 1n, delta: -8 }] }] },
      ['low 2'],
    ],
    [
      'not by a rejected adjustment',
      {
        asked: [
          {
            type: 'adjust',
            ...BY,
            changes: [
              { petId: 1n, delta: -8 },
              { petId: 404n, delta: 1 },
            ],
          },
        ],
      },
      [],
    ],
    [
      'several times in a commit',
      { asked: [set(1), set(9), set(2), set(0), set(4)] },
      [...['low 1', 'recovered 9', 'low 2', 'recovered 4']],
    ],
    ['by an order', { asked: [reserve(7)] }, ['low 3']],
    ['not by a rejected order', { asked: [reserve(11)] }, []],
    ['by the second of two orders', { asked: [reserve(6), reserve(1)] }, ['low 3']],
    [
      'back by a cancelled order',
      { from: { reserved: 8 }, orders: [order(8)], asked: [update('cancel_order')] },
      ['recovered 10'],
    ],
    [
      'not by a completed order, which reduces both',
      { from: { reserved: 6 }, orders: [order(6)], asked: [update('complete_order')] },
      [],
    ],
    [
      'nor by a completed order of a low pet',
      { from: { reserved: 8 }, orders: [order(8)], asked: [update('complete_order')] },
      [],
    ],
    [
      'back by an expired hold',
      { from: { reserved: 8 }, orders: [order(8, { expiresAt: NOW })], asked: [RELEASE] },
      ['recovered 10'],
    ],
    [
      'back by several expired holds, once',
      {
        from: { reserved: 9 },
        orders: [order(5, { expiresAt: NOW }), order(4, { id: 2n, expiresAt: NOW })],
        asked: [RELEASE],
      },
      ['recovered 10'],
    ],
    ['by its own threshold', { asked: [patch({ lowStockAt: 10 })] }, ['low 10']],
    [
      'back by a lower threshold',
      { from: { quantity: 3 }, asked: [patch({ lowStockAt: 2 })] },
      ['recovered 3'],
    ],
    [
      'back by no threshold',
      { from: { quantity: 3 }, asked: [patch({ lowStockAt: null })] },
      ['recovered 3'],
    ],
    [
      'by its category, once it has no own threshold',
      { from: { quantity: 5 }, pet: { categoryId: 2n, lowStockAt: 3 }, asked: [patch({ lowStockAt: null })] },
      ['low 5'],
    ],
    [
      'by another category',
      { from: { lowStockAt: 5 }, pet: { categoryId: 2n }, asked: [patch({ categoryId: 3n })] },
      ['low 10'],
    ],
    ['not by another category if it has its own threshold', { asked: [patch({ categoryId: 3n })] }, []],
    [
      'by a category and back by another',
      { from: { lowStockAt: null }, pet: {}, asked: [patch({ categoryId: 3n }), patch({ categoryId: 2n })] },
      ['low 10', 'recovered 10'],
    ],
    ['not by another name', { from: { quantity: 1 }, asked: [patch({ name: 'Max' })] }, []],
    [
      'by a pet that is created low',
      { from: null, asked: [create({ quantity: 3, lowStockAt: 3 })] },
      ['low 3'],
    ],
    [
      'not by a pet that is not created low',
      { from: null, asked: [create({ quantity: 4, lowStockAt: 3 })] },
      [],
    ],
    [
      'by a pet that is created low by its category',
      { from: null, asked: [create({ quantity: 3, categoryId: 2n })] },
      ['low 3'],
    ],
    ['not by removing a low pet', { from: { quantity: 1 }, asked: [REMOVE] }, []],
    [
      'by a removed pet that is created again as low',
      { from: { quantity: 1 }, asked: [REMOVE, create({ quantity: 2, lowStockAt: 3 })] },
      ['low 2'],
    ],
    [
      'by a pet that is created low, recovers, is removed and created again',
      {
        from: null,
        asked: [
          create({ quantity: 0, lowStockAt: 0 }),
          set(1),
          set(0),
          REMOVE,
          create({ lowStockAt: 3 }),
          set(1),
        ],
      },
      ['low 0', 'recovered 1', 'low 0', 'low 1'],
    ],
  ])('%s', (_, given, expected) => {
    const decision = decided(given)
    expect(crossings(decision)).toEqual(expected)
    const last = expected.at(-1)
    const after = decision.entries.get(1n)?.entry
    if (last !== undefined) expect(after !== undefined && isLow(after)).toBe(last.startsWith('low'))
  })
})

test('a crossing contains the entry right after it, and its author', () => {
  const { records } = decided({ asked: [reserve(8), patch({ lowStockAt: 1 })] })
  expect(records.filter(({ kind }) => kind === 'low' || kind === 'recovered')).toEqual([
    { kind: 'low', petId: 1n, entry: entry({ reserved: 8 }), by: reserve(8) },
    {
      kind: 'recovered',
      petId: 1n,
      entry: entry({ reserved: 8, lowStockAt: 1 }),
      by: patch({ lowStockAt: 1 }),
    },
  ])
  expect(records.map(({ kind }) => kind)).toEqual(['order', 'low', 'pet', 'recovered'])
})

test('a replayed request crosses nothing again', () => {
  const keyed = { ...set(1), idempotency: { key: 'k', fingerprint: 'f', answer: () => 'done' } }
  const asked = [keyed, set(9), keyed]
  expect(crossings(decided({ asked }))).toEqual(['low 1', 'recovered 9'])
})

test('a low pet that is removed and added with other values in one commit does not count as low', () => {
  const decision = decided({ from: { quantity: 1 }, asked: [REMOVE, create({ quantity: 9, lowStockAt: 3 })] })
  expect(crossings(decision)).toEqual([])
})

test('pets cross independently, in the order in which they are named', () => {
  const found = new Map([1n, 2n, 3n].map((petId) => [petId, entry({ quantity: 5 })]))
  const changes = [3n, 1n, 2n].map((petId) => ({ petId, delta: petId === 1n ? -1 : -2 }))
  const { records } = decide([{ type: 'adjust', ...BY, changes }], found)
  expect(records.filter(({ kind }) => kind === 'low').map((one) => 'petId' in one && one.petId)).toEqual([
    3n,
    2n,
  ])
})
