import Type from 'typebox'
import { noEntry } from '../../core/stock/inventory.ts'
import { unknownCursor } from '../../core/values/page.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH, pageReply } from '../representation.ts'
import { cursorParameter, HistoryEntry, Int64, limitParameter } from '../resources.ts'

export const listInventoryHistory = defineOperation({
  operationId: 'listInventoryHistory',
  method: 'GET',
  path: '/inventory/{petId}/history',
  summary: 'List the changes of one pet’s stock',
  description:
    'Returns the changes of the stock quantity of one pet, newest first, in pages. A removed pet keeps its history.',
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
  reply: async ({ params: { petId }, query, request }, { store, view }) => {
    const { limit, cursor } = query
    const page = await store.listHistoryPage(petId, limit, cursor)
    if (page === 'unknown_cursor') throw unknownCursor(cursor)
    if (page.entries.length === 0 && (await view.find(petId)) === undefined) {
      // A removed pet may still have a history, even if this page of it is empty.
      const first = cursor === undefined ? page : await store.listHistoryPage(petId, 1, undefined)
      if (first === 'unknown_cursor' || first.entries.length === 0) throw noEntry(petId)
    }
    const { entries: rows, next } = page
    return pageReply(request, query, { rows, next }, ({ petId: _, at, ...entry }) => ({
      ...entry,
      at: new Date(at).toISOString(),
    }))
  },
})
