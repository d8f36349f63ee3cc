import Type from 'typebox'
import { petBodyReply, petReply } from '../catalog-reply.ts'
import { changeOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { Int64 } from '../resources.ts'

export const removePet = defineOperation({
  operationId: 'removePet',
  method: 'DELETE',
  path: '/pets/{petId}',
  summary: 'Remove a pet',
  description:
    'Removes a pet and its inventory entry, unless orders of it are open. Its history and its closed orders stay.',
  tag: 'pets',
  stability: 'beta',
  needs: 'pets',
  isIdempotent: true,
  params: { petId: Int64('The pet to remove.') },
  success: { status: 204, description: 'The pet is gone.', schema: Type.Null() },
  errors: ['invalid_request', 'not_found', 'in_use'],
  reply: ({ params: { petId }, key, sentKey }, { commits, clock }) =>
    changeOnce(commits, { removedPet: petId, keyId: key.id, at: clock() }, sentKey, (outcome) =>
      petReply(outcome, petId, petBodyReply),
    ),
})
