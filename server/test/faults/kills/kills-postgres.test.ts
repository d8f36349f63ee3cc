import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { killOneOfTwo } from './kills-postgres.ts'

setDefaultTimeout(120_000)

const SEED = 20_261_115

describe('one of two instances on PostgreSQL, killed (kill -9) under load twice', () => {
  test('the other continues, and nothing acknowledged is lost on either', async () => {
    console.log(`seed ${SEED}`)
    const report = await killOneOfTwo({ seed: SEED, isOver: (kills) => kills >= 2 })
    expect(report.violations).toEqual([])
    expect(report.acknowledgedAlone).toBeGreaterThanOrEqual(40)
    expect(report.ledger.counts.unsure).toBeGreaterThan(0)
    expect(report.keyed.counts.made).toBeGreaterThan(0)
    expect(report.ledger.counts.refused).toBeGreaterThan(0)
  })
})
