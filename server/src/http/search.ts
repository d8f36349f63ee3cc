import Type from 'typebox'
import type { Category } from '../core/catalog/category.ts'
import {
  MAX_QUERY_LENGTH,
  MAX_SEARCH_WORDS,
  SEARCH_FILTERS,
  SEARCH_ROW,
  SEARCH_SORTS,
  type SearchRow as SearchRecord,
  searchOf,
  searchPage,
} from '../core/catalog/search.ts'
import { AVAILABLE } from '../core/orders/order.ts'
import { availableOf } from '../core/stock/stock-draft.ts'
import { csvText } from '../core/transfer/files.ts'
import { readCategories } from '../core/transfer/import-plan.ts'
import { PET_ROW_KIND } from '../core/transfer/rows.ts'
import { jsonWriter, OneOf } from '../core/values/field.ts'
import { defineOperation } from './operation.ts'
import { pageCsvReply, pageReply, prefersCsv, VARY_BY_TYPE } from './reply.ts'
import { Flag, pageParameters } from './schemas.ts'

const ROW_FIELDS = { ...SEARCH_ROW, available: AVAILABLE }

const SearchRow = Type.Object(ROW_FIELDS, {
  title: 'SearchRow',
  examples: [
    {
      petId: 1,
      name: 'Biscuit',
      categoryId: 1,
      status: 'available',
      barcode: '4006381333931',
      quantity: 12,
      reserved: 2,
      lowStockAt: 3,
      ownLowStockAt: 3,
      available: 10,
    },
  ],
})

const rowBody = jsonWriter(ROW_FIELDS)

const CSV_EXAMPLE = csvOf(
  [
    {
      petId: 1n,
      name: 'Biscuit',
      categoryId: 1n,
      status: 'available',
      barcode: '4006381333931',
      quantity: 12,
      reserved: 2,
      ownLowStockAt: 3,
    },
  ],
  [{ id: 1n, name: 'Dogs' }],
)

export const searchInventory = defineOperation('GET', '/inventory/search', {
  summary: 'Search pets and their stock',
  description:
    'Returns the pets that match every given parameter, with their stock, in pages. A pet that changes while the pages are read may be missing or appear twice; every other pet appears exactly once. Searches of one API key run one after the other. If a search takes longer than 2 seconds, the response is 400; add parameters to narrow the search. With `Accept: text/csv` each page is a CSV file that `POST /imports` reads, with the own threshold of each pet and the name of its category.',
  query: {
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_QUERY_LENGTH,
        description: `A petId, a barcode, or up to ${MAX_SEARCH_WORDS} different prefixes of words in the name, ignoring case and diacritics.`,
      }),
    ),
    ...SEARCH_FILTERS,
    low: Type.Optional(Flag('true returns only pets with low stock; false returns all pets.')),
    sort: OneOf(SEARCH_SORTS, {
      default: 'petId',
      description:
        'The field to sort by; a leading - sorts in descending order. Ties are sorted by petId. Names are compared word by word, ignoring case and diacritics.',
    }),
    ...pageParameters(),
  },
  success: { description: 'A page of the result.', schema: Type.Array(SearchRow), csv: CSV_EXAMPLE },
  reply: async ({ query, request, key }, { store, longReads }) => {
    const { limit: _limit, cursor: _cursor, ...parameters } = query
    const search = searchOf(parameters)
    const page = await longReads.run(key.id, () => searchPage(store, search, query))
    const reply = prefersCsv(request)
      ? pageCsvReply(request, query, csvOf(page.rows, await readCategories(store)), page.next)
      : pageReply(request, query, page, (row) => rowBody({ ...row, available: availableOf(row) }))
    return { ...reply, headers: { ...reply.headers, ...VARY_BY_TYPE } }
  },
})

function csvOf(rows: readonly SearchRecord[], categories: readonly Pick<Category, 'id' | 'name'>[]): string {
  const names = new Map(categories.map(({ id, name }) => [id, name]))
  const pets = rows.map((row) => ({
    ...row,
    id: row.petId,
    lowStockAt: row.ownLowStockAt ?? null,
    category: names.get(row.categoryId) ?? '',
  }))
  return csvText(pets, PET_ROW_KIND)
}
