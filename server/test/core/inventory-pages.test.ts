import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type InventoryItem, PET_STATUSES } from '../../src/core/stock/inventory.ts'
import { InventoryPages, type InventorySnapshot } from '../../src/core/stock/view/inventory-pages.ts'
import { toJson } from '../../src/http/reply.ts'

const textOf = ({ parts }: InventorySnapshot): string => new TextDecoder().decode(Buffer.concat(parts))

/** The expected list, built from a plain map. */
function builtAnew(model: ReadonlyMap<bigint, InventoryItem>): { text: string; tag: string } {
  const items = [...model.values()].toSorted((a, b) => (a.petId < b.petId ? -1 : 1))
  const pages = new InventoryPages()
  for (const item of items) pages.set(item)
  return { text: toJson(items), tag: pages.snapshot().tag }
}

const item = fc.record({
  // Few ids, so that changes hit the same pet, including the limits of int64.
  petId: fc.oneof(
    fc.bigInt({ min: 0n, max: 40n }),
    fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 9007199254740993n),
  ),
  quantity: fc.oneof(fc.nat(20), fc.maxSafeNat()),
  status: fc.constantFrom(...PET_STATUSES),
})
const change = fc.oneof(
  { weight: 4, arbitrary: item.map((set) => ({ set })) },
  { weight: 1, arbitrary: item.map(({ petId }) => ({ remove: petId })) },
  { weight: 1, arbitrary: fc.constant('look' as const) },
)

describe('the pages of the live view', () => {
  test('after any changes, the bytes, the order and the tag equal those of a new list', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 120 }), (changes) => {
        const pages = new InventoryPages()
        const model = new Map<bigint, InventoryItem>()
        for (const one of changes) {
          if (one === 'look') pages.snapshot()
          else if ('set' in one) {
            pages.set(one.set)
            model.set(one.set.petId, one.set)
          } else {
            pages.remove(one.remove)
            model.delete(one.remove)
          }
        }
        const snapshot = pages.snapshot()
        expect({ text: textOf(snapshot), tag: snapshot.tag }).toEqual(builtAnew(model))
        expect(snapshot.byteLength).toBe(textOf(snapshot).length)
      }),
      { numRuns: 500 },
    )
  })

  test('the same holds for thousands of entries, when pages fill, split and become empty', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3_000), { minLength: 3_000, maxLength: 4_000 }), fc.nat(), (ids, seed) => {
        const pages = new InventoryPages()
        const model = new Map<bigint, InventoryItem>()
        for (const [index, id] of ids.entries()) {
          const petId = BigInt(id)
          if ((index + seed) % 7 === 0) {
            pages.remove(petId)
            model.delete(petId)
          } else {
            const entry: InventoryItem = { petId, quantity: index, status: 'pending' }
            pages.set(entry)
            model.set(petId, entry)
          }
        }
        const snapshot = pages.snapshot()
        expect({ text: textOf(snapshot), tag: snapshot.tag }).toEqual(builtAnew(model))
      }),
      { numRuns: 15 },
    )
  })

  test('a snapshot is immutable, and shares all but the changed page with the next snapshot', () => {
    const pages = new InventoryPages()
    for (let id = 0n; id < 5_000n; id++) pages.set({ petId: id, quantity: 1, status: 'sold' })
    const before = pages.snapshot()
    const text = textOf(before)
    pages.set({ petId: 2_500n, quantity: 123456, status: 'sold' })
    const after = pages.snapshot()
    expect(textOf(before)).toBe(text)
    expect(textOf(after)).not.toBe(text)
    const changed = after.parts.filter((part, index) => part !== before.parts[index])
    expect(changed).toHaveLength(1)
  })

  test('without a change it is the same snapshot', () => {
    const pages = new InventoryPages()
    pages.set({ petId: 1n, quantity: 1, status: 'sold' })
    expect(pages.snapshot()).toBe(pages.snapshot())
  })

  test('the tag differs for lists with the same sums', () => {
    const tagOf = (...items: InventoryItem[]) => {
      const pages = new InventoryPages()
      for (const one of items) pages.set(one)
      return pages.snapshot().tag
    }
    const entry = (petId: bigint, quantity: number, status: InventoryItem['status'] = 'sold') => ({
      petId,
      quantity,
      status,
    })
    const tags = [
      tagOf(),
      tagOf(entry(1n, 5), entry(2n, 6)),
      tagOf(entry(1n, 6), entry(2n, 5)),
      tagOf(entry(1n, 5, 'pending'), entry(2n, 6)),
      tagOf(entry(1n, 5), entry(2n, 6, 'pending')),
      tagOf(entry(1n, 5)),
      tagOf(entry(5n, 1)),
      tagOf(entry(2n ** 32n, 1)),
      tagOf(entry(1n, 2 ** 32)),
    ]
    expect(new Set(tags).size).toBe(tags.length)
  })
})
