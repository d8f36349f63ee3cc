import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { openStore } from '../../src/store/open-store.ts'
import { petstore } from '../cli/petstore.ts'
import { serve } from '../cli/running-petstore.ts'
import { PostgresPair, SOCKETS } from '../support/postgres-pair.ts'
import { until } from '../support/until.ts'
import { failOversOf, READ_ONLY } from './failovers.ts'
import { runOutages } from './outages.ts'
import { stockUp } from './shop.ts'

setDefaultTimeout(120_000)

let pair: PostgresPair
beforeAll(async () => {
  pair = await PostgresPair.start()
})
afterAll(() => pair.end())

test('a socket in the file system works as an address', async () => {
  const store = await openStore(`postgres:///postgres?host=${SOCKETS}&port=${pair.primary.port}`, {
    tables: 'migrate',
  })
  await store.ping()
  await store.close()
})

describe('when the primary is killed under load and its synchronous standby promoted', () => {
  test('nothing acknowledged is lost, no read is stale, limits are exact, and both instances recover', async () => {
    const report = await runOutages(failOversOf(pair, 1), 1)
    console.log(
      `back after ${report.recoveriesMs.map(Math.round)} ms, ${report.apartMs.map(Math.round)} apart`,
    )
    expect(report.contradictions).toEqual([])
    expect(report.statuses).toEqual([200, 503])
    expect(report.unreadyStatuses).toEqual([503, 503])
    // They were sent to the standby before its promotion.
    for (const reason of report.reasons) expect(reason).toContain(READ_ONLY)
    expect(report.requests).toBeGreaterThan(50)
    expect(report.keyedChanges).toBeGreaterThan(5)
  })
})

describe('an instance connected to a read-only server', () => {
  let key: string
  let env: { DATABASE_URL: string }
  let service: Awaited<ReturnType<typeof serve>>
  beforeAll(async () => {
    await pair.onPrimary('CREATE DATABASE other')
    env = { DATABASE_URL: pair.url.replace(/postgres$/, 'other') }
    key = await stockUp(env.DATABASE_URL)
    service = await serve([], { cwd: '/', env })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  const ready = async () => {
    const response = await fetch(`${service.address}/readyz`)
    return `${response.status} ${await response.text()}`
  }
  const update = async (quantity: number) => {
    const body = JSON.stringify({ quantity })
    return (await service.call('/inventory/1', key, { method: 'PATCH', body })).status
  }
  const whenBack = async () => {
    await until(async () => (await update(5)) === 200)
    await until(async () => (await ready()).startsWith('200'))
  }

  test('a standby: it reports it, shows nothing stale, and recovers once the address leads to the primary', async () => {
    expect(await update(1)).toBe(200)
    await pair.showStandby()
    await until(async () => (await ready()).includes('read-only'))
    expect(await ready()).toStartWith('503')
    expect(await update(2)).toBe(503)
    expect((await service.call('/inventory', key)).status).toBe(503)
    const check = await petstore(['check'], { env })
    expect([check.exitCode, check.stdout]).toEqual([
      1,
      expect.stringContaining('✗ the database is read-only'),
    ])
    expect((await petstore(['export'], { env })).stdout).toContain('Pet 1')
    const start = await petstore(['serve', '--port', '0'], { env })
    expect([start.exitCode, start.stderr]).toEqual([1, expect.stringContaining('read-only')])
    // Nobody cuts its connections to the standby.
    pair.proxy.switchTo(pair.primary.port)
    await whenBack()
  })

  test('a primary that an operator has made read-only: likewise', async () => {
    const settings = 'ALTER SYSTEM SET default_transaction_read_only ='
    await pair.onPrimary(`${settings} on`, 'SELECT pg_reload_conf()')
    await until(async () => (await ready()).includes('read-only'))
    expect([await update(3), await ready()]).toEqual([503, expect.stringContaining('read-only')])
    await pair.onPrimary(
      'SET default_transaction_read_only = off',
      `${settings} off`,
      'SELECT pg_reload_conf()',
    )
    await whenBack()
  })
})

test('with several hosts, the one that accepts writes is found, also after a failover', async () => {
  const [primary, standby] = [pair.primary.port, pair.standby.port]
  const store = await openStore(
    `postgres://postgres@127.0.0.1:1,127.0.0.1:${standby},127.0.0.1:${primary}/other`,
    {
      tables: 'require_current_tables',
    },
  )
  const change = (quantity: number) =>
    store.changeStock([{ type: 'adjust', changes: [{ petId: 1n, quantity }], keyId: 'key_a', at: 1 }])
  await change(10)
  pair.killPrimary()
  await pair.promote()
  await until(() =>
    change(11).then(
      () => true,
      () => false,
    ),
  )
  await store.close()
})
