import Type from 'typebox'
import { PET_STATUSES } from '../../core/stock/inventory.ts'
import { readPageById } from '../../core/values/page.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH, pageReply } from '../representation.ts'
import { cursorParameter, limitParameter, Pet } from '../resources.ts'

export const listPets = defineOperation({
  operationId: 'listPets',
  method: 'GET',
  path: '/pets',
  summary: 'List pets',
  description: 'Returns the pets of the store, by id ascending, in pages.',
  tag: 'pets',
  stability: 'beta',
  query: {
    status: Type.Optional(
      Type.Enum([...PET_STATUSES], {
        type: 'string',
        description: 'Return only pets with this status.',
      }),
    ),
    limit: limitParameter,
    cursor: cursorParameter,
  },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of pets.', schema: Type.Array(Pet), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request }, { store }) => {
    const { status } = query
    const page = await readPageById(query, (limit, after) => store.listPets({ status, after }, limit))
    return pageReply(request, query, page)
  },
})
