import { noPet } from '../../core/catalog/pet.ts'
import { defineOperation } from '../operation.ts'
import { Int64, Pet } from '../resources.ts'

export const getPet = defineOperation({
  operationId: 'getPet',
  method: 'GET',
  path: '/pets/{petId}',
  summary: 'Get one pet',
  description:
    'Returns the record of one pet. Deprecated: it answers 410 after its sunset date; GET /pets takes its place.',
  tag: 'pets',
  stability: 'stable',
  deprecatedSince: new Date('2026-11-01T00:00:00Z'),
  successor: '/v1/pets',
  params: { petId: Int64('The pet to return.') },
  success: { description: 'The pet.', schema: Pet },
  errors: ['invalid_request', 'not_found', 'gone'],
  handle: async ({ params: { petId } }, { store }) => {
    const pet = await store.findPet(petId)
    if (pet === undefined) throw noPet(petId)
    return pet
  },
})
