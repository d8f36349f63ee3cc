import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { CommandOf } from '../../src/core/stock/command.ts'
import { MAX_QUANTITY } from '../../src/core/values/field.ts'
import { addPets, putPets } from '../support/add-pets.ts'
import { removePet } from '../support/remove-pet.ts'
import { change, pet } from './plain-rows.ts'
import {
  type KeyedAdjust,
  ModelShop,
  PETS,
  type Step,
  type StockUnderTest,
  told,
} from './stock-model-shop.ts'

/** How many cases run: a remote database takes longer. */
interface Extent {
  readonly runs: number
  readonly steps: number
}

export function stockModelSuite(
  title: string,
  database: StockUnderTest,
  { runs, steps: most }: Extent,
): void {
  test(`${title}: the stock is right for everybody at every moment, for any writers, failures and pruning`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: most, size: 'max' }), async (steps) => {
        const shop = new ModelShop(database)
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
      { numRuns: runs, seed: SEED },
    )
  })
}

/**
 * `MODEL_SEED=7 bun test server/test/store/stock-model.test.ts` runs other cases; a failure prints the seed and
 * the path.
 */
const SEED = Number(Bun.env.MODEL_SEED ?? 20_261_117)

const who = fc.integer({ min: 0, max: 1 })
const petId = fc.constantFrom(...PETS)
const quantity = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(MAX_QUANTITY))
const batch = fc.array(fc.tuple(petId, quantity), { minLength: 1, maxLength: 6 })

const setting = fc.tuple(who, batch).map(
  ([index, changes]): Step =>
    async (shop) => {
      await shop.store(index).changeStock(changes.map(([id, value]) => change(id, value)))
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
        .changeStock(all)
        .then(mustFail, () => {})
    },
)
const delta = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constant(MAX_QUANTITY)).filter((by) => by !== 0)
const adjustmentChange = fc.tuple(
  petId,
  fc.oneof(
    delta.map((by) => ({ delta: by })),
    quantity.map((value) => ({ quantity: value })),
  ),
  fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
)
const adjustment = fc
  .uniqueArray(adjustmentChange, { minLength: 1, maxLength: 4, selector: ([id]) => id })
  .map((changes) => changes.map(([id, what, expected]) => ({ petId: id, ...what, expected })))

/**
 * Adjustments that share a commit, some with an idempotency key that was used before or is used by the other
 * process.
 */
const adjusting = fc
  .tuple(
    who,
    fc.array(fc.tuple(adjustment, fc.constantFrom('', 'a', 'b', 'c')), { minLength: 1, maxLength: 4 }),
  )
  .map(
    ([index, adjustments]): Step =>
      async (shop) => {
        const requests = adjustments.map(([changes, key]) => adjustmentOf(changes, key))
        const outcomes = await shop.store(index).changeStock(requests)
        expect(outcomes.map(told)).toEqual(requests.map((request) => told(shop.adjust(request))))
      },
  )
/** The same adjustment on both processes at once. */
const adjustingTwice = fc.tuple(adjustment, fc.constantFrom('a', 'b', 'c')).map(
  ([changes, key]): Step =>
    async (shop) => {
      const request = adjustmentOf(changes, key)
      const outcomes = await Promise.all(shop.stores.map((store) => store.changeStock([request])))
      const expected = [told(shop.adjust(request)), told(shop.adjust(request))]
      expect(outcomes.flat().map(told).sort()).toEqual(expected.sort())
    },
)
const adding = fc.tuple(who, petId, quantity).map(
  ([index, id, value]): Step =>
    async (shop) => {
      if (shop.quantities.has(id)) return
      await addPets(shop.store(index), [pet(id, value)])
      shop.quantities.set(id, value)
    },
)
const removing = fc.tuple(who, petId).map(
  ([index, id]): Step =>
    async (shop) => {
      shop.record(id, 0)
      const expected = shop.quantities.delete(id) ? 'removed' : 'unknown_pet'
      expect(await removePet(shop.store(index), id)).toBe(expected)
    },
)
const importing = fc.tuple(who, batch).map(
  ([index, rows]): Step =>
    async (shop) => {
      const wanted = new Map(rows)
      const pets = Array.from(wanted, ([id, value]) => pet(id, value))
      await putPets(shop.store(index), pets, { at: 5, keyId: 'import' })
      for (const [id, value] of wanted) {
        shop.quantities.set(id, shop.quantities.get(id) ?? 0)
        shop.record(id, value)
      }
    },
)
/** The remaining history is the end of the previous one; the stock does not change. */
const pruning = fc.tuple(who, fc.integer({ min: 0, max: 5 })).map(
  ([index, keep]): Step =>
    async (shop) => {
      const store = shop.store(index)
      const { prunable, total } = await store.countPrunable({ keep })
      expect(prunable).toBe(Math.max(0, total - keep))
      const removed = [await store.pruneHistory({ keep }, 2), await store.pruneHistory({ keep }, 1_000)]
      expect((removed[0] as number) + (removed[1] as number)).toBe(prunable)
      await shop.forgetHistory()
    },
)
const loading = who.map(
  (index): Step =>
    async (shop) => {
      await shop.store(index).loadStock(() => {})
    },
)
/** Another process writes at some point during the load. */
const loadingMeanwhile = fc.tuple(who, who, batch, fc.integer({ min: 0, max: 12 })).map(
  ([reader, writer, changes, turns]): Step =>
    async (shop) => {
      const loading = shop.store(reader).loadStock(() => {})
      for (let turn = 0; turn < turns; turn++) await null
      await shop.store(writer).changeStock(changes.map(([id, value]) => change(id, value)))
      for (const [id, value] of changes) shop.record(id, value)
      await loading
    },
)
const reopening = who.map(
  (index): Step =>
    (shop) =>
      shop.reopen(index),
)
/** Both at once, for different pets: the second starts before the first is notified of its commit. */
const crossing = fc.tuple(batch, batch).map(
  ([one, all]): Step =>
    async (shop) => {
      const two = all.filter(([id]) => one.every(([other]) => other !== id))
      const { changeStock } = shop.store(0)
      await Promise.all([one, two].map((rows) => changeStock(rows.map(([id, value]) => change(id, value)))))
      for (const [id, value] of [...one, ...two]) shop.record(id, value)
    },
)
const step = fc.oneof(
  { weight: 6, arbitrary: setting },
  { weight: 6, arbitrary: adjusting },
  { weight: 2, arbitrary: adjustingTwice },
  { weight: 3, arbitrary: failing },
  { weight: 2, arbitrary: adding },
  { weight: 1, arbitrary: removing },
  { weight: 1, arbitrary: importing },
  { weight: 1, arbitrary: pruning },
  { weight: 1, arbitrary: loading },
  { weight: 2, arbitrary: loadingMeanwhile },
  { weight: 1, arbitrary: reopening },
  { weight: 1, arbitrary: crossing },
)

function adjustmentOf(changes: CommandOf<'adjust'>['changes'], key: string): KeyedAdjust {
  const fingerprint = told({ changes })
  const idempotency = key === '' ? undefined : { key, fingerprint, answer: told }
  return {
    type: 'adjust',
    keyId: 'key_a',
    at: 1,
    reason: 'counted',
    reference: 'count "1"',
    changes,
    idempotency,
  }
}

function mustFail(): never {
  throw new Error('a batch that cannot be stored was stored')
}
