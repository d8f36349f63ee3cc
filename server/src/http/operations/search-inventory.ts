import Type from 'typebox'
import { MAX_SEARCH_WORDS, MAX_TEXT_LENGTH, SEARCH_SORTS, searchOf } from '../../core/catalog/search.ts'
import { searchPage } from '../../core/catalog/search-page.ts'
import { availableOf, PET_STATUSES } from '../../core/stock/inventory.ts'
import { MAX_QUANTITY } from '../../core/values/field.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH, pageReply } from '../representation.ts'
import { cursorParameter, Int64, limitParameterUpTo } from '../resources.ts'
import { SearchRow } from '../search-resources.ts'

export const searchInventory = defineOperation({
  operationId: 'searchInventory',
  method: 'GET',
  path: '/inventory/search',
  summary: 'Search pets and their stock',
  description:
    'Returns the pets that match every given parameter, with their stock, page by page. A pet that changes between two pages may appear as it was or as it is; every other pet appears once. Searches of one API key run one after the other. A search that takes longer than 2 seconds gets 400: narrow it.',
  tag: 'inventory',
  stability: 'beta',
  query: {
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_TEXT_LENGTH,
        description: `Up to ${MAX_SEARCH_WORDS} different words that each begin a word of the name, in any case and with or without diacritics; or a petId; or a barcode.`,
      }),
    ),
    status: Type.Optional(
      Type.Enum([...PET_STATUSES], { type: 'string', description: 'Return only pets of this status.' }),
    ),
    categoryId: Type.Optional(Int64('Return only pets of this category.')),
    low: Type.Optional(
      Type.Enum(['true'], {
        type: 'string',
        description: 'Return only pets that run low; leave it out to return all.',
      }),
    ),
    below: Type.Optional(
      Type.Integer({
        ...{ minimum: 0, maximum: MAX_QUANTITY },
        description: 'Return only pets with fewer available.',
      }),
    ),
    sort: Type.Enum([...SEARCH_SORTS], {
      ...{ type: 'string', default: 'petId' },
      description:
        'What to sort by, with - for descending; those that are alike by petId. Names are sorted by their words, whatever their case and diacritics.',
    }),
    limit: limitParameterUpTo(1_000, 100),
    cursor: cursorParameter,
  },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of what was found.', schema: Type.Array(SearchRow), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request, key }, { store, longReads }) => {
    const search = searchOf(query)
    const { rows, next } = await longReads.run(key.id, () => searchPage(store, search, query))
    const found = rows.map(({ barcode, lowStockAt, ownLowStockAt, lowSince, ...row }) => ({
      ...row,
      available: availableOf(row),
      barcode,
      lowStockAt,
      ownLowStockAt,
      ...(lowSince === undefined ? {} : { lowSince: new Date(lowSince).toISOString() }),
    }))
    return pageReply(request, found, { ...query, cursor: next })
  },
})
