import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { PostgresServer } from '../support/postgres-server.ts'
import { crashesOf, runOutages } from './outages.ts'

setDefaultTimeout(120_000)

// A separate server, because it is stopped while other tests use theirs.
let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.end())

describe('when PostgreSQL crashes under load, twice', () => {
  test('only 503s, nothing acknowledged is lost, and it recovers', async () => {
    const report = await runOutages(crashesOf(server), 2)
    expect(report.contradictions).toEqual([])
    expect(report.statuses).toEqual([200, 503])
    expect(report.unreadyStatuses).toEqual([503, 503, 503, 503])
    expect(report.requests).toBeGreaterThan(50)
    expect(report.keyedChanges).toBeGreaterThan(5)
  })
})
