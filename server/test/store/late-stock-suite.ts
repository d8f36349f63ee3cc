import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { MAX_QUANTITY } from '../../src/core/stock/inventory.ts'
import type { Store } from '../../src/store/store.ts'
import { change, pet } from './plain-rows.ts'

/** Where the stock is settled all the time. */
export interface LateStockUnderTest {
  /** Each time an empty store. */
  create(): Promise<void>
  /** A process on the latest one. */
  open(): Promise<Store>
}

/** How much is tried: a database far away takes longer. */
interface Extent {
  readonly runs: number
  readonly steps: number
}

export function lateStockSuite(
  title: string,
  place: LateStockUnderTest,
  { runs, steps: most }: Extent,
): void {
  test(`${title}: stock that is settled late is right for everybody at every moment, whoever writes and whatever fails`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: most, size: 'max' }), async (steps) => {
        const shop = new Shop(place)
        await shop.open()
        try {
          for (const take of steps) {
            await take(shop)
            await shop.check()
          }
        } finally {
          await shop.close()
        }
      }),
      { numRuns: runs },
    )
  })
}

/** Two processes on one store, and what should be in it. */
class Shop {
  readonly stores: Store[] = []
  readonly quantities = new Map<bigint, number>()
  readonly history = new Map<bigint, [before: number, after: number][]>()
  readonly #place: LateStockUnderTest
  #cursors: string[] = []

  constructor(place: LateStockUnderTest) {
    this.#place = place
  }

  async open(): Promise<void> {
    await this.#place.create()
    for (const _ of [1, 2]) this.stores.push(await this.#place.open())
    const first = PETS.slice(0, 4)
    await this.store(0).addPets(first.map((id) => pet(id, 0)))
    for (const id of first) this.quantities.set(id, 0)
    for (const store of this.stores) this.#cursors.push(await store.loadStock(() => {}))
  }

  async close(): Promise<void> {
    for (const store of this.stores) await store.close()
  }

  async reopen(index: number): Promise<void> {
    await this.store(index).close()
    this.stores[index] = await this.#place.open()
  }

  store(index: number): Store {
    return this.stores[index] as Store
  }

  record(petId: bigint, quantity: number): void {
    const before = this.quantities.get(petId)
    if (before === undefined || before === quantity) return
    this.quantities.set(petId, quantity)
    this.history.set(petId, [...(this.history.get(petId) ?? []), [before, quantity]])
  }

  async check(): Promise<void> {
    const expected = [...this.quantities].sort(([one], [other]) => Number(one - other))
    for (const [index, store] of this.stores.entries()) {
      const items = await store.listInventory()
      expect(items.map(({ petId, quantity }) => [petId, quantity])).toEqual(expected)
      const changes = await store.stockChangesSince(this.#cursors[index] ?? '')
      if (changes === 'too_many') throw new Error('few changes are too many')
      for (const { petId, quantity } of changes.set)
        expect(quantity).toBe(this.quantities.get(petId) as number)
      for (const petId of changes.removed) expect(this.quantities.has(petId)).toBe(false)
      this.#cursors[index] = changes.cursor
      for (const petId of PETS) {
        const found = (await store.listHistory(petId)).map(({ before, after }) => [before, after])
        expect(found).toEqual(this.history.get(petId) ?? [])
      }
      expect(await store.findDamage()).toEqual([])
    }
  }
}

type Step = (shop: Shop) => Promise<void>

const PETS = [1n, 2n, 3n, 2n ** 62n, 2n ** 62n + 1n, -5n]
const who = fc.integer({ min: 0, max: 1 })
const petId = fc.constantFrom(...PETS)
const quantity = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(MAX_QUANTITY))
const batch = fc.array(fc.tuple(petId, quantity), { minLength: 1, maxLength: 6 })

const setting = fc.tuple(who, batch).map(
  ([index, changes]): Step =>
    async (shop) => {
      await shop.store(index).setQuantities(changes.map(([id, value]) => change(id, value)))
      for (const [id, value] of changes) shop.record(id, value)
    },
)
const failing = fc.tuple(who, batch, petId).map(
  ([index, changes, wrong]): Step =>
    async (shop) => {
      if (!shop.quantities.has(wrong)) return
      const all = [...changes, [wrong, -1] as const].map(([id, value]) => change(id, value))
      await shop
        .store(index)
        .setQuantities(all)
        .then(mustFail, () => {})
    },
)
const adding = fc.tuple(who, petId, quantity).map(
  ([index, id, value]): Step =>
    async (shop) => {
      // One that comes back with another quantity than its history is for an import.
      if (shop.quantities.has(id) || shop.history.has(id)) return
      await shop.store(index).addPets([pet(id, value)])
      shop.quantities.set(id, value)
    },
)
const removing = fc.tuple(who, petId).map(
  ([index, id]): Step =>
    async (shop) => {
      expect(await shop.store(index).removePet(id)).toBe(shop.quantities.delete(id))
    },
)
const importing = fc.tuple(who, batch).map(
  ([index, rows]): Step =>
    async (shop) => {
      const wanted = new Map(rows)
      const staged = await shop.store(index).stagePets()
      await staged.add([...wanted].map(([id, value], at) => ({ line: at + 2, value: pet(id, value) })))
      await staged.seal(0)
      await staged.apply({ at: 5, keyId: 'import' })
      await staged.discard()
      for (const [id, value] of wanted) {
        const isBack = !shop.quantities.has(id) && shop.history.has(id)
        // A pet that comes back goes on with its history.
        if (isBack) shop.quantities.set(id, shop.history.get(id)?.at(-1)?.[1] as number)
        if (shop.quantities.has(id)) shop.record(id, value)
        else shop.quantities.set(id, value)
      }
    },
)
const loading = who.map(
  (index): Step =>
    async (shop) => {
      await shop.store(index).loadStock(() => {})
    },
)
/** Somebody writes while it is being read, sooner or later. */
const loadingMeanwhile = fc.tuple(who, who, batch, fc.integer({ min: 0, max: 12 })).map(
  ([reader, writer, changes, turns]): Step =>
    async (shop) => {
      const loading = shop.store(reader).loadStock(() => {})
      for (let turn = 0; turn < turns; turn++) await null
      await shop.store(writer).setQuantities(changes.map(([id, value]) => change(id, value)))
      for (const [id, value] of changes) shop.record(id, value)
      await loading
    },
)
const reopening = who.map(
  (index): Step =>
    (shop) =>
      shop.reopen(index),
)
/** Both at once: the second begins before the first is told of its commit. */
const crossing = fc.tuple(batch, batch).map(
  ([one, two]): Step =>
    async (shop) => {
      const { setQuantities } = shop.store(0)
      await Promise.all([one, two].map((rows) => setQuantities(rows.map(([id, value]) => change(id, value)))))
      for (const [id, value] of [...one, ...two]) shop.record(id, value)
    },
)
const step = fc.oneof(
  { weight: 6, arbitrary: setting },
  { weight: 3, arbitrary: failing },
  { weight: 2, arbitrary: adding },
  { weight: 1, arbitrary: removing },
  { weight: 1, arbitrary: importing },
  { weight: 1, arbitrary: loading },
  { weight: 2, arbitrary: loadingMeanwhile },
  { weight: 1, arbitrary: reopening },
  { weight: 1, arbitrary: crossing },
)

function mustFail(): never {
  throw new Error('a batch that cannot be stored was stored')
}
