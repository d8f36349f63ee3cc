import Type from 'typebox'
import { listChanges } from '../../core/stock/list-history.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH, pageReply } from '../representation.ts'
import { cursorParameter, HistoryEntry, Int64, limitParameter } from '../resources.ts'

export const listInventoryHistory = defineOperation({
  operationId: 'listInventoryHistory',
  method: 'GET',
  path: '/inventory/{petId}/history',
  summary: 'List the changes of one pet’s stock',
  description:
    'Returns the changes of the stock quantity of one pet, newest first, page by page. The history of a pet that was removed stays.',
  tag: 'inventory',
  stability: 'beta',
  params: { petId: Int64('The pet whose history is returned.') },
  query: { limit: limitParameter, cursor: cursorParameter },
  headers: IF_NONE_MATCH,
  success: {
    description: 'A page of the history.',
    schema: Type.Array(HistoryEntry),
    isPaged: true,
  },
  errors: ['invalid_request', 'not_found'],
  reply: async ({ params, query, request }, { store, view }) => {
    const { entries, next } = await listChanges(store, view, params.petId, query)
    const shown = entries.map(({ petId: _, at, ...entry }) => ({ ...entry, at: new Date(at).toISOString() }))
    return pageReply(request, shown, { ...query, cursor: next })
  },
})
