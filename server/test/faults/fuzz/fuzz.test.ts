import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Store } from '../../../src/store/store.ts'
import { fuzz } from './fuzz.ts'
import { OPERATION_IDS } from './requests.ts'

setDefaultTimeout(120_000)

const SEED = 20_261_120
const REQUESTS = 4_000

describe.each([
  ['SQLite', false],
  ['PostgreSQL', true],
])(`${REQUESTS} requests generated from the contract, right and wrong, on %s`, (_, onPostgres) => {
  test(`all get a response of the contract, and leave no damage (seed ${SEED})`, async () => {
    const isOver = (requests: number) => requests >= REQUESTS
    const { violations, statuses, succeeded } = await fuzz({ seed: SEED, onPostgres, isOver })
    expect(violations).toEqual([])
    // A generator that is always refused, or never, would show nothing. Rarer statuses are left to chance.
    const common = ['200', '201', '204', '304', '400', '401', '404', '405', '409', '412']
    expect(Object.keys(statuses)).toEqual(expect.arrayContaining(common))
    expect(succeeded.size).toBeGreaterThan(OPERATION_IDS.length * 0.8)
  })
})

test('the fuzzing finds a response that is not in the contract', async () => {
  const wrapStore = (store: Store) => ({
    ...store,
    findAvailability: async (petId: bigint) => {
      const found = await store.findAvailability(petId)
      return found && { ...found, reserved: -1 }
    },
  })
  const isOver = (requests: number) => requests >= 20_000
  const { violations } = await fuzz({ seed: SEED, onPostgres: false, isOver, wrapStore })
  expect(violations.join('\n')).toContain('does not fit')
})
