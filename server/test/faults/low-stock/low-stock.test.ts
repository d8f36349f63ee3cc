import { expect, setDefaultTimeout, test } from 'bun:test'
import { killAmongThresholds, killOneOfTwoAmongThresholds } from './kills.ts'
import { crossThresholds } from './low-stock.ts'
import { onPostgres, onSqlite } from './stores.ts'

setDefaultTimeout(120_000)

const SEED = 20_261_116

test.each([
  ['SQLite', onSqlite, 4_000],
  ['PostgreSQL', onPostgres, 4_000],
])(
  '%s: changes around thresholds by 8 callers on two instances: crossings alternate, and match a simple model',
  async (_, create, changes) => {
    for (const movesCategory of [false, true]) {
      const { open, discard } = await create()
      try {
        const report = await crossThresholds({
          seed: SEED,
          open,
          movesCategory,
          isOver: (made) => made >= changes / 2,
        })
        expect(report.violations).toEqual([])
        expect(report.crossings).toBeGreaterThan(changes / 20)
      } finally {
        await discard()
      }
    }
  },
)

test.each([
  ['SQLite', killAmongThresholds],
  ['one of two instances on PostgreSQL', killOneOfTwoAmongThresholds],
])(
  '%s, killed (kill -9) during such changes: no crossing is lost or logged twice, and they match the stock and its history',
  async (_, kill) => {
    const report = await kill({ seed: SEED, movesCategory: false, isOver: (kills) => kills >= 2 })
    expect(report.violations).toEqual([])
    // Without these events the test would prove little.
    expect(Math.min(report.crossings, report.unsure)).toBeGreaterThan(0)
  },
)
