import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../../src/store/postgres/store.ts'
import { createDatabase, type TestDatabase } from '../../support/postgres-databases.ts'
import { crossThresholds } from './low-stock.ts'

setDefaultTimeout(120_000)

const SEED = 20_261_116
const CHANGES = 2_000

let database: TestDatabase
beforeEach(async () => {
  database = await createDatabase()
})
afterEach(() => database.drop())

test.each([
  ['fixed', false],
  ['changing', true],
])(
  'PostgreSQL: changes around %s thresholds by 8 callers on two instances: crossings alternate, and match a simple model',
  async (_, movesCategory) => {
    const report = await crossThresholds({
      seed: SEED,
      open: (clock) => openPostgresStore(database.url, { ...DEFAULT_POSTGRES_SETTINGS, clock }),
      movesCategory,
      changes: CHANGES,
    })
    expect(report.violations).toEqual([])
    expect(report.crossings).toBeGreaterThan(CHANGES / 10)
  },
)
