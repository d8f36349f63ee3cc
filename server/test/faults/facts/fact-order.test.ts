import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { memoryFolder } from '../../support/memory-folder.ts'
import { createTestDatabase } from '../../support/test-database.ts'
import { checkFactOrder } from './fact-order.ts'

setDefaultTimeout(240_000)

/** `FACT_SEED=7 npx bun test server/test/faults/facts` tries other sequences. */
const SEED = Number(Bun.env.FACT_SEED ?? 20_261_119)
const folder = mkdtempSync(join(memoryFolder(), 'petstore-facts-'))
afterAll(() => rmSync(folder, { recursive: true }))

test.each([
  ['SQLite', false, 300],
  ['PostgreSQL', true, 100],
] as const)(
  'on %s, the stock does not depend on the order in which facts arrive',
  async (_, onPostgres, sequences) => {
    const database = await createTestDatabase(folder, onPostgres)
    const { violations, recorded, refused } = await checkFactOrder(database.url, { seed: SEED, sequences })
    expect(violations).toEqual([])
    expect([recorded > 3 * sequences, refused > sequences / 10]).toEqual([true, true])
    await database.drop()
  },
)
