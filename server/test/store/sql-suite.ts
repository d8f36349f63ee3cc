import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { insertRows, statement } from '../../src/store/sql.ts'
import type { Store } from '../../src/store/store.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const ORDER =
  'INSERT INTO orders (id, pet_id, quantity, ship_date, state, created_at) VALUES ($1, $2, $3, $4, $5, 0)'
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
          statement(ORDER, HIGHEST, -HIGHEST, 2 ** 53 - 2, 5, 'complete'),
          statement(ORDER, 2n, 1n, 2 ** 31, 0, 'open'),
          statement('UPDATE orders SET quantity = quantity + $2 WHERE pet_id > $1', -HIGHEST, 1),
          statement('UPDATE orders SET quantity = $1', 7),
          statement('DELETE FROM orders WHERE id = $1', 99n),
        ],
        how,
      )
      expect(changed).toEqual([1, 1, 1, 2, 0])
      expect(await store.listOrders({}, 9)).toEqual([
        { id: 2n, petId: 1n, quantity: 7, shipDate: 0, state: 'open', createdAt: 0 },
        { id: HIGHEST, petId: -HIGHEST, quantity: 7, shipDate: 5, state: 'complete', createdAt: 0 },
      ])
    })

    test('if one statement fails, none has an effect, and the next commit works', async () => {
      const one = statement(ORDER, 1n, 1n, 1, 1, 'open')
      for (const after of [[], [statement(ORDER, 2n, 1n, 1, 1, 'open')]]) {
        await expect(database.commit([one, one, ...after])).rejects.toThrow(/unique/i)
      }
      expect(await store.listOrders({}, 9)).toEqual([])
      expect(await database.commit([one])).toEqual([1])
      expect(await database.commit([])).toEqual([])
      expect(await store.listOrders({}, 9)).toHaveLength(1)
    })

    test('many rows are added at a time, and existing ones changed', async () => {
      const stateOf = (index: number) => (index % 2 === 0 ? 'complete' : 'open')
      const rows = Array.from({ length: 45 }, (_, index) => [BigInt(index), 1n, index, 0, stateOf(index), 0])
      const into = 'orders (id, pet_id, quantity, ship_date, state, created_at)'
      expect(await database.commit(insertRows(into, rows))).toEqual([20, 20, 5])
      const onConflict = 'ON CONFLICT (id) DO UPDATE SET quantity = orders.quantity + excluded.quantity'
      expect(await database.commit(insertRows(into, rows.slice(0, 21), onConflict))).toEqual([20, 1])
      expect(insertRows(into, [])).toEqual([])
      expect(await store.listOrders({}, 99)).toEqual(
        rows.map((_, index) => ({
          id: BigInt(index),
          petId: 1n,
          quantity: index < 21 ? 2 * index : index,
          shipDate: 0,
          state: stateOf(index),
          createdAt: 0,
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
