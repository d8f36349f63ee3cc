import Type from 'typebox'
import { catalogPage } from '../../core/catalog/list-pets.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH, pageTextReply } from '../representation.ts'
import { CatalogEntry, cursorParameter, limitParameterUpTo } from '../resources.ts'

export const listCatalog = defineOperation({
  operationId: 'listCatalog',
  method: 'GET',
  path: '/catalog',
  summary: 'List names, categories and barcodes',
  description:
    'Returns the name, the category, the barcode and the threshold of every pet, by petId ascending, in large pages: what a list of the inventory needs beside the stock levels.',
  tag: 'pets',
  stability: 'beta',
  query: { limit: limitParameterUpTo(10_000, 1_000), cursor: cursorParameter },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of the catalog.', schema: Type.Array(CatalogEntry), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request }, { store }) => {
    const { json, next } = await catalogPage(store, query)
    return pageTextReply(request, json, { ...query, cursor: next })
  },
})
