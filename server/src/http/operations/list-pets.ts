import Type from 'typebox'
import { listPetPage } from '../../core/catalog/list-pets.ts'
import { PET_STATUSES } from '../../core/stock/inventory.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH, pageReply } from '../representation.ts'
import { cursorParameter, limitParameter, Pet } from '../resources.ts'

export const listPets = defineOperation({
  operationId: 'listPets',
  method: 'GET',
  path: '/pets',
  summary: 'List pets',
  description: 'Returns the pets of the store, by id ascending, page by page.',
  tag: 'pets',
  stability: 'beta',
  query: {
    status: Type.Optional(
      Type.Enum([...PET_STATUSES], {
        type: 'string',
        description: 'Return only pets of this status; all where it is not given.',
      }),
    ),
    limit: limitParameter,
    cursor: cursorParameter,
  },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of pets.', schema: Type.Array(Pet), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request }, { store }) => {
    const { pets, next } = await listPetPage(store, query)
    return pageReply(request, pets, { ...query, cursor: next })
  },
})
