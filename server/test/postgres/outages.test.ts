import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { PostgresServer } from '../support/postgres-server.ts'
import { crashesOf, runOutages } from './outages.ts'

setDefaultTimeout(60_000)

// One of its own, since it is stopped: the others go on with theirs.
let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.end())

describe('when PostgreSQL crashes under load, twice', () => {
  test('only 503s at once, nothing acknowledged is lost, and it is back within 2 s', async () => {
    const report = await runOutages(crashesOf(server), 2)
    expect(report.contradictions).toEqual([])
    expect(report.statuses).toEqual([200, 503])
    expect(report.unreadyStatuses).toEqual([503, 503, 503, 503])
    expect(report.longestRefusalMs).toBeLessThan(500)
    expect(Math.max(...report.recoveriesMs)).toBeLessThan(2_000)
    expect(report.requests).toBeGreaterThan(500)
    expect(report.keyed.counts.made).toBeGreaterThan(50)
  })
})
