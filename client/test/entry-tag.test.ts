import { expect, test } from 'bun:test'
import { TestService } from '../../server/test/support/test-service.ts'
import { entryTag } from '../src/index.ts'
import { clientOf } from './support/live-service.ts'

test('entryTag is the tag that the service uses, in every status', async () => {
  const service = await TestService.start()
  const client = clientOf(service)
  const { items: list } = await client.inventory.list()
  expect(new Set(list.map(({ status }) => status))).toEqual(new Set(['available', 'pending', 'sold']))
  for (const item of list) {
    const { etag } = await client.inventory.get(item.petId)
    expect(entryTag(item)).toBe(etag)
  }
})

test('an update with the tag of an event succeeds, and one with the tag of an older state fails', async () => {
  const service = await TestService.start()
  const client = clientOf(service)
  const [before] = (await client.inventory.list()).items
  if (before === undefined) throw new Error('the store is empty')
  const { petId, status } = before
  await client.inventory.set(petId, { quantity: 40 })
  const stale = client.inventory.set(petId, { quantity: 50 }, { ifMatch: entryTag(before) })
  await expect(stale).rejects.toMatchObject({ code: 'precondition_failed' })
  const current = { quantity: 40, status }
  expect(await client.inventory.set(petId, { quantity: 50 }, { ifMatch: entryTag(current) })).toMatchObject({
    quantity: 50,
  })
})
