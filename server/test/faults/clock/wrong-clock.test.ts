import { afterEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import { TestService } from '../../support/test-service.ts'
import { until } from '../../support/until.ts'

setDefaultTimeout(120_000)

const HOUR = 3_600_000
const realNow = Date.now
const DATABASES = [['sqlite'], ['postgres']] as const

let service: TestService
/** Sets the clock of the machine, or of the database server, this far ahead. */
let setAhead: (ms: number) => Promise<void>
afterEach(async () => {
  await setAhead(0)
  await service.stop()
})

async function open(database: (typeof DATABASES)[number][0]): Promise<void> {
  const onPostgres = database === 'postgres'
  service = await TestService.start({ realTime: true, onPostgres })
  if (!onPostgres) {
    setAhead = async (ms) => void spyOn(Date, 'now').mockImplementation(() => realNow() + ms)
    return
  }
  // Sessions find this function before that of PostgreSQL.
  for (const text of [
    'CREATE SCHEMA wrong',
    "CREATE TABLE wrong.clock AS SELECT interval '0' AS ahead",
    `CREATE FUNCTION wrong.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
      AS 'SELECT pg_catalog.clock_timestamp() + ahead FROM wrong.clock'`,
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, wrong, pg_catalog', current_database()); END $$`,
  ]) {
    await service.run(text)
  }
  setAhead = async (ms) =>
    void (await service.run(`UPDATE wrong.clock SET ahead = interval '${ms} milliseconds'`))
  await service.restart()
}

const post = (path: string, body: object, idempotencyKey: string) =>
  service.call('POST', path, {
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
  })
const idOf = ({ json }: { readonly json: unknown }) => (json as { readonly id: number }).id
const recordedState = async (orderId: number) =>
  (await service.run(`SELECT state FROM orders WHERE id = ${orderId}`))[0]?.state

describe.each(DATABASES)('a clock that is set 25 hours forward for a while, on %s', (database) => {
  test('forgets no answer and expires no hold, also across a restart', async () => {
    await open(database)
    const hold = { petId: 1, quantity: 3, holdSeconds: 900 }
    const first = await post('/store/orders', hold, 'order-once')
    expect(first.status).toBe(201)
    await until(async () => (await service.run('SELECT boot_id FROM clocks')).length === 1)

    const expectUnharmed = async (name: string) => {
      const repeated = await post('/store/orders', hold, 'order-once')
      expect([repeated.status, repeated.headers.get('Idempotency-Replayed')]).toEqual([201, 'true'])
      expect(idOf(repeated)).toBe(idOf(first))
      // The units are still reserved: every commit about the pet would release an expired hold.
      expect((await post('/store/orders', { petId: 1, quantity: 2 }, `second-${name}`)).status).toBe(409)
      expect((await service.setQuantity(1n, '{"quantity": 4}')).status).toBe(200)
      expect(Math.abs(service.store.clock() - realNow())).toBeLessThan(60_000)
      // The job that records expiries has run when this hold has expired.
      const brief = await post('/store/orders', { petId: 1, quantity: 1, holdSeconds: 1 }, `brief-${name}`)
      await until(async () => (await recordedState(idOf(brief))) === 'expired')
      expect(await recordedState(idOf(first))).toBe('open')
    }

    await setAhead(25 * HOUR)
    await expectUnharmed('during')
    const warning = /was set forward by (89999|9000[01]) s; the service ignores this for an hour/
    await until(async () => warning.test(service.logText))
    await service.restart()
    await expectUnharmed('restarted')
    await setAhead(0)
    await expectUnharmed('after')
    const complete = await service.call('PATCH', `/store/orders/${idOf(first)}`, {
      body: '{"complete": true}',
      headers: { 'Content-Type': 'application/json' },
    })
    expect(complete.status).toBe(200)
  })
})
