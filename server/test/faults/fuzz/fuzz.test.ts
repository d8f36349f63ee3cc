import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { typedResults } from '../../../src/core/stock/command.ts'
import { decide } from '../../../src/core/stock/decide.ts'
import type { Store } from '../../../src/store/store.ts'
import { entryWith } from '../../store/plain-rows.ts'
import { stockOf } from '../../support/whole-store.ts'
import { CONTRACT_OPERATIONS } from './contract.ts'
import { fuzz } from './fuzz.ts'

setDefaultTimeout(120_000)

const SEED = 20_261_120

describe.each([
  ['SQLite', false],
  ['PostgreSQL', true],
])('4,000 requests generated from the contract, valid and invalid, on %s', (_, onPostgres) => {
  test(`all get the response of the contract, and change nothing when rejected (seed ${SEED})`, async () => {
    const outcome = await fuzz({
      seed: SEED,
      onPostgres,
      isOver: (requests) => requests >= 4_000,
    })
    expect(outcome.violations).toEqual([])
    expect(outcome.updates).toBeGreaterThan(20)
    // A generator that is always rejected, or never, would show nothing. Rarer statuses are left to chance.
    const statuses = Object.keys(outcome.statuses).map(Number)
    expect(statuses).toEqual(expect.arrayContaining([200, 201, 400, 401, 404, 405, 409]))
  })
})

describe('the fuzzing catches', () => {
  const violationsWith = async (wrapStore: (store: Store) => Store, count = 6_000) => {
    const isOver = (requests: number) => requests >= count
    return (await fuzz({ seed: SEED, onPostgres: false, isOver, wrapStore })).violations.join('\n')
  }

  test('an update that is acknowledged but not made', async () => {
    const found = await violationsWith((store) => ({
      ...store,
      changeStock: async (changes) => {
        // Every such update is lost: a later update that was made would hide the lost one.
        const isLost = changes.every(
          (command) =>
            command.type === 'adjust' &&
            command.occurredAt === undefined &&
            command.idempotency === undefined,
        )
        if (!isLost) return store.changeStock(changes)
        const items = await stockOf(store)
        const entries = new Map(
          items.map(({ petId, quantity, status }) => [petId, entryWith(quantity, { status })]),
        )
        return typedResults(changes, decide(changes, entries).results)
      },
    }))
    expect(found).toContain('the stock is not what the answers said')
  })

  test('a query that only an unusual parameter makes fail', async () => {
    const found = await violationsWith(
      (store) => ({
        ...store,
        listPets: (after, limit) => {
          if (after !== undefined && after > 9_000n) throw new TypeError('nobody thought of it')
          return store.listPets(after, limit)
        },
      }),
      20_000,
    )
    expect(found).toContain('a failure')
  })
})

test('the generator covers every operation of the contract', () => {
  expect(CONTRACT_OPERATIONS.length).toBeGreaterThanOrEqual(8)
  expect(CONTRACT_OPERATIONS.filter(({ body }) => body !== undefined).length).toBeGreaterThan(0)
})
