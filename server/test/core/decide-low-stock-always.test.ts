import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Category } from '../../src/core/catalog/category.ts'
import type { Pet } from '../../src/core/catalog/pet.ts'
import type { Order } from '../../src/core/orders/order.ts'
import { petIdsOfLines } from '../../src/core/orders/order.ts'
import type { Command } from '../../src/core/stock/command.ts'
import { decide } from '../../src/core/stock/decide.ts'
import type { LockedEntry } from '../../src/core/stock/inventory.ts'
import type { LogRecord } from '../../src/core/stock/stock-draft.ts'
import { isLow } from '../../src/core/stock/stock-draft.ts'
import type { StockEvent } from '../../src/core/stock/stock-event.ts'
import { LowStockModel } from '../support/low-stock-model.ts'

const BY = { keyId: 'key_a', at: 7 }
const PETS = [1n, 2n, 3n]
const CODES = ['A', 'B']
const CATEGORIES: readonly Category[] = [
  { id: 1n, name: 'Dogs' },
  { id: 2n, name: 'Cats', lowStockAt: 3 },
]

const petId = fc.constantFrom(...PETS)
const units = fc.integer({ min: 0, max: 6 })
const categoryId = fc.constantFrom(1n, 2n, 9n)
const barcode = fc.constantFrom(...CODES)
const request = fc.oneof(
  fc
    .oneof(
      fc.record({ petId, quantity: units }),
      fc.record({ petId, delta: fc.integer({ min: -3, max: 3 }) }),
    )
    .map((change) => ({ type: 'adjust', changes: [change] })),
  fc
    .uniqueArray(fc.record({ petId, quantity: fc.integer({ min: 1, max: 3 }) }), {
      selector: (line) => line.petId,
      minLength: 1,
    })
    .map((lines) => ({ type: 'create_order', order: { lines } })),
  fc.record({
    orderId: fc.bigInt({ min: 1n, max: 9n }),
    type: fc.constantFrom('complete_order', 'cancel_order'),
  }),
  fc
    .record(
      {
        lowStockAt: fc.option(units),
        categoryId,
        barcode: fc.option(barcode),
        name: fc.constantFrom('x', 'y'),
      },
      { requiredKeys: [] },
    )
    .chain((petPatch) => petId.map((id) => ({ type: 'update_pet' as const, petId: id, patch: petPatch }))),
  petId.map((removedPet) => ({ type: 'remove_pet' as const, petId: removedPet })),
  fc
    .record(
      { id: petId, categoryId, quantity: units, lowStockAt: units, barcode },
      { requiredKeys: ['id', 'categoryId', 'quantity'] },
    )
    .map((pet) => ({
      type: 'create_pet' as const,
      pet: { name: 'New', status: 'available' as const, ...pet },
    })),
  fc
    .uniqueArray(
      fc.record(
        {
          id: petId,
          name: fc.constantFrom('x', 'y'),
          categoryId,
          quantity: units,
          lowStockAt: fc.option(units),
          barcode: fc.option(barcode),
        },
        { requiredKeys: ['id'] },
      ),
      {
        minLength: 1,
        comparator: (one, other) =>
          one.id === other.id || (typeof one.barcode === 'string' && one.barcode === other.barcode),
      },
    )
    .map((pets) => ({ type: 'upsert_pets' as const, canChangeStock: true, pets })),
)
const commits = fc.array(fc.array(request, { minLength: 1, maxLength: 6 }), { maxLength: 12 })

/** A simple store: it finds the requested rows and applies decisions. */
class PlainStore {
  readonly entries = new Map<bigint, LockedEntry>()
  readonly pets = new Map<bigint, Pet>()
  readonly orders = new Map<bigint, Order>()

  commit(asked: readonly object[]): readonly LogRecord[] {
    const requests = asked.map((one): Command => {
      const order =
        'orderId' in one ? { petIds: petIdsOfLines(this.orders.get(one.orderId as bigint)?.lines ?? []) } : {}
      return { ...BY, ...order, ...one } as Command
    })
    const codes = [...this.pets.values()].flatMap(({ id, barcode: code }) =>
      code === undefined ? [] : [[code, id] as const],
    )
    const decision = decide(requests, new Map(this.entries), {
      orders: {
        now: 0,
        petIds: new Set(PETS),
        orders: new Map(this.orders),
        newIds: requests.map((_, index) => BigInt(this.orders.size + index + 1)),
      },
      catalog: {
        pets: new Map(this.pets),
        barcodes: new Map(codes),
        categoriesWithPets: new Set<bigint>(),
        categories: new Map(CATEGORIES.map((one) => [one.id, one])),
        newPetIds: [],
        newCategoryIds: [],
      },
    })
    for (const [id, pet] of decision.catalog?.pets ?? []) put(this.pets, id, pet)
    for (const [id, { entry }] of decision.entries) put(this.entries, id, entry)
    for (const order of decision.orders?.added ?? []) this.orders.set(order.id, order)
    for (const order of decision.orders?.changed ?? []) this.orders.set(order.id, order)
    return decision.records
  }
}

function put<Value>(rows: Map<bigint, Value>, id: bigint, value: Value | undefined): void {
  if (value === undefined) rows.delete(id)
  else rows.set(id, value)
}

/** The record as the log returns it. */
function toEvent(made: LogRecord): StockEvent {
  const rest = { ...BY, cursor: '' }
  switch (made.kind) {
    case 'change':
      return {
        ...rest,
        ...made.by,
        kind: 'change',
        petId: made.petId,
        before: made.before,
        after: made.after,
        status: made.status,
      } as StockEvent
    case 'pet': {
      const { id, ...pet } = made.pet
      return {
        ...rest,
        ...pet,
        kind: 'pet',
        petId: id,
        change: made.fact === undefined ? 'changed' : 'created',
        quantity: made.after,
      }
    }
    case 'removed':
      return { ...rest, kind: 'removed', petId: made.petId }
    case 'order':
      return {
        ...rest,
        kind: 'order',
        change: made.change,
        orderId: made.order.id,
        state: made.order.state,
        lines: made.lines,
      }
    case 'category':
      throw new Error('nobody has asked for that')
    default: {
      const { quantity, reserved, lowStockAt } = made.entry
      const threshold = lowStockAt === null ? {} : { lowStockAt }
      return {
        ...rest,
        kind: made.kind,
        petId: made.petId,
        quantity,
        reserved,
        available: quantity - reserved,
        ...threshold,
      }
    }
  }
}

test('for any requests in any commits: each crossing is logged once, right after its cause, and barcodes stay unique', () => {
  fc.assert(
    fc.property(commits, (all) => {
      const store = new PlainStore()
      const model = new LowStockModel((id) => CATEGORIES.find((one) => one.id === id)?.lowStockAt ?? null)
      for (const asked of all) {
        model.play(store.commit(asked).map(toEvent))
        expect(model.finish()).toEqual([])
        for (const [id, entry] of store.entries) {
          const pet = store.pets.get(id)
          const threshold = CATEGORIES.find((one) => one.id === pet?.categoryId)?.lowStockAt
          expect(entry.lowStockAt).toBe(pet?.lowStockAt ?? threshold ?? null)
          expect(model.low.get(id)).toBe(isLow(entry))
        }
        const codes = [...store.pets.values()].flatMap(({ barcode: code }) => code ?? [])
        expect(new Set(codes).size).toBe(codes.length)
      }
    }),
    { numRuns: 500 },
  )
})
