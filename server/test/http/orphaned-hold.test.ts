import { expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

test('an expired hold whose pet has no stock row is ignored, and other holds still expire', async () => {
  const swept: bigint[] = []
  const service = await TestService.start({
    wrapStore: (store) => ({
      ...store,
      changeStock: (requests) => {
        for (const request of requests) if (request.type === 'release_holds') swept.push(...request.petIds)
        return store.changeStock(requests)
      },
    }),
  })
  const hold = async (petId: number) => {
    const order = { petId, quantity: 1, holdSeconds: 60 }
    expect((await service.send('POST', '/store/orders', order)).status).toBe(201)
  }
  await hold(2)
  await service.run('DELETE FROM stock WHERE pet_id = 2')
  await hold(1)
  service.now += 61_000
  await until(async () => swept.includes(1n))
  await hold(1)
  service.now += 61_000
  await until(async () => swept.filter((petId) => petId === 1n).length >= 2)
  expect(swept).not.toContain(2n)
})
