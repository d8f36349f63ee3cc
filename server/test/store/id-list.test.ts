import { expect, test } from 'bun:test'
import { IdList } from '../../src/store/sqlite/id-list.ts'

const LARGEST = 2n ** 63n - 1n

test.each([0, 1, 1_024, 1_025, 5_000])('a list of %d ids gives all of them back in their order', (count) => {
  const ids = Array.from({ length: count }, (_, index) => (BigInt(index) * 7_919n) % 5_003n)
  if (count > 2) ids.splice(1, 2, LARGEST, -LARGEST - 1n)
  const list = new IdList()
  for (const id of ids) list.push(id)
  expect(list.length).toBe(count)
  expect(list.sorted()).toEqual(BigInt64Array.from(ids).sort())
})
