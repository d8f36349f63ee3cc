import Type from 'typebox'
import { readPageById } from '../../core/values/page.ts'
import { Category } from '../catalog-resources.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH, pageReply } from '../representation.ts'
import { cursorParameter, limitParameterUpTo } from '../resources.ts'

export const listCategories = defineOperation({
  operationId: 'listCategories',
  method: 'GET',
  path: '/categories',
  summary: 'List categories',
  description: 'Returns the categories of the store, by id ascending, in pages.',
  tag: 'pets',
  stability: 'beta',
  query: { limit: limitParameterUpTo(1_000, 100), cursor: cursorParameter },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of categories.', schema: Type.Array(Category), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request }, { store }) => {
    const page = await readPageById(query, (limit, after) => store.listCategories(after, limit))
    return pageReply(request, query, page)
  },
})
