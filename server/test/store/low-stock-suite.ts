import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { CategoryPatch } from '../../src/core/catalog/category.ts'
import type { PetPatch, StockedPet } from '../../src/core/catalog/pet.ts'
import type { ThresholdParts } from '../../src/core/catalog/threshold-changes.ts'
import type { Order } from '../../src/core/orders/order.ts'
import type { Command } from '../../src/core/stock/command.ts'
import { backgroundJobs } from '../../src/service/jobs.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets, putPets } from '../support/add-pets.ts'
import { applyThresholdIn, groupCommit } from '../support/apply-thresholds.ts'
import { LowStockModel, lowStockIsRight } from '../support/low-stock-model.ts'
import { addOrders, createOrderWith, orderCommand, orderIn, releaseHolds } from '../support/orders.ts'
import { eventsAfter } from '../support/oversell-check.ts'
import { change, pet } from './plain-rows.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const START = 1_790_000_000_000
const BY = { keyId: 'key_a', at: 1 }
const patch = (petId: bigint, petPatch: PetPatch): Command => ({
  type: 'update_pet' as const,
  ...BY,
  petId,
  patch: petPatch,
})
const patchCategory = (categoryId: bigint, categoryPatch: CategoryPatch): Command => ({
  type: 'update_category',
  ...BY,
  categoryId,
  patch: categoryPatch,
})
const draft = (petId: bigint, quantity: number, holdSeconds?: number): Command =>
  createOrderWith(holdSeconds === undefined ? {} : { holdSeconds }, [petId, quantity])
const low = (id: bigint, quantity: number, lowStockAt?: number): StockedPet => ({
  ...pet(id, quantity),
  ...(lowStockAt === undefined ? {} : { lowStockAt }),
})

