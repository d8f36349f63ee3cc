import { expect, test } from 'bun:test'
import { AddressWindows } from '../../src/core/limits/address-windows.ts'

const START = Date.UTC(2026, 10, 15, 12)

test('a flood of addresses is forgotten rather than kept without end', () => {
  let now = START
  const windows = new AddressWindows(2, () => now)
  for (let index = 0; index < 100_000; index++) windows.admit(`address ${index}`)
  windows.admit('address 99999')
  // All are live, so the oldest makes room; the newest is still counted.
  windows.admit('one more')
  expect(windows.status('address 0').remaining).toBe(2)
  expect(windows.admit('address 99999').refused).toBe('rate_limit_exceeded')
  now += 60_000
  windows.admit('a minute later')
  expect(windows.status('one more').remaining).toBe(2)
})
