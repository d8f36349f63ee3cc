import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { PostgresServer } from '../support/postgres-server.ts'
import { crashesOf, runOutages } from './outages.ts'

setDefaultTimeout(120_000)

// One of its own, since it is stopped: the others go on with theirs.
let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.end())

describe('when PostgreSQL crashes under load, twice', () => {
  // How soon is measured where nothing else runs: `npm run torture -- --only linearizability`.
  test('only 503s, nothing acknowledged is lost, and it is back', async () => {
    const report = await runOutages(crashesOf(server), 2)
    expect(report.contradictions).toEqual([])
    expect(report.statuses).toEqual([200, 503])
    expect(report.unreadyStatuses).toEqual([503, 503, 503, 503])
    expect(report.requests).toBeGreaterThan(50)
    expect(report.keyed.counts.made).toBeGreaterThan(5)
  })
})
