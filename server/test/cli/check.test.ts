import { Database } from 'bun:sqlite'
import { beforeEach, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PLAN_LIMITS, toStoredSecret } from '../../src/core/keys/api-key.ts'
import { openStore } from '../../src/store/open-store.ts'
import { operatorOf } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runCommand } from './run-command.ts'

let cwd: string
let path: string
beforeEach(async () => {
  cwd = temporaryFolder()
  path = join(cwd, 'data', 'petstore.db')
})

const check = (env: Record<string, string> = {}) => runCommand(['check'], { cwd, env })
const makeDatabase = async () => {
  const store = await openStore(`sqlite:${path}`, { tables: 'migrate' })
  const key = { id: 'key_a', name: 'a', plan: 'free' as const, permissions: [], createdAt: 1 }
  const act = { at: Date.now(), actor: 'test' }
  await operatorOf(store).addKey({ ...key, limits: PLAN_LIMITS.free }, toStoredSecret('x', 1), act)
  await store.close()
}

function change(sql: string): void {
  const database = new Database(path)
  database.run(sql)
  database.close()
}

describe('petstore check', () => {
  test('reports no problem for a healthy store', async () => {
    await makeDatabase()
    const { exitCode, stdout } = await check()
    expect(stdout).not.toContain('✗')
    expect(stdout).toContain('✓ only the owner can read the database')
    expect(stdout).toContain('✓ the database is intact')
    expect(stdout).toContain('✓ the database can be written')
    expect(exitCode).toBe(0)
  })

  test('without a database it prints the path, how to create one and how to choose another', async () => {
    const { exitCode, stdout } = await check()
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(`✗ there is no database at ${path}\n`)])
    expect(stdout).toContain('create it with petstore serve, import or migrate')
    expect(stdout).toContain('set DATABASE_URL')
    expect(existsSync(path)).toBe(false)
  })

  test('an invalid setting is one line', async () => {
    const { exitCode, stderr } = await check({ PORT: 'x' })
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('PORT must be')])
  })

  test('finds stock that contradicts its history, and pets without stock', async () => {
    await makeDatabase()
    change(`
      INSERT INTO categories (id, name) VALUES (1, 'Dogs');
      INSERT INTO pets (id, name, words, category_id) VALUES (1, 'a', 'a', 1), (2, 'b', 'b', 1);
      INSERT INTO stock (pet_id, quantity, status) VALUES (1, 5, 'sold');
      UPDATE stock SET counted_at = 1;
      INSERT INTO log (id, document, kind, pet_id, before, after, counted, at, key_id, status)
        VALUES (1, 1, 'change', 1, 5, 6, 6, 1, 'k', 'sold');
    `)
    const { exitCode, stdout } = await check()
    expect(exitCode).toBe(1)
    expect(stdout).toContain(
      'pets whose stock was edited by hand, because it differs from their latest count and the adjustments since: 1 (1)',
    )
    expect(stdout).toContain('pets without a stock entry: 1 (2)')
  })

  test('finds pets without a category, and wrong thresholds', async () => {
    await makeDatabase()
    change(`
      INSERT INTO categories (id, name, low_stock_at) VALUES (1, 'Dogs', 5), (2, 'Cats', NULL);
      INSERT INTO pets (id, name, words, category_id, low_stock_at)
        VALUES (1, 'a', 'a', 1, NULL), (2, 'b', 'b', 1, 2), (3, 'c', 'c', 2, NULL), (4, 'd', 'd', 2, 0);
      INSERT INTO stock (pet_id, quantity, status, reserved, low_at)
        VALUES (1, 5, 'sold', 0, 5), (2, 3, 'sold', 0, 2), (3, 0, 'sold', 0, NULL), (4, 0, 'sold', 0, 0);
    `)
    expect((await check()).exitCode).toBe(0)
    for (const [damage, repair, words] of [
      ['SET low_at = 2 WHERE pet_id = 3', 'SET low_at = NULL WHERE pet_id = 3', 'threshold is neither'],
      ['SET low_at = 1 WHERE pet_id = 2', 'SET low_at = 2 WHERE pet_id = 2', 'threshold is neither'],
      ['SET low_at = NULL WHERE pet_id = 1', '', 'threshold is neither'],
    ]) {
      change(`UPDATE stock ${damage}`)
      const { exitCode, stdout } = await check()
      expect([exitCode, stdout]).toEqual([1, expect.stringContaining(words ?? '')])
      if (repair !== '') change(`UPDATE stock ${repair}`)
    }
    change('DELETE FROM categories WHERE id = 2')
    expect((await check()).stdout).toContain('pets whose category does not exist: 2')
  })

  test('finds reserved units that differ from the open orders, and orders of unknown pets', async () => {
    await makeDatabase()
    change(`
      INSERT INTO categories (id, name) VALUES (1, 'Dogs');
      INSERT INTO pets (id, name, words, category_id) VALUES (1, 'a', 'a', 1), (2, 'b', 'b', 1);
      INSERT INTO stock (pet_id, quantity, status, reserved) VALUES (1, 5, 'sold', 3), (2, 5, 'sold', 0);
      INSERT INTO orders (id, state, created_at)
        VALUES (1, 'open', 1), (2, 'complete', 1), (3, 'cancelled', 1), (4, 'complete', 1);
      INSERT INTO order_lines (order_id, pet_id, quantity, state)
        VALUES (1, 1, 3, 'open'), (2, 1, 9, 'complete'), (2, 2, 9, 'complete'), (3, 2, 9, 'cancelled'), (4, 9, 9, 'complete');
    `)
    expect((await check()).exitCode).toBe(0)
    change(`
      UPDATE stock SET reserved = 2 WHERE pet_id = 1;
      UPDATE order_lines SET state = 'open' WHERE order_id = 4;
      UPDATE orders SET state = 'open' WHERE id = 4;
      DELETE FROM order_lines WHERE order_id = 3;
      UPDATE order_lines SET hold_until = 5 WHERE pet_id = 2;
    `)
    const { exitCode, stdout } = await check()
    expect(exitCode).toBe(1)
    expect(stdout).toContain('pets whose reserved units differ from the lines of their open orders: 1')
    expect(stdout).toContain('open orders for pets that have no stock entry: 1 (4)')
    expect(stdout).toContain('orders whose lines are missing or in another state: 2 (2, 3)')
  })
})
