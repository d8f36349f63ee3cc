import Type from 'typebox'
import { ServiceError } from '../../core/values/errors.ts'
import { unknownCursor } from '../../core/values/page-request.ts'
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
    'Returns the changes of the stock quantities of all pets, newest first, page by page; those that fit all that is given. Changes of pets that were removed stay. Filters by time find their range at once. With who or reason, a page examines at most 100,000 rows of the log: it may have fewer changes than asked for, or none, and still link to the next page.',
  tag: 'inventory',
  stability: 'beta',
  query: {
    petId: Type.Optional(Int64('Return only changes of this pet.')),
    who: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: MAX_WHO_LENGTH },
        description: 'Return only changes that were made with keys of this name, or with the key of this id.',
      }),
    ),
    reason: Type.Optional(Reason),
    since: Type.Optional(DateTime('Return only changes from this moment on.')),
    until: Type.Optional(DateTime('Return only changes before this moment.')),
    limit: limitParameter,
    cursor: cursorParameter,
  },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of the changes.', schema: Type.Array(RecentChange), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request, key }, { store, longReads }) => {
    const { petId, who, reason, since, until, limit, cursor } = query
    // No name has it, and PostgreSQL cannot even be asked.
    if (who?.includes('\0')) throw new ServiceError('invalid_request', 'who must not have U+0000 in it')
    const filter = { petId, who, reason, since, until }
    const page = await longReads.run(key.id, () => store.listRecentHistory(limit, cursor, filter))
    if (page === 'unknown_cursor') throw unknownCursor(query.cursor)
    const shown = page.entries.map(({ at, ...entry }) => ({ ...entry, at: new Date(at).toISOString() }))
    return pageReply(request, shown, { ...query, cursor: page.next })
  },
})
