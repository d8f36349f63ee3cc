import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { insertRows, statement } from '../../src/store/sql.ts'
import type { Store } from '../../src/store/store.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const CATEGORY = 'INSERT INTO categories (id, name, low_stock_at) VALUES ($1, $2, $3)'
const HIGHEST = 2n ** 63n - 1n

/** The guarantees of every database for the store code that both adapters share. */
export function sqlSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: SQL that both databases understand`, () => {
    let store: Store
    let database: Awaited<ReturnType<StoreUnderTest['connect']>>
    beforeEach(async () => {
      store = await underTest.open()
      database = await underTest.connect()
    })
    afterEach(async () => {
      await database.close()
      await store.close()
      await underTest.discard()
    })

    test.each(['durable', 'unflushed'] as const)('a commit, %s, is visible to others', async (how) => {
      const changed = await database.commit(
        [
          statement(CATEGORY, -HIGHEST, 'A', 2 ** 53 - 1),
          statement(CATEGORY, 2n, 'B', 2 ** 31),
          statement('UPDATE categories SET low_stock_at = low_stock_at + $2 WHERE id > $1', -HIGHEST, 1),
          statement('UPDATE categories SET name = $1', 'C'),
          statement('DELETE FROM categories WHERE id = $1', 99n),
        ],
        how,
      )
      expect(changed).toEqual([1, 1, 1, 2, 0])
      expect(await store.listCategories(undefined, 9)).toEqual([
        { id: -HIGHEST, name: 'C', lowStockAt: 2 ** 53 - 1 },
        { id: 2n, name: 'C', lowStockAt: 2 ** 31 + 1 },
      ])
    })

    test('if one statement fails, none has an effect, and the next commit works', async () => {
      const one = statement(CATEGORY, 1n, 'A', 1)
      for (const after of [[], [statement(CATEGORY, 2n, 'B', 1)]]) {
        await expect(database.commit([one, one, ...after])).rejects.toThrow(/unique/i)
      }
      expect(await store.listCategories(undefined, 9)).toEqual([])
      expect(await database.commit([one])).toEqual([1])
      expect(await database.commit([])).toEqual([])
      expect(await store.listCategories(undefined, 9)).toHaveLength(1)
    })

    test('many rows are added at a time, and existing ones changed', async () => {
      const rows = Array.from({ length: 45 }, (_, index) => [BigInt(index), `Category ${index}`, index])
      const into = 'categories (id, name, low_stock_at)'
      expect(await database.commit(insertRows(into, rows))).toEqual([20, 20, 5])
      const onConflict =
        'ON CONFLICT (id) DO UPDATE SET low_stock_at = categories.low_stock_at + excluded.low_stock_at'
      expect(await database.commit(insertRows(into, rows.slice(0, 21), onConflict))).toEqual([20, 1])
      expect(insertRows(into, [])).toEqual([])
      expect(await store.listCategories(undefined, 99)).toEqual(
        rows.map((_, index) => ({
          id: BigInt(index),
          name: `Category ${index}`,
          lowStockAt: index < 21 ? 2 * index : index,
        })),
      )
    })

    test('a value is bound wherever its number occurs, and none is lost', async () => {
      const text = `it's "$1" — ключ 🐶`
      await database.commit([
        statement(
          'INSERT INTO audit (detail, at, actor, action, key_id) VALUES ($2, $1, $2, $2, $2)',
          1_790_000_000_123,
          text,
        ),
      ])
      const [row] = await database.rows<{ at: bigint; detail: string }>(
        'SELECT at, detail FROM audit WHERE detail = $2 AND at >= $1 AND at < $1 + 1',
        1_790_000_000_123n,
        text,
      )
      expect(row).toMatchObject({ at: 1_790_000_000_123n, detail: text })
    })

    test('booleans and null are returned unchanged', async () => {
      const { text, boolean, integer } = database.dialect.types
      await database.commit([statement(`CREATE TABLE facts (id ${text}, is_so ${boolean}, at ${integer})`)])
      const add = 'INSERT INTO facts (id, is_so, at) VALUES ($1, $2, $3)'
      await database.commit([statement(add, 'a', true, null), statement(add, 'b', false, 2 ** 40)])
      const rows = await database.rows<{ is_so: boolean | bigint; at: bigint | null }>(
        'SELECT is_so, at FROM facts ORDER BY id',
      )
      expect(rows.map((row) => [Boolean(row.is_so), row.at])).toEqual([
        [true, null],
        [false, 2n ** 40n],
      ])
    })
  })
}
