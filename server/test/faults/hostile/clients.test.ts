import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Random } from '../../sim/random.ts'
import { until } from '../../support/until.ts'
import { pipelinedFlood } from '../connections/connection-attacks.ts'
import {
  bodyFlood,
  type Held,
  headerFlood,
  idleConnections,
  malformedFlood,
  slowBodies,
  slowHeaders,
  slowReaders,
  wrongKeys,
} from './attacks.ts'
import { PoliteClient } from './polite.ts'
import { type HostileService, startHostileService } from './service.ts'

const SEED = 20_261_115
/** The memory that all attacks of this file together may add. The slow readers alone request more than twice this. */
const MAX_ADDED_BYTES = 160 * 1024 * 1024
const PETS = 25_000
const SLOW_READERS = 300
const IDLE = 2_000

let service: HostileService
let polite: PoliteClient
let quietFiles: number
let quietBytes: number
/** The service itself disconnects them, and the last test waits for that. */
let lingering: readonly Held[]

beforeAll(async () => {
  service = await startHostileService()
  quietFiles = await service.metric('process_open_fds')
  // Started first, because the service waits for them.
  lingering = [await slowHeaders(service, 200), await slowBodies(service, 200)]
  await service.stock(PETS)
  polite = new PoliteClient(service.address, service.key)
  await polite.figures(50)
  quietBytes = await service.metric('process_resident_memory_bytes')
}, 120_000)
afterAll(async () => {
  polite.end()
  await service.stop()
})

/** During the attack, and right after it. */
async function expectOthersAreServed(): Promise<void> {
  // `npm run torture -- --only hostile` measures the delay on an idle machine.
  expect((await polite.figures(50)).failed).toEqual([])
  expect(await service.metric('process_resident_memory_bytes')).toBeLessThan(quietBytes + MAX_ADDED_BYTES)
}

describe(`others are served as usual, and memory stays bounded, under (seed ${SEED})`, () => {
  test('2,000 idle connections, which the metrics show', async () => {
    const held = await idleConnections(service, IDLE)
    lingering = [...lingering, held]
    await until(async () => (await service.metric('petstore_open_connections')) >= IDLE)
    await expectOthersAreServed()
  }, 120_000)

  test('many clients that request the whole list and do not read it', async () => {
    const held = await slowReaders(service, SLOW_READERS)
    const asked = { operation: 'listInventory', status: '200' }
    await until(async () => (await service.metric('petstore_requests_total', asked)) >= SLOW_READERS)
    await expectOthersAreServed()
    held.end()
  }, 120_000)

  test('a flood of bodies, each rejected without being kept in memory', async () => {
    const statuses = await bodyFlood(service, 14, 8)
    expect(statuses).toEqual({ 200: 2, 400: 2, 401: 4, 413: 6 })
    await expectOthersAreServed()
  }, 120_000)

  test('3,000 wrong keys from one address, which is then refused, and the metrics show it', async () => {
    const statuses = await wrongKeys(service, 3_000, 20)
    expect(Object.keys(statuses)).toEqual(['401', '429'])
    expect(statuses[401]).toBeLessThanOrEqual(300)
    expect(
      await service.metric('petstore_rate_limited_total', { reason: 'anonymous' }),
    ).toBeGreaterThanOrEqual(2_700)
    // The polite client has the same address, with a valid key.
    await expectOthersAreServed()
  }, 120_000)

  // The address has now used up its anonymous requests: most of the following are refused for that reason.
  test('a flood of invalid requests', async () => {
    await malformedFlood(service, 400, new Random(SEED))
    await expectOthersAreServed()
  }, 120_000)

  test('a flood of headers', async () => {
    await headerFlood(service, 40)
    await expectOthersAreServed()
  }, 120_000)

  test('floods of requests over eight connections, 4,000 at a time', async () => {
    const flood = pipelinedFlood(service, 3)
    await expectOthersAreServed()
    expect((await flood).maxBytes).toBeLessThan(quietBytes + MAX_ADDED_BYTES)
  }, 120_000)

  test('slow senders of headers and of bodies, which are disconnected like the idle ones', async () => {
    await Promise.all(lingering.map(({ allClosed }) => allClosed))
    // The worker that copies a long write-ahead log has opened a few files meanwhile.
    await until(async () => (await service.metric('process_open_fds')) <= quietFiles + 10)
    await expectOthersAreServed()
    expect(
      await service.metric('petstore_requests_total', { operation: 'updateInventory', status: '500' }),
    ).toBe(0)
  }, 120_000)
})
