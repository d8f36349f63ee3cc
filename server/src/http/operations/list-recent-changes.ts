import Type from 'typebox'
import { listChangesOfAll } from '../../core/stock/list-history.ts'
import { defineOperation } from '../operation.ts'
import { cursorParameter, limitParameter, pageReply } from '../page.ts'
import { RecentChange } from '../resources.ts'

export const listRecentChanges = defineOperation({
  operationId: 'listRecentChanges',
  method: 'GET',
  path: '/inventory/history',
  summary: 'List the changes of all stock',
  description:
    'Returns the changes of the stock quantities of all pets, newest first, page by page. Changes of pets that were removed stay.',
  tag: 'inventory',
  stability: 'beta',
  params: {},
  query: { limit: limitParameter, cursor: cursorParameter },
  headers: { 'If-None-Match': 'ETags that the caller has; 304 where one of them is the current one.' },
  success: { description: 'A page of the changes.', schema: Type.Array(RecentChange), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request }, { store }) => {
    const { entries, next } = await listChangesOfAll(store, query)
    const shown = entries.map(({ at, ...entry }) => ({ ...entry, at: new Date(at).toISOString() }))
    return pageReply(request, shown, { ...query, cursor: next })
  },
})
