import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { SQL } from 'bun'
import { petstore } from '../cli/petstore.ts'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(120_000)

let service: TestService
let operator: SQL
beforeAll(async () => {
  service = await TestService.start({ onPostgres: true, settings: { pgPoolSize: '2' } })
  operator = new SQL({ url: service.databaseUrl, max: 1, connection: { application_name: 'backfill' } })
})
afterAll(async () => {
  await operator.close()
  await service.stop()
})

const ready = () => service.fetch('GET', '/readyz', { key: null })
const untilReady = () => until(async () => (await ready()).status === 200)
/** A check that takes too long on a busy machine reports that instead, so the check is repeated. */
const untilProblem = (text: string) =>
  until(async () => {
    const answer = await ready()
    return answer.status === 503 && answer.error.message.includes(text)
  })

describe('/readyz is 503, and names the problem,', () => {
  afterEach(async () => {
    await operator.unsafe('ROLLBACK')
    await untilReady()
  })

  test.each(['orders', 'stock', 'log', 'keys'])('while table %s is locked', async (table) => {
    await operator.unsafe(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    const [row] = await operator.unsafe('SELECT pg_backend_pid() AS pid')
    await untilProblem(`${table} locked by backfill (pid ${row.pid})`)
    if (table !== 'orders') return
    const { exitCode, stdout } = await petstore(['check'], { env: { DATABASE_URL: service.databaseUrl } })
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('orders locked by backfill')])
  })

  test('while the log cannot be numbered', async () => {
    await operator.unsafe('BEGIN; SELECT FROM log_numbering FOR UPDATE')
    expect((await service.setQuantity(1n, '{"quantity": 40}')).status).toBe(200)
    await untilProblem('the log is not being numbered')
  })
})

test('/readyz stays 200 while all connections of the pool wait for a locked pet', async () => {
  await operator.unsafe('BEGIN; SELECT FROM stock WHERE pet_id = 1 FOR UPDATE')
  const waiting = [5, 6, 7, 8].map((quantity) => service.setQuantity(1n, JSON.stringify({ quantity })))
  await until(async () => {
    const [row] = await operator.unsafe(
      "SELECT count(*)::integer AS waiting FROM pg_stat_activity WHERE application_name = 'petstore' AND wait_event_type = 'Lock'",
    )
    return row.waiting > 0
  })
  const statuses = new Set<number>()
  const began = performance.now()
  // Longer than a result is cached.
  while (performance.now() - began < 2_500) statuses.add((await ready()).status)
  expect([...statuses]).toEqual([200])
  await operator.unsafe('ROLLBACK')
  for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(200)
})
