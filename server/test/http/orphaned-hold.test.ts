import { expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

test('an expired hold with a pet that has lost its stock row is released, and other requests go on', async () => {
  const service = await TestService.start()
  const line = (petId: number) => ({ petId, quantity: 1 })
  const order = (...lines: object[]) => service.send('POST', '/store/orders', { lines, holdSeconds: 60 })
  expect((await order(line(1), line(2))).status).toBe(201)
  await service.run('DELETE FROM stock WHERE pet_id = 2')
  service.now += 61_000
  expect((await order({ petId: 1, quantity: 4 })).status).toBe(201)
  service.now += 61_000
  await until(async () => (await service.store.expiredHolds(9)).length === 0)
  const expired = await service.store.listOrders({ state: 'expired' }, 9)
  expect(expired.map(({ lines }) => lines.map(({ petId }) => petId))).toEqual([[1n, 2n], [1n]])
  expect(service.logText).not.toContain('"level":"error"')
})
