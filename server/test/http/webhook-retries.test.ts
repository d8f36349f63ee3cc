import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'

setDefaultTimeout(120_000)

const REFUSED = 'url must be on the public internet, got shop.example'

let service: TestService
let isNameKnown = true

beforeAll(async () => {
  service = await TestService.start({
    lookup: async () => (isNameKnown ? ['8.8.8.8'] : Promise.reject(new Error('ENOTFOUND'))),
  })
})
beforeEach(() => {
  isNameKnown = true
})
afterAll(() => service.stop())

function send(method: string, path: string, body: object, idempotencyKey: string) {
  return service.send(method, path, body, { headers: { 'Idempotency-Key': idempotencyKey } })
}

test('a repeated creation or change of a webhook is answered even if its host can no longer be found', async () => {
  const [createKey, updateKey] = [crypto.randomUUID(), crypto.randomUUID()]
  const newWebhook = { url: 'https://shop.example/hooks', kinds: ['stock.changed'] }
  const created = await send('POST', '/webhooks', newWebhook, createKey)
  expect(created.status).toBe(201)
  const path = `/webhooks/${(created.json as { id: number }).id}`
  const patch = { url: 'https://shop.example/other' }
  const updated = await send('PATCH', path, patch, updateKey)
  expect(updated.status).toBe(200)

  isNameKnown = false
  const createdAgain = await send('POST', '/webhooks', newWebhook, createKey)
  expect([createdAgain.status, createdAgain.text]).toEqual([201, created.text])
  const updatedAgain = await send('PATCH', path, patch, updateKey)
  expect([updatedAgain.status, updatedAgain.text]).toEqual([200, updated.text])
})

test('a refused host changes nothing, and the same request succeeds once the host is found', async () => {
  const [createKey, updateKey] = [crypto.randomUUID(), crypto.randomUUID()]
  const newWebhook = { url: 'https://shop.example/late', kinds: ['stock.changed'] }
  const before = (await service.call('GET', '/webhooks')).text
  isNameKnown = false
  const refused = await send('POST', '/webhooks', newWebhook, createKey)
  expect([refused.status, refused.error.field]).toEqual([400, 'url'])
  expect(refused.error.message).toContain(REFUSED)
  expect((await service.call('GET', '/webhooks')).text).toBe(before)

  isNameKnown = true
  const created = await send('POST', '/webhooks', newWebhook, createKey)
  expect(created.status).toBe(201)
  const path = `/webhooks/${(created.json as { id: number }).id}`
  isNameKnown = false
  const patch = { url: 'https://shop.example/later', paused: true }
  const refusedPatch = await send('PATCH', path, patch, updateKey)
  expect([refusedPatch.status, refusedPatch.error.field]).toEqual([400, 'url'])
  expect((await service.call('GET', path)).json).toMatchObject({ url: newWebhook.url, paused: false })
  isNameKnown = true
  expect((await send('PATCH', path, patch, updateKey)).json).toMatchObject(patch)
})
