import { afterAll, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test'
import type { Store } from '../../src/store/store.ts'
import { RawConnection } from '../support/raw-connection.ts'
import { TestService } from '../support/test-service.ts'

setDefaultTimeout(120_000)

let service: TestService

let skippedMs = 0
const now = performance.now.bind(performance)
const clock = spyOn(performance, 'now').mockImplementation(() => now() + skippedMs)
afterAll(() => clock.mockRestore())
/** Longer than any deadline. */
const HOUR_MS = 3_600_000
/** For this process. */
function passTime(ms: number): void {
  skippedMs += ms
}

const update = (quantity: number) => service.setQuantity(1n, `{"quantity": ${quantity}}`)

async function quantityOf(petId: bigint): Promise<number | undefined> {
  const items = new Map<bigint, number>()
  await service.store.loadStock((batch) => {
    for (const item of batch) items.set(item.petId, item.quantity)
  })
  return items.get(petId)
}

/** Commits wait for the gate, either before or after their rows are locked. Returns promises about the first commit. */
async function startWithGate(where: 'before_locks' | 'after_locks') {
  const reached = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const committed = Promise.withResolvers<'committed' | 'not committed'>()
  const wrapStore = (store: Store): Store => {
    const changeStock: Store['changeStock'] = async (commands, options) => {
      if (where === 'after_locks') options?.onLocked?.()
      reached.resolve()
      await gate.promise
      const results = store.changeStock(commands, where === 'before_locks' ? options : {})
      results.then(
        () => committed.resolve('committed'),
        () => committed.resolve('not committed'),
      )
      return results
    }
    return { ...store, changeStock }
  }
  service = await TestService.start({ wrapStore })
  return { reached: reached.promise, openGate: gate.resolve, committed: committed.promise }
}

/** Orders are never read. */
async function startWithEndlessRead() {
  const reached = Promise.withResolvers<void>()
  const listOrders = () => {
    reached.resolve()
    return new Promise<never>(() => {})
  }
  service = await TestService.start({ wrapStore: (store) => ({ ...store, listOrders }) })
  return { reached: reached.promise, read: () => service.call('GET', '/store/orders') }
}

describe('after its deadline', () => {
  test('a request that waits for its commit gets 503, and is never executed', async () => {
    const { reached, openGate, committed } = await startWithGate('before_locks')
    const before = await quantityOf(1n)
    const answer = update(77)
    await reached
    passTime(HOUR_MS)
    const { status, error, headers } = await answer
    expect([status, headers.get('Retry-After')]).toEqual([503, '1'])
    expect(error.message).toEndWith('nothing was changed; try again shortly')
    openGate()
    expect(await committed).toBe('not committed')
    expect(await quantityOf(1n)).toBe(before)
  })

  test('a request whose commit has begun gets 503, which says that the outcome is unknown', async () => {
    const { reached, openGate, committed } = await startWithGate('after_locks')
    const answer = update(77)
    await reached
    passTime(HOUR_MS)
    const { status, error } = await answer
    expect([status, error.message]).toEqual([503, expect.stringContaining('it is unknown whether')])
    openGate()
    expect(await committed).toBe('committed')
  })

  test('a read gets 503 as well', async () => {
    const { reached, read } = await startWithEndlessRead()
    const answer = read()
    await reached
    passTime(HOUR_MS)
    const { status, error } = await answer
    expect([status, error.code]).toEqual([503, 'service_unavailable'])
  })
})

test('the deadline begins when the body has arrived', async () => {
  const { reached, read } = await startWithEndlessRead()
  const body = '{"quantity":78}'
  const connection = await RawConnection.open(service.address)
  await connection.sendHead('PATCH', '/v1/inventory/1', service.key, body.length)
  const other = read()
  await reached
  passTime(HOUR_MS)
  // The service has checked the deadlines of all requests.
  expect((await other).status).toBe(503)
  connection.send(body)
  expect((await connection.answer())?.status).toBe(200)
  connection.end()
})

test('a request whose client has given up is never executed', async () => {
  const { reached, openGate, committed } = await startWithGate('before_locks')
  const before = await quantityOf(1n)
  const aborter = new AbortController()
  const given = fetch(`${service.address}/v1/inventory/1`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
    body: '{"quantity":79}',
    signal: aborter.signal,
  }).catch(() => 'aborted')
  await reached
  // Right after its request, the end of a connection would only mean that no further request follows.
  passTime(1_000)
  aborter.abort()
  expect(await given).toBe('aborted')
  // The service reads the end of the connection before a later request.
  for (let round = 0; round < 3; round++) await service.call('GET', '/inventory')
  openGate()
  expect(await committed).toBe('not committed')
  expect(await quantityOf(1n)).toBe(before)
})
