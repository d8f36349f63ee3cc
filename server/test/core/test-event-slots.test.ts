import { expect, test } from 'bun:test'
import { MAX_PARALLEL_TESTS } from '../../src/core/webhooks/shared-delivery.ts'
import { TestEventSlots } from '../../src/core/webhooks/test-event.ts'

test('a process sends a limited number of test events in parallel', async () => {
  const slots = new TestEventSlots()
  const answer = Promise.withResolvers<string>()
  const keyIds = Array.from({ length: MAX_PARALLEL_TESTS }, (_, index) => `key_${index}`)
  const results = keyIds.map((keyId) => slots.run(keyId, () => answer.promise))
  const refused = slots.run('key_other', async () => 'sent')
  await expect(refused).rejects.toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining('already sending 16 test events'),
  })
  answer.resolve('sent')
  expect(await Promise.all(results)).toEqual(keyIds.map(() => 'sent'))
  expect(await slots.run('key_other', async () => 'sent')).toBe('sent')
})

test('a test event that fails makes room for the next one', async () => {
  const slots = new TestEventSlots()
  const failing = slots.run('key_a', () => Promise.reject(new Error('the store is closed')))
  await expect(failing).rejects.toThrow('the store is closed')
  expect(await slots.run('key_a', async () => 'sent')).toBe('sent')
})
