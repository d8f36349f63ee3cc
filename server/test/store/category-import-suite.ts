import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { Category, ImportedCategory } from '../../src/core/catalog/category.ts'
import { RowsRefused, type StagedImport } from '../../src/core/transfer/import.ts'
import type { Store } from '../../src/store/store.ts'
import { pet } from './plain-rows.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const HIGHEST = 9223372036854775807n
const LOWEST = -9223372036854775808n
const ACT = { at: 1_790_000_000_000, keyId: 'petstore-import' }
const DOGS = { id: 1n, name: 'Dogs', lowStockAt: 2 }
const CATS = { id: 2n, name: 'Cats' }

/** The guarantees of every adapter for import and export of categories. */
export function categoryImportSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: import and export of categories`, () => {
    let store: Store
    let other: Store
    beforeEach(async () => {
      store = await underTest.open()
      other = await underTest.open()
    })
    afterEach(async () => {
      expect(await store.findDamage()).toEqual([])
      await store.close()
      await other.close()
      await underTest.discard()
    })

    async function stage(...categories: ImportedCategory[]): Promise<StagedImport<ImportedCategory>> {
      const staged = await store.stageCategories()
      await staged.add(categories.map((value, index) => ({ line: index + 2, value })))
      expect(await staged.finishStaging(10)).toEqual({ count: 0, first: [] })
      return staged
    }

    async function apply(...categories: ImportedCategory[]) {
      const staged = await stage(...categories)
      try {
        return await staged.apply(ACT)
      } finally {
        await staged.discard()
      }
    }

    async function all(): Promise<Category[]> {
      const categories: Category[] = []
      for await (const batch of other.exportCategories()) categories.push(...batch)
      return categories
    }

    async function rows<Row>(text: string): Promise<Row[]> {
      const database = await underTest.connect()
      try {
        return await database.rows<Row>(text)
      } finally {
        await database.close()
      }
    }

    async function eventsAfter(cursor: string) {
      const found = await other.eventsAfter(cursor, 100)
      if (typeof found === 'string') throw new Error(found)
      return found.events
    }

    test('adds new categories, changes those that differ, and leaves the others', async () => {
      expect(await all()).toEqual([])
      const birds = { id: 3n, name: 'Birds', lowStockAt: 0 }
      expect(await apply(DOGS, CATS, birds)).toEqual({ added: 3, changed: 0, unchanged: 0 })
      const first = { id: LOWEST, name: 'ключ 🐶', lowStockAt: Number.MAX_SAFE_INTEGER }
      const counts = await apply({ id: HIGHEST, name: 'Last' }, first, DOGS, { ...CATS, lowStockAt: 7 })
      expect(counts).toEqual({ added: 2, changed: 1, unchanged: 1 })
      expect(await all()).toEqual([
        ...[first, DOGS, { ...CATS, lowStockAt: 7 }, birds],
        { id: HIGHEST, name: 'Last' },
      ])
    })

    test('an absent threshold stays, and null clears it', async () => {
      await apply(DOGS, { ...CATS, lowStockAt: 4 })
      const counts = await apply({ id: 1n, name: 'Hounds' }, { ...CATS, lowStockAt: null })
      expect(counts).toEqual({ added: 0, changed: 2, unchanged: 0 })
      expect(await all()).toEqual([{ ...DOGS, name: 'Hounds' }, CATS])
    })

    test('a preview returns the changes by line, and changes nothing', async () => {
      await apply(DOGS, CATS)
      const staged = await stage({ id: 9n, name: 'Fish' }, { ...DOGS, lowStockAt: null }, CATS)
      const preview = await staged.preview(5)
      await staged.discard()
      expect(preview).toEqual({
        added: { count: 1, first: [{ line: 2, value: { id: 9n, name: 'Fish', lowStockAt: null } }] },
        changed: { count: 1, first: [{ line: 3, value: { ...DOGS, lowStockAt: null }, before: DOGS }] },
        unchanged: 1,
      })
      expect(await all()).toEqual([DOGS, CATS])
    })

    test('pets with a new threshold cross it in the same commit, each once', async () => {
      await apply(CATS)
      await store.addPets([
        { ...pet(1n, 3), categoryId: 2n },
        { ...pet(2n, 4), categoryId: 2n },
        { ...pet(3n, 1), categoryId: 2n, lowStockAt: 0 },
        { ...pet(4n, 1), categoryId: 5n },
      ])
      const told = async (...categories: ImportedCategory[]) => {
        const cursor = await other.latestEventCursor()
        await apply(...categories)
        return (await eventsAfter(cursor)).map((event) =>
          event.kind === 'low' || event.kind === 'recovered'
            ? [event.kind, event.petId, event.available, event.lowStockAt, event.keyId]
            : event.kind,
        )
      }
      const by = ACT.keyId
      expect(await told({ ...CATS, lowStockAt: 3 })).toEqual(['category', ['low', 1n, 3, 3, by]])
      expect(await told({ ...CATS, lowStockAt: 3 })).toEqual([])
      expect(await told({ ...CATS, lowStockAt: 4 })).toEqual(['category', ['low', 2n, 4, 4, by]])
      expect(await told({ id: 2n, name: 'Tomcats' })).toEqual(['category'])
      expect(await told({ ...CATS, lowStockAt: null }, { id: 5n, name: 'Fish', lowStockAt: 9 })).toEqual([
        'category',
        'category',
        ['recovered', 1n, 3, undefined, by],
        ['recovered', 2n, 4, undefined, by],
        ['low', 4n, 1, 9, by],
      ])
      // From then on the new threshold counts.
      const cursor = await other.latestEventCursor()
      await store.changeStock([
        { type: 'adjust', changes: [{ petId: 4n, quantity: 10 }], keyId: 'key_a', at: 1 },
      ])
      expect((await eventsAfter(cursor)).map(({ kind }) => kind)).toEqual(['change', 'recovered'])
    })

    test('each category that differs gets the same log row as a change by an API caller', async () => {
      await apply(DOGS, CATS)
      await apply({ ...DOGS, lowStockAt: null }, CATS)
      const log = () =>
        rows<{ at: bigint; key_id: string; pet_id: bigint | null; detail: string }>(
          "SELECT at, key_id, pet_id, detail FROM log WHERE kind = 'category' ORDER BY id",
        )
      const imported = await log()
      await store.changeStock([
        { type: 'update_category', categoryId: 1n, patch: { name: 'Hounds' }, ...ACT },
      ])
      const rowsOf = (change: string, category: Category) => ({
        at: BigInt(ACT.at),
        key_id: ACT.keyId,
        pet_id: null,
        detail: { change, ...category, id: String(category.id) },
      })
      const parsed = (await log()).map((row) => ({ ...row, detail: withoutNull(JSON.parse(row.detail)) }))
      expect(parsed).toEqual([
        rowsOf('created', DOGS),
        rowsOf('created', CATS),
        rowsOf('changed', { id: 1n, name: 'Dogs' }),
        rowsOf('changed', { id: 1n, name: 'Hounds' }),
      ])
      expect(imported).toHaveLength(3)
    })

    test('a row whose name another category has is refused with the reason', async () => {
      await apply(DOGS, CATS, { id: 3n, name: 'Vögel' })
      const rowsOfFile = [
        { id: 4n, name: 'VÖGEL' },
        { id: 5n, name: 'Fish' },
        { id: 6n, name: 'fish' },
        { id: 2n, name: 'dogs' },
        { id: 1n, name: 'FISH' },
      ]
      const used = (line: number, id: bigint, owner: string) => ({
        line,
        reason: `category ${id} is already called "${owner}", and category names are unique regardless of case; use category ${id} or choose another name`,
      })
      const refused = {
        count: 3,
        first: [used(2, 3n, 'Vögel'), used(4, 5n, 'Fish'), used(6, 5n, 'Fish')],
      }
      const staged = await stage(...rowsOfFile)
      expect(await staged.preview(9)).toMatchObject({ added: { count: 1 }, changed: { count: 1 }, refused })
      const error = await staged.apply({ ...ACT, maxExamples: 9 }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(RowsRefused)
      expect(await all()).toHaveLength(3)
      await staged.discard()
    })

    test('the rows of a file may swap names, and change the case of a name', async () => {
      await apply(DOGS, CATS, { id: 3n, name: 'Fish' })
      await apply({ id: 1n, name: 'CATS' }, { id: 2n, name: 'Dogs' }, { id: 3n, name: 'FISH' })
      expect((await all()).map((category) => category.name)).toEqual(['CATS', 'Dogs', 'FISH'])
    })

    test('a category that is created later gets an id above those of the file', async () => {
      await apply({ id: 41n, name: 'Chosen' }, { id: HIGHEST, name: 'Last' })
      expect(
        await store.changeStock([{ type: 'create_category', category: { name: 'Next' }, ...ACT }]),
      ).toEqual([{ type: 'done', category: { id: 42n, name: 'Next' } }])
    })

    test('changes since the staging are seen, and the import overwrites them', async () => {
      const staged = await stage(DOGS, CATS)
      await staged.preview(0)
      await other.addPets([{ ...pet(1n, 2), categoryId: 1n }])
      const cursor = await other.latestEventCursor()
      expect(await staged.apply(ACT)).toEqual({ added: 1, changed: 1, unchanged: 0 })
      await staged.discard()
      expect((await eventsAfter(cursor)).map(({ kind }) => kind)).toEqual(['category', 'category', 'low'])
    })

    test('an aborted import changes nothing, and others can write', async () => {
      const staged = await stage(
        ...Array.from({ length: 30_000 }, (_, index) => ({ id: BigInt(index), name: `Category ${index}` })),
      )
      const controller = new AbortController()
      const applied = staged.apply({
        ...ACT,
        signal: controller.signal,
        onProgress: () => controller.abort(),
      })
      await expect(applied).rejects.toThrow('abort')
      await staged.discard()
      expect(await all()).toEqual([])
      expect(await apply(DOGS)).toEqual({ added: 1, changed: 0, unchanged: 0 })
    })
  })
}

function withoutNull(detail: object): object {
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== null))
}
