import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { missingShim } from '../../support/disk-shim.ts'
import { killAgainAndAgain } from '../kills/kills.ts'

setDefaultTimeout(120_000)

const SEED = 20_261_117

const missing = await missingShim()
if (missing !== undefined) console.log(`skipped: ${missing}`)

describe.skipIf(missing !== undefined)('petstore serve on SQLite, with the power cut under load', () => {
  test('keeps what it acknowledged and what a read showed, though nothing else was flushed', async () => {
    console.log(`seed ${SEED}`)
    const report = await killAgainAndAgain({ seed: SEED, isOver: (kills) => kills >= 5, losesPower: true })
    expect(report.violations).toEqual([])
    expect(report.ledger.counts.acknowledged).toBeGreaterThan(100)
    expect(report.ledger.counts.unsure).toBeGreaterThan(0)
  })
})
