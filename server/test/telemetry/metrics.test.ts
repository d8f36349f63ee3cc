import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PLANS } from '../../src/core/keys/api-key.ts'
import { metricFamily } from '../../src/telemetry/metrics.ts'
import { addPets } from '../support/add-pets.ts'
import { parsePrometheusText } from '../support/prometheus-text.ts'
import { START, TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start({ settings: { metricsPort: '0' }, anonymousPerMinute: 3 })
})
afterAll(() => service.stop())

async function scrape(of = service) {
  const response = await fetch(of.metricsAddress)
  expect(response.status).toBe(200)
  expect(response.headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const text = await response.text()
  const families = parsePrometheusText(text)
  /** The value of a sample, or 0 if there is none. */
  const value = (name: string, labels: Readonly<Record<string, string>> = {}): number => {
    const samples =
      families.get(name.replace(/_(sum|count|bucket)$/, ''))?.samples ?? families.get(name)?.samples
    const same = samples?.find((sample) => sample.name === name && Bun.deepEquals(sample.labels, labels))
    return same?.value ?? 0
  }
  return { text, families, value }
}

describe('/metrics', () => {
  test('is served by its own listener only', async () => {
    expect((await service.fetch('GET', '/metrics')).status).toBe(404)
    const { metricsAddress } = service
    expect((await fetch(metricsAddress.replace('/metrics', '/'))).status).toBe(404)
    expect((await fetch(metricsAddress, { method: 'POST' })).status).toBe(405)
    expect((await fetch(`${metricsAddress}?name=x`)).status).toBe(200)
  })

  test('has every documented metric, with help and type', async () => {
    const { families } = await scrape()
    expect(Object.fromEntries([...families].map(([name, { type }]) => [name, type]))).toEqual({
      petstore_requests_total: 'counter',
      petstore_request_duration_seconds: 'histogram',
      petstore_commit_batch_size: 'histogram',
      petstore_commit_duration_seconds: 'histogram',
      petstore_rate_limited_total: 'counter',
      petstore_bans_total: 'counter',
      petstore_keys: 'gauge',
      petstore_inventory_entries: 'gauge',
      petstore_orders_open: 'gauge',
      petstore_reserved_units: 'gauge',
      petstore_orders_refused_total: 'counter',
      petstore_orders_expired_total: 'counter',
      petstore_backup_age_seconds: 'gauge',
      petstore_webhook_deliveries_total: 'counter',
      petstore_webhook_delivery_duration_seconds: 'histogram',
      petstore_webhooks_turned_off_total: 'counter',
      petstore_webhook_behind_events: 'gauge',
      petstore_webhook_behind_seconds: 'gauge',
      petstore_webhook_on: 'gauge',
      petstore_open_connections: 'gauge',
      petstore_open_requests: 'gauge',
      petstore_build_info: 'gauge',
      process_resident_memory_bytes: 'gauge',
      process_open_fds: 'gauge',
      process_max_fds: 'gauge',
      process_start_time_seconds: 'gauge',
    })
    const documented = await Bun.file(new URL('../../../docs/monitoring.md', import.meta.url)).text()
    for (const name of families.keys()) expect(documented).toContain(`\`${name}`)
  })

  test('shows open orders and reserved units, and counts rejected and expired orders', async () => {
    const order = (body: object) => service.send('POST', '/store/orders', { petId: 1, ...body })
    const figures = async () => {
      const { value } = await scrape()
      const gauges = [value('petstore_orders_open'), value('petstore_reserved_units')]
      return [...gauges, value('petstore_orders_refused_total'), value('petstore_orders_expired_total')]
    }
    // The open order that every service under test begins with.
    expect(await figures()).toEqual([1, 1, 0, 0])
    await order({ quantity: 3, holdSeconds: 1 })
    await order({ quantity: 2 })
    await order({ petId: 404, quantity: 2 })
    expect(await figures()).toEqual([2, 4, 1, 0])
    service.now += 1_000
    expect((await figures()).slice(0, 3)).toEqual([1, 1, 1])
    await order({ quantity: 4, holdSeconds: 1 })
    expect(await figures()).toEqual([2, 5, 1, 1])
    service.now += 1_000
    await order({ quantity: 5 })
    expect(await figures()).toEqual([1, 1, 2, 2])
  })

  test('counts requests by operation and status, and times them', async () => {
    const before = await scrape()
    const began = performance.now()
    await service.call('GET', '/inventory')
    await service.call('GET', '/inventory', { headers: { 'If-None-Match': '*' } })
    await service.setQuantity(1n, '{"quantity": "many"}')
    await service.setQuantity(404n, '{"quantity": 1}')
    await service.fetch('GET', '/v1/nothing')
    await service.fetch('DELETE', '/v1/inventory')
    await service.fetch('GET', '/healthz', { key: null })
    const tookSeconds = (performance.now() - began) / 1_000
    const after = await scrape()
    const counted = (operation: string, status: string) =>
      after.value('petstore_requests_total', { operation, status }) -
      before.value('petstore_requests_total', { operation, status })
    expect(counted('listInventory', '200')).toBe(1)
    expect(counted('listInventory', '304')).toBe(1)
    expect(counted('updateInventory', '400')).toBe(1)
    expect(counted('updateInventory', '404')).toBe(1)
    expect(counted('none', '404')).toBe(1)
    expect(counted('none', '405')).toBe(1)
    expect(counted('healthz', '200')).toBe(1)
    const timed = { operation: 'listInventory' }
    expect(after.value('petstore_request_duration_seconds_count', timed)).toBe(2)
    expect(after.value('petstore_request_duration_seconds_sum', timed)).toBeWithin(0, tookSeconds)
  })

  test('shows the size and duration of commits', async () => {
    const before = await scrape()
    const began = performance.now()
    await service.setQuantity(1n, '{"quantity": 5}')
    await service.setQuantity(2n, '{"quantity": 5}')
    const tookSeconds = (performance.now() - began) / 1_000
    const after = await scrape()
    const grown = (name: string) => after.value(name) - before.value(name)
    expect(grown('petstore_commit_batch_size_sum')).toBe(2)
    expect(grown('petstore_commit_batch_size_count')).toBe(2)
    expect(grown('petstore_commit_duration_seconds_count')).toBe(2)
    expect(grown('petstore_commit_duration_seconds_sum')).toBeWithin(0, tookSeconds)
  })

  test('counts rejections by reason, and bans', async () => {
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 2, perDay: 100 } })
    const before = await scrape()
    const send = async (count: number) => {
      for (let sent = 0; sent < count; sent++) await service.call('GET', '/inventory', { key: secret })
    }
    // Two are accepted and one is rejected. A second later one is rejected, the next starts a ban, and the last is banned.
    await send(3)
    service.now += 1_000
    await send(3)
    for (let sent = 0; sent < 4; sent++) await service.call('GET', '/inventory', { key: null })
    const after = await scrape()
    const limited = (reason: string) =>
      after.value('petstore_rate_limited_total', { reason }) -
      before.value('petstore_rate_limited_total', { reason })
    expect([limited('rate_limit_exceeded'), limited('key_banned'), limited('anonymous')]).toEqual([2, 2, 1])
    expect(after.value('petstore_bans_total') - before.value('petstore_bans_total')).toBe(1)
    expect(after.value('petstore_requests_total', { operation: 'listInventory', status: '401' })).toBe(3)
  })

  test('shows the current number of active keys by plan and of entries', async () => {
    const before = await scrape()
    await service.createKey('free')
    await service.createKey('free', { expiresAt: START })
    await service.createKey('pro', { revokedAt: START })
    await addPets(service.store, [{ id: 50n, name: 'New', categoryId: 1n, status: 'sold', quantity: 0 }])
    const after = await scrape()
    const grown = PLANS.map(
      (plan) => after.value('petstore_keys', { plan }) - before.value('petstore_keys', { plan }),
    )
    expect(grown).toEqual([1, 0, 0, 0])
    expect(after.value('petstore_inventory_entries')).toBe(before.value('petstore_inventory_entries') + 1)
  })

  test('shows the version, the start time and the memory', async () => {
    const { families, value } = await scrape()
    const version = (await Bun.file(new URL('../../package.json', import.meta.url)).json()).version
    expect(value('petstore_build_info', { version, bun: Bun.version })).toBe(1)
    expect(value('process_start_time_seconds')).toBeWithin(Date.now() / 1000 - 3_600, Date.now() / 1000)
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
    expect(families.get('petstore_open_requests')?.samples).toHaveLength(1)
  })

  test('counts the requests in progress', async () => {
    const other = new Database(service.databasePath)
    other.run('BEGIN IMMEDIATE')
    const waiting = service.setQuantity(1n, '{"quantity": 123}')
    const openRequests = async () => (await scrape()).value('petstore_open_requests')
    await until(async () => (await openRequests()) === 1)
    other.run('COMMIT')
    other.close()
    await waiting
    expect(await openRequests()).toBe(0)
  })

  test('shows the other metrics while the database is unavailable', async () => {
    const other = new Database(service.databasePath)
    other.run('ALTER TABLE keys RENAME TO away')
    const { families } = await scrape()
    other.run('ALTER TABLE away RENAME TO keys')
    other.close()
    expect(families.get('petstore_keys')?.samples).toEqual([])
    expect(families.get('petstore_build_info')?.samples).toHaveLength(1)
  })

  test.skipIf(Bun.which('promtool') === null)('passes promtool check metrics', async () => {
    const { text } = await scrape()
    const promtool = Bun.spawn(['promtool', 'check', 'metrics'], { stdin: new Blob([text]), stderr: 'pipe' })
    expect([await promtool.exited, await new Response(promtool.stderr).text()]).toEqual([0, ''])
  })
})

test('labels and help texts are escaped', () => {
  const labels = { name: 'a "quoted" \\ back\nslash', other: '}' }
  const text = metricFamily('some_gauge', 'gauge', 'with \\ and\nbreak', [[labels, 1.5]])
  expect(text.split('\n')).toHaveLength(4)
  expect(parsePrometheusText(text).get('some_gauge')?.samples).toEqual([
    { name: 'some_gauge', labels, value: 1.5 },
  ])
})
