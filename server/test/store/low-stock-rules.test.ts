import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { isLow, thresholdOf } from '../../src/core/stock/stock-draft.ts'
import { IS_LOW, THRESHOLD } from '../../src/store/low-stock.ts'

const THRESHOLDS = [undefined, 0, 1, 5]

test('SQL and the core agree on which threshold applies to a pet', () => {
  const database = new Database()
  const select = database.query<{ threshold: number | null }, [number | null, number | null]>(
    `SELECT ${THRESHOLD} AS threshold FROM (SELECT ? AS low_stock_at) AS pets, (SELECT ? AS low_stock_at) AS categories`,
  )
  for (const own of THRESHOLDS) {
    for (const ofCategory of THRESHOLDS) {
      const expected = thresholdOf({ lowStockAt: own }, { lowStockAt: ofCategory })
      expect(select.get(own ?? null, ofCategory ?? null)?.threshold ?? null).toBe(expected)
    }
  }
})

test('SQL and the core agree on which pets are low', () => {
  const database = new Database()
  const select = database.query<{ low: number }, [number, number, number | null]>(
    `SELECT ${IS_LOW} AS low FROM (SELECT ? AS quantity, ? AS reserved, ? AS low_at) AS stock`,
  )
  for (const lowStockAt of [null, 0, 1, 5]) {
    for (const quantity of [0, 1, 5, 6, 9]) {
      for (const reserved of [0, 1, 4, 9]) {
        const expected = isLow({ quantity, reserved, lowStockAt })
        expect(select.get(quantity, reserved, lowStockAt)?.low).toBe(Number(expected))
      }
    }
  }
})
