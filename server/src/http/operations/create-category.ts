import { createdCategoryReply } from '../catalog-reply.ts'
import { Category, NewCategory } from '../catalog-resources.ts'
import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { jsonReply } from '../reply.ts'

export const createCategory = defineOperation({
  operationId: 'createCategory',
  method: 'POST',
  path: '/categories',
  summary: 'Add a category',
  description: 'Adds a category, which pets can then belong to.',
  tag: 'pets',
  stability: 'beta',
  needs: 'pets',
  isIdempotent: true,
  body: NewCategory,
  success: { status: 201, description: 'The category.', schema: Category },
  errors: ['invalid_request', 'already_exists', 'payload_too_large'],
  reply: ({ body, key, request, sentKey }, { commits, clock }) =>
    replyOnce(
      commits,
      { type: 'create_category', draft: body, keyId: key.id, at: clock() },
      sentKey,
      (outcome) =>
        createdCategoryReply(outcome, (category) =>
          jsonReply(category, { Location: `${request.path}/${category.id}` }, 201),
        ),
    ),
})
