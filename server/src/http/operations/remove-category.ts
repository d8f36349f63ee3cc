import Type from 'typebox'
import { removedCategoryReply } from '../catalog-reply.ts'
import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { Int64 } from '../resources.ts'

export const removeCategory = defineOperation({
  operationId: 'removeCategory',
  method: 'DELETE',
  path: '/categories/{categoryId}',
  summary: 'Remove a category',
  description: 'Removes a category that has no pets.',
  tag: 'pets',
  stability: 'beta',
  needs: 'pets',
  isIdempotent: true,
  params: { categoryId: Int64('The category to remove.') },
  success: { status: 204, description: 'The category is gone.', schema: Type.Null() },
  errors: ['invalid_request', 'not_found', 'in_use'],
  reply: ({ params: { categoryId }, key, sentKey }, { commits, clock }) =>
    replyOnce(
      commits,
      { type: 'remove_category', categoryId, keyId: key.id, at: clock() },
      sentKey,
      (outcome) => removedCategoryReply(outcome, categoryId),
    ),
})
