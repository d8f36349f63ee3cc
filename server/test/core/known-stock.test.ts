import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { PET_STATUSES, type PetStatus } from '../../src/core/stock/inventory.ts'
import { KnownStock } from '../../src/core/stock/known-stock.ts'

interface Entry {
  readonly quantity: number
  readonly status: PetStatus
  readonly lastChange: number | null
}

// Many ids that a double cannot tell apart, and many in a row.
const petIds = fc.oneof(
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  fc.bigInt(2n ** 60n, 2n ** 60n + 300n),
  fc.bigInt(-3_000n, 3_000n),
)
const quantities = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const lastChanges = fc.option(fc.integer({ min: 1, max: 2 ** 50 }))

test('what is known of the stock is what was added, changed, set and removed, for any ids', () => {
  const what = fc.constantFrom('change', 'set', 'remove')
  const step = fc.tuple(petIds, quantities, fc.constantFrom(...PET_STATUSES), lastChanges, what)
  fc.assert(
    fc.property(fc.array(step, { maxLength: 4_000, size: 'max' }), fc.array(petIds), (steps, others) => {
      const known = new KnownStock()
      const model = new Map<bigint, Entry>()
      for (const [petId, quantity, status, lastChange, what] of steps) {
        const place = known.placeOf(petId)
        const entry = model.get(petId)
        expect(place === undefined).toBe(entry === undefined)
        if (what === 'set') {
          known.set(petId, quantity, status)
          model.set(petId, { quantity, status, lastChange: null })
        } else if (what === 'remove') {
          known.remove(petId)
          model.delete(petId)
        } else if (place === undefined || entry === undefined) {
          known.add(petId, quantity, status, lastChange)
          known.add(petId, 0, 'sold', 1)
          model.set(petId, { quantity, status, lastChange })
        } else {
          known.change(place, quantity, lastChange ?? 1)
          model.set(petId, { quantity, status: entry.status, lastChange: lastChange ?? 1 })
        }
      }
      for (const petId of [...model.keys(), ...others])
        expect(entryIn(known, petId)).toEqual(model.get(petId))
      known.clear()
      for (const petId of model.keys()) expect(known.placeOf(petId)).toBeUndefined()
    }),
    { numRuns: 30 },
  )
})

function entryIn(known: KnownStock, petId: bigint): Entry | undefined {
  const place = known.placeOf(petId)
  if (place === undefined) return undefined
  return {
    quantity: known.quantityAt(place),
    status: known.statusAt(place),
    lastChange: known.lastChangeAt(place),
  }
}
