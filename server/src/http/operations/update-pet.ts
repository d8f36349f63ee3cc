import { updatedPetReply } from '../catalog-reply.ts'
import { PetUpdate } from '../catalog-resources.ts'
import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { Int64, Pet } from '../resources.ts'

export const updatePet = defineOperation({
  operationId: 'updatePet',
  method: 'PATCH',
  path: '/pets/{petId}',
  summary: 'Change a pet',
  description:
    'Changes the name, the category, the status, the barcode or the threshold of a pet: what the body names, and nothing else.',
  tag: 'pets',
  stability: 'beta',
  needs: 'pets',
  isIdempotent: true,
  params: { petId: Int64('The pet to change.') },
  body: PetUpdate,
  success: { description: 'The pet.', schema: Pet },
  errors: ['invalid_request', 'not_found', 'already_exists', 'payload_too_large'],
  reply: ({ params: { petId }, body, key, sentKey }, { commits, clock }) =>
    replyOnce(
      commits,
      { type: 'update_pet', petId, patch: body, keyId: key.id, at: clock() },
      sentKey,
      (outcome) => updatedPetReply(outcome, petId),
    ),
})
