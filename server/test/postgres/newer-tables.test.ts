import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { openStore } from '../../src/store/open-store.ts'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(120_000)

let service: TestService
beforeEach(async () => {
  service = await TestService.start({ onPostgres: true })
})
afterEach(() => service.stop())

const update = (quantity: number) =>
  service.fetch('PATCH', '/v1/inventory/1', {
    body: JSON.stringify({ quantity }),
    headers: { 'Content-Type': 'application/json' },
  })
const ready = () => service.fetch('GET', '/readyz', { key: null })

describe('an instance with tables of the next version', () => {
  test('continues if they only add to its own, and another of its version can start', async () => {
    const newest = () => service.run('SELECT max(number) AS number FROM migrations')
    await service.run(`
      ALTER TABLE stock ADD COLUMN shelf text;
      INSERT INTO migrations (number, oldest_program) SELECT max(number) + 1, 1 FROM migrations`)
    const made = await newest()
    expect([(await update(5)).status, (await ready()).status]).toEqual([200, 200])
    const another = await openStore(service.databaseUrl, { tables: 'migrate' })
    await another.ping()
    await another.close()
    expect(await newest()).toEqual(made)
  })

  test('responds 503 with the reason if it is not compatible with them', async () => {
    await service.run(`
      ALTER TABLE stock RENAME COLUMN quantity TO amount;
      INSERT INTO migrations (number, oldest_program) VALUES (99, 99)`)
    await until(async () => (await ready()).status === 503)
    expect((await ready()).error.message).toContain('newer version')
    expect([(await update(6)).status, (await update(7)).error.message]).toEqual([
      503,
      expect.stringContaining('newer version'),
    ])
    expect((await service.fetch('GET', '/v1/inventory')).status).toBe(503)
    expect(service.logText).toContain('the tables have version 99, this program supports ')
    await service.run(
      'ALTER TABLE stock RENAME COLUMN amount TO quantity; DELETE FROM migrations WHERE number = 99',
    )
    await until(async () => (await ready()).status === 200)
  })
})
