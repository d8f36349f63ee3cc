import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { petstore } from './petstore.ts'

let cwd: string
let path: string
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'petstore-doctor-'))
  path = join(cwd, 'data', 'petstore.db')
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

const doctor = (env: Record<string, string> = {}) => petstore(['doctor'], { cwd, env })
const makeDatabase = () => petstore(['keys', 'create', '--name', 'a', '--plan', 'free'], { cwd })

function change(sql: string): void {
  const database = new Database(path)
  database.run(sql)
  database.close()
}

describe('petstore doctor', () => {
  test('finds nothing wrong with a sound store', async () => {
    await makeDatabase()
    const { exitCode, stdout } = await doctor()
    expect(stdout).not.toContain('✗')
    expect(stdout).toContain('the database is whole')
    expect(exitCode).toBe(0)
  })

  test('before the first start it says what makes the database', async () => {
    const { exitCode, stdout } = await doctor()
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('petstore serve or petstore import')])
  })

  test('a wrong setting is one line', async () => {
    const { exitCode, stderr } = await doctor({ PORT: 'x' })
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('PORT must be')])
  })

  test('a database that others can read', async () => {
    await makeDatabase()
    chmodSync(path, 0o644)
    const { exitCode, stdout } = await doctor()
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('chmod 600')])
  })

  test('stock that its history contradicts, and pets without stock', async () => {
    await makeDatabase()
    change(`
      INSERT INTO pets VALUES (1, 'a', 1), (2, 'b', 1);
      INSERT INTO stock (pet_id, quantity, status) VALUES (1, 5, 'sold');
      INSERT INTO log (id, kind, pet_id, before, after, at, key_id, status) VALUES (1, 'change', 1, 5, 6, 1, 'k', 'sold');
      UPDATE stock SET last_change = 1;
    `)
    const { exitCode, stdout } = await doctor()
    expect(exitCode).toBe(1)
    expect(stdout).toContain('the stock of 1 pets is not what their history says')
    expect(stdout).toContain('1 pets have no stock entry')
  })

  test('reserved units that the open orders do not add up to, and orders of pets that are not there', async () => {
    await makeDatabase()
    change(`
      INSERT INTO pets VALUES (1, 'a', 1), (2, 'b', 1);
      INSERT INTO stock (pet_id, quantity, status, reserved) VALUES (1, 5, 'sold', 3), (2, 5, 'sold', 0);
      INSERT INTO orders (id, pet_id, quantity, state, created_at)
        VALUES (1, 1, 3, 'open', 1), (2, 1, 9, 'complete', 1), (3, 2, 9, 'cancelled', 1), (4, 9, 9, 'complete', 1);
    `)
    expect((await doctor()).exitCode).toBe(0)
    change("UPDATE stock SET reserved = 2 WHERE pet_id = 1; UPDATE orders SET state = 'open' WHERE id = 4")
    const { exitCode, stdout } = await doctor()
    expect(exitCode).toBe(1)
    expect(stdout).toContain('what is reserved of 1 pets is not what their open orders hold')
    expect(stdout).toContain('1 open orders are for pets that have no stock entry')
  })

  test('what is left of holds that are over', async () => {
    await makeDatabase()
    change(`
      INSERT INTO pets VALUES (1, 'a', 1);
      INSERT INTO stock (pet_id, quantity, status, reserved) VALUES (1, 5, 'sold', 3);
      INSERT INTO orders (id, pet_id, quantity, state, created_at, expires_at)
        VALUES (1, 1, 1, 'open', 1, ${Date.now() - 1_000}), (2, 1, 2, 'open', 1, ${Date.now() + 3_600_000});
    `)
    const { exitCode, stdout } = await doctor()
    expect(exitCode).toBe(0)
    expect(stdout).toContain('! holds of 1 pets are over and not ended yet; they reserve nothing any more')
    change("UPDATE orders SET state = 'expired' WHERE id = 1; UPDATE stock SET reserved = 2")
    expect((await doctor()).stdout).toContain('✓ no hold that is over is left')
  })

  test('a clock that is behind what was recorded', async () => {
    await makeDatabase()
    change(`UPDATE audit SET at = ${Date.now() + 3_600_000}`)
    const { exitCode, stdout } = await doctor()
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('in the future')])
  })
})
