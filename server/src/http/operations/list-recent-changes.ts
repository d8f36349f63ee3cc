import Type from 'typebox'
import { unknownCursor } from '../../core/values/page-request.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH, pageReply } from '../representation.ts'
import { cursorParameter, limitParameter, RecentChange } from '../resources.ts'

export const listRecentChanges = defineOperation({
  operationId: 'listRecentChanges',
  method: 'GET',
  path: '/inventory/history',
  summary: 'List the changes of all stock',
  description:
    'Returns the changes of the stock quantities of all pets, newest first, page by page. Changes of pets that were removed stay.',
  tag: 'inventory',
  stability: 'beta',
  query: { limit: limitParameter, cursor: cursorParameter },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of the changes.', schema: Type.Array(RecentChange), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request }, { store }) => {
    const page = await store.listRecentHistory(query.limit, query.cursor)
    if (page === 'unknown_cursor') throw unknownCursor(query.cursor)
    const shown = page.entries.map(({ at, ...entry }) => ({ ...entry, at: new Date(at).toISOString() }))
    return pageReply(request, shown, { ...query, cursor: page.next })
  },
})
