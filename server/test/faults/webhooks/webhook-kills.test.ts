import { expect, setDefaultTimeout, test } from 'bun:test'
import { deliverThroughKills } from './webhook-kills.ts'

setDefaultTimeout(120_000)

test('every change arrives, in order for each pet, despite kills of the delivering instance and a failing receiver', async () => {
  const report = await deliverThroughKills({ seed: 20_261_116, changes: 300, kills: 1, outages: 0 })
  expect(report.violations).toEqual([])
  expect(report.arrived).toBe(report.changes)
  expect(report.changes).toBeGreaterThanOrEqual(300)
})
