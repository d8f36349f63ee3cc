import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Store } from '../../src/store/store.ts'
import { RawConnection } from '../support/raw-connection.ts'
import { TestService } from '../support/test-service.ts'

setDefaultTimeout(120_000)

/** Far shorter than a request with a closed gate takes. */
const DEADLINE_MS = 20
let service: TestService
afterEach(() => service.stop())

const update = (quantity: number) =>
  service.call('PATCH', '/inventory/1', {
    body: JSON.stringify({ quantity }),
    headers: { 'Content-Type': 'application/json' },
  })

async function quantityOf(petId: bigint): Promise<number | undefined> {
  const items = new Map<bigint, number>()
  await service.store.loadStock((batch) => {
    for (const item of batch) items.set(item.petId, item.quantity)
  })
  return items.get(petId)
}

/** Commits wait for the gate, either before or after their rows are locked. Returns a promise that follows the first commit. */
async function startWithGate(where: 'before_locks' | 'after_locks', deadlineMs?: number) {
  const gate = Promise.withResolvers<void>()
  const committed = Promise.withResolvers<'committed' | 'not committed'>()
  const wrapStore = (store: Store): Store => {
    const changeStock: Store['changeStock'] = async (commands, options) => {
      if (where === 'before_locks') await gate.promise
      else {
        options?.onLocked?.()
        await gate.promise
      }
      const results = store.changeStock(commands, where === 'before_locks' ? options : {})
      results.then(
        () => committed.resolve('committed'),
        () => committed.resolve('not committed'),
      )
      return results
    }
    return { ...store, changeStock }
  }
  service = await TestService.start({ wrapStore, ...(deadlineMs === undefined ? {} : { deadlineMs }) })
  return { openGate: gate.resolve, committed: committed.promise }
}

describe('after its deadline', () => {
  test('a request that waits for its commit gets 503, and is never executed', async () => {
    const { openGate, committed } = await startWithGate('before_locks', DEADLINE_MS)
    const before = await quantityOf(1n)
    const { status, error, headers } = await update(77)
    expect([status, headers.get('Retry-After')]).toEqual([503, '1'])
    expect(error.message).toEndWith('nothing was changed; try again shortly')
    openGate()
    expect(await committed).toBe('not committed')
    expect(await quantityOf(1n)).toBe(before)
  })

  test('a request whose commit has begun gets 503, which says that the outcome is unknown', async () => {
    const { openGate, committed } = await startWithGate('after_locks', DEADLINE_MS)
    const { status, error } = await update(77)
    expect([status, error.message]).toEqual([503, expect.stringContaining('it is unknown whether')])
    openGate()
    expect(await committed).toBe('committed')
  })

  test('a read gets 503 as well', async () => {
    const wrapStore = (store: Store): Store => ({ ...store, listOrders: () => new Promise(() => {}) })
    service = await TestService.start({ wrapStore, deadlineMs: DEADLINE_MS })
    const { status, error } = await service.call('GET', '/store/orders')
    expect([status, error.code]).toEqual([503, 'service_unavailable'])
  })
})

test('the deadline begins when the body has arrived', async () => {
  service = await TestService.start({ deadlineMs: 4_000 })
  const body = '{"quantity":78}'
  const connection = await RawConnection.open(service.address)
  connection.send(
    `PATCH /v1/inventory/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await Bun.sleep(5_000)
  connection.send(body)
  expect((await connection.answer())?.status).toBe(200)
  connection.end()
})

test('a request whose client has given up is never executed', async () => {
  const { openGate, committed } = await startWithGate('before_locks')
  const before = await quantityOf(1n)
  const aborter = new AbortController()
  const given = fetch(`${service.address}/v1/inventory/1`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
    body: '{"quantity":79}',
    signal: aborter.signal,
  }).catch(() => 'aborted')
  await Bun.sleep(1_000)
  aborter.abort()
  expect(await given).toBe('aborted')
  // The service reads the end of the connection before a later request.
  for (let round = 0; round < 3; round++) await service.call('GET', '/inventory')
  openGate()
  expect(await committed).toBe('not committed')
  expect(await quantityOf(1n)).toBe(before)
})
