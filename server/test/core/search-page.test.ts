import { expect, test } from 'bun:test'
import type { SearchFinds, SearchStep } from '../../src/core/catalog/catalog-store.ts'
import { searchOf } from '../../src/core/catalog/search.ts'
import { searchPage } from '../../src/core/catalog/search-page.ts'

const ALL = Array.from({ length: 100_000 }, (_, index) => index + 1)

/** A store in which one pet in so many has the word; tells on which ways it was asked. */
function storeWith(oneIn: number) {
  const ways: string[] = []
  return {
    ways,
    searchStep: async (_: unknown, { way, size, from, limit }: SearchStep): Promise<SearchFinds> => {
      ways.push(way)
      const onTheWay = way === 'words' ? ALL.filter((id) => id % oneIn === 0) : ALL
      const lookedAt = onTheWay.filter((id) => id > Number(from?.id ?? 0n)).slice(0, size)
      const last = lookedAt.at(-1)
      return {
        rows: lookedAt
          .filter((id) => id % oneIn === 0)
          .slice(0, limit)
          .map((id) => ({
            ...{
              petId: BigInt(id),
              name: 'Rex',
              categoryId: 1n,
              status: 'available',
              quantity: 1,
              reserved: 0,
            },
            place: { id: BigInt(id) },
          })),
        upTo: last === undefined || lookedAt.length < size ? undefined : { id: BigInt(last) },
      }
    },
  }
}

test.each([
  ['one in ten has', 10, ['petId']],
  ['one in twenty-five has, which nearly fills the page', 25, ['petId', 'petId']],
  ['one in a hundred has', 100, ['petId', 'words']],
])('a word that %s is looked for on the way that looks at least', async (_, oneIn, ways) => {
  const store = storeWith(oneIn)
  const search = searchOf({
    ...{ q: 'rex', status: undefined, categoryId: undefined, low: undefined, below: undefined },
    sort: 'petId',
  })
  const { rows } = await searchPage(store, search, { limit: 100, cursor: undefined })
  expect(rows.map(({ petId }) => Number(petId))).toEqual(
    Array.from({ length: 100 }, (_, index) => (index + 1) * oneIn),
  )
  expect(store.ways).toEqual(ways)
})
