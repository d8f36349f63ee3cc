import { createdPetReply } from '../catalog-reply.ts'
import { NewPet } from '../catalog-resources.ts'
import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import { Pet } from '../resources.ts'

export const createPet = defineOperation({
  operationId: 'createPet',
  method: 'POST',
  path: '/pets',
  summary: 'Add a pet',
  description:
    'Adds a pet to the store, and its inventory entry with it: GET /inventory has it from then on. Its id and its barcode are its own.',
  tag: 'pets',
  stability: 'beta',
  needs: 'pets',
  isIdempotent: true,
  body: NewPet,
  success: { status: 201, description: 'The pet.', schema: Pet },
  errors: ['invalid_request', 'already_exists', 'payload_too_large'],
  reply: ({ body, key, request, sentKey }, { commits, clock }) =>
    replyOnce(commits, { type: 'create_pet', draft: body, keyId: key.id, at: clock() }, sentKey, (outcome) =>
      createdPetReply(outcome, ({ quantity: _, ...pet }) =>
        jsonReply(pet, { Location: `${request.path}/${pet.id}` }, 201),
      ),
    ),
})
