import { expect, test } from 'bun:test'
import { entryTag, etagOf } from '../src/index.ts'
import { startClient } from './support/live-service.ts'

test('entryTag is the tag that the service uses, in every status', async () => {
  const { client } = await startClient()
  const { items: list } = await client.inventory.list()
  expect(new Set(list.map(({ status }) => status))).toEqual(new Set(['available', 'pending', 'sold']))
  for (const item of list) {
    const etag = etagOf(await client.inventory.get(item.petId))
    expect(etag).toBe(entryTag(item))
  }
})
