import { expect, test } from 'bun:test'
import { PerKeyQueue } from '../../src/core/limits/per-key-queue.ts'

test('a key with too many waiting tasks is rejected, until some are done, also if one fails', async () => {
  const queue = new PerKeyQueue()
  const held = Array.from({ length: 61 }, () => Promise.withResolvers<string>())
  const done = held.map(({ promise }) => queue.run('key_a', () => promise))
  const refused = queue.run('key_a', async () => 'never')
  expect(refused).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(await queue.run('key_b', async () => 'at once')).toBe('at once')
  const [first, ...others] = held
  first?.reject(new Error('it failed'))
  for (const { resolve } of others) resolve('done')
  const statuses = (await Promise.allSettled(done)).map(({ status }) => status)
  expect(statuses).toEqual(['rejected', ...others.map(() => 'fulfilled' as const)])
  expect(await queue.run('key_a', async () => 'again')).toBe('again')
})
