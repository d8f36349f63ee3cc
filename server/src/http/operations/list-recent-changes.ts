import Type from 'typebox'
import { ServiceError } from '../../core/values/errors.ts'
import { unknownCursor } from '../../core/values/page.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH, pageReply } from '../representation.ts'
import { cursorParameter, DateTime, Int64, limitParameter, Reason, RecentChange } from '../resources.ts'

const MAX_WHO_LENGTH = 200

export const listRecentChanges = defineOperation({
  operationId: 'listRecentChanges',
  method: 'GET',
  path: '/inventory/history',
  summary: 'List the changes of all stock',
  description:
    'Returns the changes of the stock quantities of all pets that match every given parameter, newest first, in pages. Removed pets keep their history. With `who` or `reason`, a page examines at most 100,000 rows of the log: it may have fewer changes than `limit`, or none, and still link to the next page.',
  tag: 'inventory',
  stability: 'beta',
  query: {
    petId: Type.Optional(Int64('Return only changes of this pet.')),
    who: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_WHO_LENGTH,
        description: 'Return only changes made with keys of this name, or with the key of this id.',
      }),
    ),
    reason: Type.Optional(Reason),
    since: Type.Optional(DateTime('Return only changes at or after this time.')),
    until: Type.Optional(DateTime('Return only changes before this time.')),
    limit: limitParameter,
    cursor: cursorParameter,
  },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of the changes.', schema: Type.Array(RecentChange), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request, key }, { store, longReads }) => {
    const { petId, who, reason, since, until, limit, cursor } = query
    // No name contains U+0000, and PostgreSQL rejects a query with it.
    if (who?.includes('\0')) throw new ServiceError('invalid_request', 'who must not contain U+0000')
    const filter = { petId, who, reason, since, until }
    const page = await longReads.run(key.id, () => store.listRecentHistory(limit, cursor, filter))
    if (page === 'unknown_cursor') throw unknownCursor(cursor)
    const { entries: rows, next } = page
    return pageReply(request, query, { rows, next }, ({ at, ...entry }) => ({
      ...entry,
      at: new Date(at).toISOString(),
    }))
  },
})