/** The guarantees of every adapter for thresholds: each crossing is logged once, in the commit that causes it. */
export function lowStockSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: low stock`, () => {
    let now: number
    let store: Store
    let other: Store
    let start: string
    beforeEach(async () => {
      now = START
      store = await underTest.open(() => now)
      other = await underTest.open(() => now)
      start = await store.latestEventCursor()
      await addPets(store, [low(1n, 10, 3), low(2n, 10), low(3n, 2, 3), low(4n, 0)])
    })
    afterEach(async () => {
      const low = await lowStockIsRight(underTest, store)
      const told = new LowStockModel(() => 'unknown')
      const events = await eventsAfter(other, start)
      if (events.every(({ kind }) => kind !== 'relist')) {
        told.play(events)
        expect(told.finish()).toEqual([])
        expect(told.low).toEqual(low)
      }
      await store.close()
      await other.close()
      await underTest.discard()
    })

    const changeAndApply = async (by: Store, ...requests: readonly Command[]) => {
      await by.changeStock(requests)
      for (const request of requests)
        if (request.type === 'update_category') await applyThresholdIn(by, request.categoryId)
    }
    /** All crossings since then. */
    async function crossings(since = start): Promise<string[]> {
      return (await eventsAfter(other, since)).flatMap((event) =>
        event.kind === 'low' || event.kind === 'recovered'
          ? [`${event.petId} ${event.kind} ${event.available}/${event.lowStockAt ?? '-'}`]
          : [],
      )
    }
    async function crossed(...requests: readonly Command[]): Promise<string[]> {
      const cursor = await store.latestEventCursor()
      await changeAndApply(store, ...requests)
      return crossings(cursor)
    }
    async function imported(rows: Parameters<typeof putPets>[1]): Promise<string[]> {
      const cursor = await store.latestEventCursor()
      await putPets(store, rows, { at: 5, keyId: 'import' })
      return crossings(cursor)
    }

    test('orders cross; completing one crosses nothing', async () => {
      const order = orderIn((await store.changeStock([draft(1n, 7)]))[0])
      expect((await crossings()).at(-1)).toBe('1 low 3/3')
      expect(await crossed(orderCommand('complete_order', order))).toEqual([])
      expect(await crossed(change(1n, 8), draft(1n, 5))).toEqual(['1 recovered 8/3', '1 low 3/3'])
      const [open] = await store.listOrders({ state: 'open' }, 9)
      expect(await crossed(orderCommand('cancel_order', open as Order))).toEqual(['1 recovered 8/3'])
    })

    test('expired holds cross in the commit that releases them', async () => {
      await store.changeStock([draft(1n, 4, 60), draft(1n, 4, 60)])
      now += 60_000
      expect(await crossed(draft(1n, 1))).toEqual(['1 recovered 10/3'])
      await store.changeStock([draft(1n, 8, 60)])
      now += 60_000
      expect(await crossed(await releaseHolds(store))).toEqual(['1 recovered 9/3'])
    })

    test('expired holds are ignored when their pet is changed otherwise', async () => {
      await store.changeStock([draft(1n, 6, 1), draft(2n, 6, 1), draft(3n, 1, 1)])
      now += 1_000
      const since = await store.latestEventCursor()
      // If the expired holds counted, the first two would cross.
      await store.changeStock([change(1n, 8), { type: 'adjust', ...BY, changes: [{ petId: 3n, delta: 2 }] }])
      await store.changeStock([patch(2n, { lowStockAt: 5 })])
      expect(await crossings(since)).toEqual(['3 recovered 4/3'])
      const orders = (await eventsAfter(store, since)).filter(({ kind }) => kind === 'order')
      expect(orders).toMatchObject(Array(3).fill({ change: 'expired' }))
      expect(await store.findAvailability(1n)).toMatchObject({ quantity: 8, reserved: 0 })
    })

    /** Four pets and 1,200 further ones need three commits. */
    const LAST_PET = 1_299n
    const addManyPets = () =>
      imported(Array.from({ length: 1_200 }, (_, index) => low(BigInt(index + 100), index % 10)))

    test('a category crosses for a thousand pets at once, except those with their own threshold', async () => {
      await addManyPets()
      expect(await crossed(patchCategory(1n, { lowStockAt: 4 }))).toHaveLength(601)
      expect(await crossed(patchCategory(1n, { name: 'Dogs' }))).toEqual([])
      expect(await crossed(patchCategory(1n, { lowStockAt: 5 }))).toHaveLength(120)
      await lowStockIsRight(underTest, store)
      expect(await crossed(patchCategory(1n, { lowStockAt: 0 }))).toHaveLength(600)
      const gone = await crossed(patchCategory(1n, { lowStockAt: null }))
      expect([gone.length, gone[0]]).toEqual([121, '4 recovered 0/-'])
    })

    /** Commits that run `between` after the first commit. */
    const commitsWith = (by: Store, between: () => Promise<void>): ThresholdParts['commits'] => {
      const commits = groupCommit(by)
      let isFirst = true
      return {
        run: async (command) => {
          const outcome = await commits.run(command)
          if (isFirst) {
            isFirst = false
            await between()
          }
          return outcome
        },
      }
    }
    test('pets change between two commits of a new threshold, and each decision uses one threshold', async () => {
      await addManyPets()
      const since = await store.latestEventCursor()
      await store.changeStock([patchCategory(1n, { lowStockAt: 4 })])
      const between = async () => {
        // The first pet has the new threshold, and the last pet the old one.
        await other.changeStock([change(4n, 5), change(LAST_PET, 3)])
        await other.changeStock([patch(110n, { name: 'Changed' }), patch(1_290n, { name: 'Changed' })])
        expect(await other.findDamage()).toEqual([])
      }
      await applyThresholdIn(store, 1n, commitsWith(store, between))
      const all = await crossings(since)
      expect(all.filter((text) => /^(4|1299|1290) /.test(text))).toEqual([
        ...['4 low 0/4', '4 recovered 5/4', '1290 low 0/4', '1299 low 3/4'],
      ])
      expect(await store.unappliedThresholds()).toEqual(new Map())
    })

    test('of two concurrent changes of a threshold, all pets get the last', async () => {
      await addManyPets()
      await store.changeStock([patchCategory(1n, { lowStockAt: 9 })])
      const [changeId = ''] = (await store.unappliedThresholds()).values()
      const between = async () => {
        await other.changeStock([patchCategory(1n, { lowStockAt: 2 })])
        // The earlier change is superseded, so it cannot finish the later one.
        await store.finishThresholdChange(1n, changeId)
        expect((await store.unappliedThresholds()).size).toBe(1)
      }
      await applyThresholdIn(store, 1n, commitsWith(store, between))
      // 0, 1 and 2 units of every ten, and the pets 3 and 4; the model of `afterEach` checks each of them.
      const low = await lowStockIsRight(underTest, store)
      expect([...low.values()].filter(Boolean)).toHaveLength(362)
      expect(await store.unappliedThresholds()).toEqual(new Map())
    })

    test('an interrupted change of a threshold is finished by a background job of another instance', async () => {
      await addManyPets()
      await store.changeStock([patchCategory(1n, { lowStockAt: 4 })])
      const killed = new Error('killed')
      const interrupted = applyThresholdIn(
        store,
        1n,
        commitsWith(store, () => Promise.reject(killed)),
      )
      await expect(interrupted).rejects.toBe(killed)
      expect(await other.petsWithOldThreshold(1n)).toHaveLength(702)
      const jobs = backgroundJobs({
        store: other,
        limits: { save: async () => {} },
        commits: groupCommit(other),
        clock: () => now,
        retentionDays: 'off',
      })
      const job = jobs.find(({ name: jobName }) => jobName === 'apply-thresholds')
      const { signal } = new AbortController()
      // The first run leaves the change to the request, which may be in progress.
      await job?.run(signal)
      expect(await other.petsWithOldThreshold(1n)).toHaveLength(702)
      await job?.run(signal)
      await lowStockIsRight(underTest, store)
      expect(await store.unappliedThresholds()).toEqual(new Map())
    })

    test('an import crosses by quantities, thresholds and categories, each pet once', async () => {
      await store.changeStock([
        { type: 'create_category', ...BY, category: { id: 2n, name: 'Cats', lowStockAt: 10 } },
      ])
      const rows: Parameters<typeof putPets>[1] = [
        ...[{ ...pet(1n, 2) }, { ...pet(2n, 10), lowStockAt: 10 }, { ...pet(3n, 2), lowStockAt: null }],
        ...[
          { ...pet(4n, 11), categoryId: 2n },
          { ...pet(5n, 10), categoryId: 2n },
          { ...pet(6n, 0), lowStockAt: 0 },
        ],
      ]
      expect((await imported(rows)).sort((one, other) => one.localeCompare(other))).toEqual([
        ...['1 low 2/3', '2 low 10/10', '3 recovered 2/-', '5 low 10/10', '6 low 0/0'],
      ])
      expect(await imported([{ ...pet(4n, 11) }, { ...pet(1n, 2), barcode: 'X' }])).toEqual([])
    })

    test('orders from files cross', async () => {
      const cursor = await store.latestEventCursor()
      await addOrders(store, [
        { id: 1n, petId: 1n, quantity: 5, complete: false },
        { id: 2n, petId: 1n, quantity: 2, complete: false },
      ])
      expect(await crossings(cursor)).toEqual(['1 low 3/3'])
      await addOrders(store, [{ id: 2n, petId: 1n, quantity: 1, complete: false }])
      expect((await crossings(cursor)).at(-1)).toBe('1 recovered 4/3')
    })

    test('a threshold change concurrent with quantities and orders leaves a consistent state', async () => {
      const work = async (by: Store, random: number) => {
        for (let step = 0; step < 40; step++) {
          const petId = BigInt(1 + ((step * 7 + random) % 4))
          const number = (step * 5 + random * 3) % 8
          if (step % 8 === 0) await changeAndApply(by, patchCategory(1n, { lowStockAt: number }))
          else if (step % 8 === 1)
            await by.changeStock([patch(petId, { lowStockAt: number % 2 === 0 ? null : number })])
          else if (step % 8 === 2) await by.changeStock([draft(petId, 1, 1)])
          else await by.changeStock([change(petId, number), change(BigInt(1 + (step % 4)), 4)])
          if (step % 10 === 0) now += 500
        }
      }
      await Promise.all([work(store, 0), work(other, 1), work(store, 2), work(other, 3)])
      expect((await crossings()).length).toBeGreaterThan(20)
    })
  })
}
