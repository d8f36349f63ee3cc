import { expect, test } from 'bun:test'
import { BurstFilter } from '../../src/core/limits/rate-windows.ts'

test('a clock that is set back by less than a second does not hide that the client was warned', () => {
  const bursts = new BurstFilter(0)
  const arrival = { receivedAt: performance.now() }
  expect(bursts.hadSeen429('key_a', arrival, 9_999, 10_000)).toBe(true)
  expect(new BurstFilter(1_000).hadSeen429('key_a', arrival, 9_999, 10_000)).toBe(false)
})
