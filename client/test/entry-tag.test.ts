import { expect, test } from 'bun:test'
import { entryTag } from '../src/index.ts'
import { clientOf, liveService, stopServicesAfterEach } from './support/live-service.ts'

stopServicesAfterEach()

test('the tag of an entry of the list is the one that the service gives it, in every status', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const list = await client.listInventory()
  expect(new Set(list.map(({ status }) => status))).toEqual(new Set(['available', 'pending', 'sold']))
  for (const item of list) {
    const { etag } = await client.getInventoryItem(item.petId)
    expect(entryTag(item)).toBe(etag)
  }
})

test('an update with the tag of what an event told is made, and one with an older state is not', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const [before] = await client.listInventory()
  if (before === undefined) throw new Error('the store is empty')
  const { petId, status } = before
  await client.updateInventory(petId, { quantity: 40 })
  const stale = client.updateInventory(petId, { quantity: 50 }, { ifMatch: entryTag(before) })
  await expect(stale).rejects.toMatchObject({ code: 'precondition_failed' })
  const told = { quantity: 40, status }
  expect(await client.updateInventory(petId, { quantity: 50 }, { ifMatch: entryTag(told) })).toMatchObject({
    quantity: 50,
  })
})
