import Type from 'typebox'
import { removedPetReply } from '../catalog-reply.ts'
import { replyOnce } from '../idempotency.ts'
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
    replyOnce(commits, { type: 'remove_pet', petId, keyId: key.id, at: clock() }, sentKey, (outcome) =>
      removedPetReply(outcome, petId),
    ),
})
