import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { killAgainAndAgain } from './kills.ts'

setDefaultTimeout(120_000)

const SEED = 20_261_115

describe('petstore serve on SQLite, killed (kill -9) under load five times', () => {
  test('keeps what it acknowledged, in order, and nothing that it refused', async () => {
    console.log(`seed ${SEED}`)
    const report = await killAgainAndAgain({ seed: SEED, isOver: (kills) => kills >= 5 })
    expect(report.violations).toEqual([])
    expect(report.kills).toBeGreaterThanOrEqual(5)
    expect(report.ledger.counts.acknowledged).toBeGreaterThan(50)
    // Without updates in progress at the kill, and without rejections of each kind, it would prove little.
    expect(report.ledger.counts.unsure).toBeGreaterThan(0)
    // The same holds without requests that are first answered after the kill.
    expect(Math.min(...Object.values(report.keyed.counts))).toBeGreaterThan(0)
    for (const status of [200, 400, 401, 404, 412, 429]) {
      expect([status, report.load.statuses.get(status)]).not.toEqual([status, undefined])
    }
  })
})
