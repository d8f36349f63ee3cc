import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { AdjustmentChange } from '../../src/core/stock/command.ts'
import { type ApplyOptions, RowsRefused, type StagedImport } from '../../src/core/transfer/import.ts'
import type { Store } from '../../src/store/store.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'
import { pet as petOf } from './plain-rows.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const HIGHEST = 9223372036854775807n
const LOWEST = -9223372036854775808n
const ORIGIN = {
  at: 1_790_000_000_000,
  keyId: 'petstore-adjust',
  reason: 'received',
  reference: 'PO "1043", \\',
} as const
const OPTIONS: ApplyOptions = { ...ORIGIN, maxExamples: 10 }
const NOTHING = { count: 0, first: [] }
const pet = (id: bigint) => petOf(id, 5)

/** What every adapter guarantees for an adjustment of many pets. */
export function adjustmentSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: adjustments of many pets`, () => {
    let store: Store
    beforeEach(async () => {
      store = await underTest.open()
    })
    afterEach(async () => {
      await store.close()
      await underTest.discard()
    })

    async function stage(changes: readonly AdjustmentChange[]): Promise<StagedImport<AdjustmentChange>> {
      const staged = await store.stageAdjustment()
      await staged.add(changes.map((value, index) => ({ line: index + 2, value })))
      expect(await staged.finishStaging(10)).toEqual(NOTHING)
      return staged
    }

    async function adjust(changes: readonly AdjustmentChange[], options: Partial<ApplyOptions> = {}) {
      const staged = await stage(changes)
      try {
        return await staged.apply({ ...OPTIONS, ...options })
      } finally {
        await staged.discard()
      }
    }

    async function refusalOf(result: Promise<unknown>) {
      const error = await result.catch((thrown: unknown) => thrown)
      if (!(error instanceof RowsRefused)) throw new Error(`expected RowsRefused, got ${error}`)
      return error.refused
    }

    const quantities = async () => (await stockOf(store)).map(({ quantity }) => quantity)
    const many = (count: number) => Array.from({ length: count }, (_, index) => BigInt(index))

    test('make every change, and leave other pets as they are', async () => {
      await store.addPets([LOWEST, 1n, 2n, 3n, HIGHEST].map((id) => pet(id)))
      const counts = await adjust([
        { petId: HIGHEST, delta: 7 },
        { petId: 1n, quantity: 9, expected: 5 },
        { petId: 3n, quantity: 5 },
        { petId: LOWEST, delta: -5 },
      ])
      expect(counts).toEqual({ added: 0, changed: 3, unchanged: 1 })
      expect(await quantities()).toEqual([0, 9, 5, 5, 12])
      expect(await historyOf(store, HIGHEST)).toEqual([{ petId: HIGHEST, before: 5, after: 12, ...ORIGIN }])
      expect(await historyOf(store, 3n)).toEqual([])
      expect(await store.findDamage()).toEqual([])
    })

    test('continue the history of each pet, and later changes continue it too', async () => {
      await store.addPets([pet(1n)])
      await store.changeStock([
        { type: 'adjust', changes: [{ petId: 1n, quantity: 6 }], keyId: 'key_a', at: 1 },
      ])
      await adjust([{ petId: 1n, delta: 1 }])
      await store.changeStock([
        { type: 'adjust', changes: [{ petId: 1n, quantity: 8 }], keyId: 'key_a', at: 2 },
      ])
      const history = await historyOf(store, 1n)
      expect(history.map(({ before, after, reason }) => [before, after, reason])).toEqual([
        [5, 6, undefined],
        [6, 7, 'received'],
        [7, 8, undefined],
      ])
    })

    test('may have no reference', async () => {
      await store.addPets([pet(1n)])
      await adjust([{ petId: 1n, delta: 1 }], { reason: 'lost', reference: undefined })
      const { reference: _, ...origin } = ORIGIN
      expect(await historyOf(store, 1n)).toEqual([
        { petId: 1n, before: 5, after: 6, ...origin, reason: 'lost' },
      ])
    })

    const REFUSED: readonly AdjustmentChange[] = [
      { petId: 1n, delta: 1 },
      { petId: 404n, delta: 1 },
      { petId: 2n, delta: -6 },
      { petId: 3n, quantity: 5 },
      { petId: 4n, quantity: 0, expected: 4 },
      { petId: 405n, quantity: 0 },
    ]

    test('change nothing if a change is refused, and return the first refused lines', async () => {
      await store.addPets([1n, 2n, 3n, 4n].map((id) => pet(id)))
      const cursor = await store.loadStock(() => {})
      const refusal = await refusalOf(adjust(REFUSED, { maxExamples: 3 }))
      expect(refusal).toEqual({
        count: 4,
        first: [
          { line: 3, reason: 'there is no pet 404' },
          { line: 4, reason: 'the quantity of petId 2 is 5, so 6 cannot be taken away' },
          {
            line: 6,
            reason: 'the quantity of petId 4 is 5, not 4 as expected; read it again before you retry',
          },
        ],
      })
      expect(await quantities()).toEqual([5, 5, 5, 5])
      expect(await historyOf(store, 1n)).toEqual([])
      expect(await store.stockChangesSince(cursor)).toMatchObject({ updated: [], removed: [] })
    })

    test('can be previewed, which changes nothing', async () => {
      await store.addPets([1n, 2n, 3n, 4n].map((id) => pet(id)))
      const staged = await stage(REFUSED)
      const preview = await staged.preview(10)
      expect(preview).toMatchObject({ added: NOTHING, unchanged: 1, refused: { count: 4 } })
      expect(preview.changed).toEqual({
        count: 1,
        first: [{ line: 2, value: { petId: 1n, quantity: 6 }, before: { petId: 1n, quantity: 5 } }],
      })
      expect(await quantities()).toEqual([5, 5, 5, 5])
      expect(preview.refused).toEqual(await refusalOf(staged.apply(OPTIONS)))
      await staged.discard()
      expect(await quantities()).toEqual([5, 5, 5, 5])
    })

    test('use the first line of a pet, and return its other lines as duplicates', async () => {
      const staged = await store.stageAdjustment()
      await staged.add([
        { line: 2, value: { petId: 7n, delta: 1 } },
        { line: 4, value: { petId: 7n, quantity: 1 } },
      ])
      expect(await staged.finishStaging(10)).toEqual({ count: 1, first: [{ line: 4, firstLine: 2, id: 7n }] })
      await staged.discard()
    })

    test('are decided in the commit, whatever the preview returned', async () => {
      await store.addPets([1n, 2n, 3n].map((id) => pet(id)))
      const staged = await stage([
        { petId: 1n, delta: -4 },
        { petId: 2n, delta: 1 },
        { petId: 3n, quantity: 5 },
      ])
      expect((await staged.preview(10)).refused).toBeUndefined()
      await store.changeStock([
        { type: 'adjust', changes: [{ petId: 1n, quantity: 3 }], keyId: 'key_a', at: 1 },
      ])
      expect(await refusalOf(staged.apply(OPTIONS))).toEqual({
        count: 1,
        first: [{ line: 2, reason: 'the quantity of petId 1 is 3, so 4 cannot be taken away' }],
      })
      await store.changeStock([
        { type: 'adjust', changes: [{ petId: 1n, quantity: 10 }], keyId: 'key_a', at: 2 },
        { type: 'adjust', changes: [{ petId: 3n, quantity: 6 }], keyId: 'key_a', at: 2 },
      ])
      expect((await staged.apply(OPTIONS)).changed).toBe(3)
      await staged.discard()
      expect(await quantities()).toEqual([6, 6, 5])
    })

    test('are one commit of any size, after which the live view loads the whole stock', async () => {
      const petIds = many(25_000)
      const staged = await store.stagePets()
      await staged.add(petIds.map((id, index) => ({ line: index + 2, value: pet(id) })))
      await staged.finishStaging(0)
      await staged.apply({ at: 1, keyId: 'petstore-import' })
      await staged.discard()
      const cursor = await store.loadStock(() => {})
      const progress: [number, number][] = []
      const counts = await adjust(
        petIds.toReversed().map((petId) => ({ petId, delta: 1 })),
        { onProgress: (done, total) => progress.push([done, total]), maxExamples: 0 },
      )
      expect(counts).toEqual({ added: 0, changed: 25_000, unchanged: 0 })
      expect(progress.at(-1)).toEqual([25_000, 25_000])
      expect(new Set(await quantities())).toEqual(new Set([6]))
      expect(await store.stockChangesSince(cursor)).toBe('reload')
      await adjust(petIds.slice(0, 1_500).map((petId) => ({ petId, quantity: 0 })))
      const [page] = [await store.listRecentHistory(2_000, undefined)]
      expect(page.rows.filter(({ after }) => after === 0)).toHaveLength(1_500)
    })

    test('become events with their reason', async () => {
      await store.addPets([pet(1n), pet(2n)])
      const cursor = await store.latestEventCursor()
      await adjust([
        { petId: 2n, delta: 1 },
        { petId: 1n, delta: -1 },
      ])
      const told = await store.eventsAfter(cursor, 10)
      if (typeof told === 'string') throw new Error(told)
      expect(told.events).toMatchObject([
        { kind: 'change', petId: 1n, before: 5, after: 4, reason: 'received', reference: ORIGIN.reference },
        { kind: 'change', petId: 2n, before: 5, after: 6, reason: 'received', reference: ORIGIN.reference },
      ])
    })

    test('change nothing if they are aborted, and others can write', async () => {
      const staged = await store.stagePets()
      await staged.add(many(30_000).map((id, index) => ({ line: index + 2, value: pet(id) })))
      await staged.finishStaging(0)
      await staged.apply({ at: 1, keyId: 'petstore-import' })
      await staged.discard()
      const controller = new AbortController()
      const adjusted = adjust(
        many(30_000).map((petId) => ({ petId, quantity: 9 })),
        { signal: controller.signal, onProgress: () => controller.abort() },
      )
      await expect(adjusted).rejects.toThrow('abort')
      expect(new Set(await quantities())).toEqual(new Set([5]))
      await store.changeStock([
        { type: 'adjust', changes: [{ petId: 1n, quantity: 6 }], keyId: 'key_a', at: 1 },
      ])
    })

    test('lose no concurrent change', async () => {
      const petIds = many(3_000)
      await store.addPets(petIds.map((id) => pet(id)))
      const ones = petIds.map((petId) => ({ petId, delta: 1 }))
      let isOver = false
      let updates = 0
      const updating = (async () => {
        while (!isOver) {
          const changes = [5n, 2_999n, 0n, 1_500n].map((petId) => ({ petId, delta: 1 }))
          await store.changeStock([{ type: 'adjust', keyId: 'key_a', at: 1, changes }])
          updates++
          // SQLite responds synchronously, and nobody else would get a turn.
          await Bun.sleep(1)
        }
      })()
      const adjusting = [ones, ones.toReversed(), ones].map((changes) => adjust(changes))
      for (const { changed } of await Promise.all(adjusting)) expect(changed).toBe(3_000)
      isOver = true
      await updating
      const expected = petIds.map((id) => 5 + 3 + ([0n, 5n, 1_500n, 2_999n].includes(id) ? updates : 0))
      expect(await quantities()).toEqual(expected)
      expect(await store.findDamage()).toEqual([])
    })
  })
}
