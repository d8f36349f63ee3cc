import { afterAll, expect, test } from 'bun:test'
import { answerOf, listenWith } from './echo-server.ts'
import { until } from './until.ts'

const MIB = 1024 * 1024
const FLOODING_CONNECTIONS = 8
const FLOOD_MS = 2_000
/** A turn of all connections sends 512 KiB, and each response counts as 4 KiB in addition to its bytes. */
const MAX_RESPONSES_PER_TURN = 128
/** Between two turns of the test, the listener may have two, after each of which the next requests are handled. */
const MAX_REQUESTS = 2 * (MAX_RESPONSES_PER_TURN + FLOODING_CONNECTIONS)

let answered = 0
const listener = listenWith(({ path }) => {
  if (path === '/flood') answered++
  return answerOf('{"code":"unauthorized","message":"the API key is missing","status":401}', 401)
})
afterAll(() => listener.stop(0))

// `npm run torture -- --only connections` measures how long other connections wait.
test('an endless pipeline neither delays other connections nor grows in memory', async () => {
  const rssBefore = process.memoryUsage.rss()
  const flood = Bun.spawn([
    process.execPath,
    `${import.meta.dir}/flood-client.ts`,
    String(listener.port),
    String(FLOODING_CONNECTIONS),
  ])
  const start = performance.now()
  while (answered === 0) await Bun.sleep(1)
  let mostRequests = 0
  let mostBytes = 0
  while (answered < 10_000 || performance.now() - start < FLOOD_MS) {
    await (await fetch(`http://127.0.0.1:${listener.port}/`)).text()
    const answeredBefore = answered
    await new Promise(setImmediate)
    mostRequests = Math.max(mostRequests, answered - answeredBefore)
    mostBytes = Math.max(mostBytes, process.memoryUsage.rss() - rssBefore)
  }
  flood.kill()
  await flood.exited
  await until(() => listener.load().connections <= 1)
  expect(mostRequests).toBeLessThanOrEqual(MAX_REQUESTS)
  expect(mostBytes).toBeLessThan(150 * MIB)
}, 120_000)
