import { expect, test } from 'bun:test'
import { PetIndex } from '../../src/core/catalog/pet-index.ts'
import { SEARCH_SORTS, searchOf } from '../../src/core/catalog/search.ts'
import { ALL } from '../store/search-model.ts'

function indexOf(count: number): PetIndex {
  const index = new PetIndex()
  for (let id = 0; id < count; id++) {
    index.append({
      id: BigInt(id),
      text: ` pet ${String(count - id).padStart(6, '0')}`,
      categoryId: BigInt(id % 3),
      status: 'available',
      quantity: id % 100,
      available: id % 100,
      isLow: false,
    })
  }
  return index
}

const window = { after: undefined, limit: 3, barcodeOwner: undefined, deadline: Number.POSITIVE_INFINITY }

test('a search past its deadline is rejected with advice to narrow it', () => {
  const index = indexOf(10)
  for (const sort of SEARCH_SORTS) {
    const search = searchOf({ ...ALL, q: 'pet', sort })
    expect(() => index.find({ ...window, search, deadline: Number.NEGATIVE_INFINITY })).toThrow(
      'narrow it with more or longer words in q, or with other parameters',
    )
  }
})

test('pages in the order of names continue after the last pet, in both directions', () => {
  const index = indexOf(20_000)
  const find = (q: string, sort: 'name' | '-name', after?: bigint) =>
    index
      .find({
        ...window,
        search: searchOf({ ...ALL, q, sort }),
        after:
          after === undefined
            ? undefined
            : { id: after, value: `pet ${String(20_000n - after).padStart(6, '0')}` },
      })
      .map(({ id }) => id)
  expect(find('0100', 'name')).toEqual([10_000n, 9_999n, 9_998n])
  expect(find('0100', '-name')).toEqual([9_901n, 9_902n, 9_903n])
  expect(find('0100', 'name', 9_998n)).toEqual([9_997n, 9_996n, 9_995n])
  expect(find('0100', '-name', 9_903n)).toEqual([9_904n, 9_905n, 9_906n])
})
