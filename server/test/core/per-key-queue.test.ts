import { expect, test } from 'bun:test'
import { PerKeyQueue } from '../../src/core/limits/per-key-queue.ts'

/** Work that starts when its turn comes and ends when the test says so. */
function heldWork() {
  const end = Promise.withResolvers<string>()
  let hasBegun = false
  const work = () => {
    hasBegun = true
    return end.promise
  }
  return { work, end, hasBegun: () => hasBegun }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('the second task of a key waits for its first, and another key does not', async () => {
  const queue = new PerKeyQueue()
  const [first, second, other] = [heldWork(), heldWork(), heldWork()]
  const firstDone = queue.run('key_a', first.work)
  const secondDone = queue.run('key_a', second.work)
  const otherDone = queue.run('key_b', other.work)
  await turn()
  expect([first.hasBegun(), second.hasBegun(), other.hasBegun()]).toEqual([true, false, true])
  other.end.resolve('other')
  expect(await otherDone).toBe('other')
  expect(second.hasBegun()).toBe(false)
  first.end.reject(new Error('it failed'))
  expect(firstDone).rejects.toThrow('it failed')
  await turn()
  expect(second.hasBegun()).toBe(true)
  second.end.resolve('second')
  expect(await secondDone).toBe('second')
})

test('a key with too many waiting tasks is rejected, until some are done', async () => {
  const queue = new PerKeyQueue()
  const held = Array.from({ length: 61 }, heldWork)
  const done = held.map(({ work }) => queue.run('key_a', work))
  const refused = queue.run('key_a', async () => 'never')
  expect(refused).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(await queue.run('key_b', async () => 'at once')).toBe('at once')
  for (const { end } of held) end.resolve('done')
  expect(await Promise.all(done)).toEqual(held.map(() => 'done'))
  expect(await queue.run('key_a', async () => 'again')).toBe('again')
})
