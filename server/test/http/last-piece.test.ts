import { afterAll, beforeAll, expect, test } from 'bun:test'
import { contradictions, eventsAfter } from '../support/oversell-check.ts'
import { TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const send = (method: string, path: string, body?: object) =>
  service.call(method, path, {
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { 'Content-Type': 'application/json' },
  })
const order = (more: object = {}) => send('POST', '/store/orders', { petId: 1, quantity: 1, ...more })

test('200 callers order one of a hundred units at once: 100 succeed, 100 are refused', async () => {
  await service.setQuantity(1n, '{"quantity": 100}')
  const answers = await Promise.all(Array.from({ length: 200 }, () => order()))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(100)
  expect(statuses.filter((status) => status === 409)).toHaveLength(100)
  expect(new Set(answers.flatMap(({ status, text }) => (status === 201 ? [text] : []))).size).toBe(100)
  const available = (await service.call('GET', '/inventory/1/availability')).json
  expect(available).toEqual({ petId: 1, quantity: 100, reserved: 100, available: 0 })
  expect(await service.store.findDamage()).toEqual([])
})

test('with completions, cancellations, expiring holds and stock changes, nothing is sold twice', async () => {
  for (const { id } of await service.store.listOrders({ state: 'open', petId: 1n }, 1_000)) {
    await send('DELETE', `/store/orders/${id}`)
  }
  await service.setQuantity(1n, '{"quantity": 20}')
  const cursor = await service.store.latestEventCursor()
  const open: number[] = []
  const seen = new Set<number>()
  async function caller(seed: number): Promise<void> {
    for (let turn = 0; turn < 12; turn++) {
      const choice = (seed * 7 + turn * 5) % 11
      if (choice < 5) {
        const answer = await order(choice < 2 ? { holdSeconds: 1 + choice } : { quantity: 1 + (seed % 3) })
        seen.add(answer.status)
        if (answer.status === 201) open.push((answer.json as { id: number }).id)
      } else if (choice < 8) {
        const id = open.splice(choice % Math.max(1, open.length), 1)[0] ?? 404
        seen.add((await send('PATCH', `/store/orders/${id}`, { complete: true })).status)
      } else if (choice === 8) seen.add((await send('DELETE', `/store/orders/${open.shift() ?? 404}`)).status)
      else if (choice === 9) service.now += 400
      else await service.setQuantity(1n, `{"quantity": ${10 + (seed % 9)}}`)
    }
  }
  await Promise.all(Array.from({ length: 40 }, (_, seed) => caller(seed)))
  expect([...seen].every((status) => [200, 201, 204, 404, 409].includes(status))).toBe(true)
  expect([...seen]).toContain(409)
  const events = await eventsAfter(service.store, cursor)
  expect(contradictions(events, new Map([[1n, 20]]))).toEqual([])
  const changes = new Set(events.flatMap((event) => (event.kind === 'order' ? [event.change] : [])))
  expect(changes).toEqual(new Set(['created', 'completed', 'cancelled', 'expired']))
  expect(await service.store.findDamage()).toEqual([])
})

test('the proof detects an order for reserved units, and stock sold without an order', () => {
  const first = { id: 1n, petId: 1n, quantity: 1, state: 'open', createdAt: 1 } as const
  const told = (
    change: 'created' | 'completed',
    order: typeof first | (Omit<typeof first, 'id'> & { id: bigint }),
  ) => ({
    kind: 'order' as const,
    change,
    order,
    at: 1,
    keyId: 'key_a',
    cursor: '',
  })
  const last = new Map([[1n, 1]])
  expect(contradictions([told('created', first), told('created', { ...first, id: 2n })], last)).toEqual([
    'petId 1: order 2 takes 1, but 0 were available',
  ])
  expect(contradictions([told('created', first), told('completed', first)], last)).toEqual([
    'petId 1: order 1 was completed without its 1 being taken out',
  ])
})
