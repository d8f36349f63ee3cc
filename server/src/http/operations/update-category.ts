import { updatedCategoryReply } from '../catalog-reply.ts'
import { Category, CategoryUpdate } from '../catalog-resources.ts'
import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { Int64 } from '../resources.ts'

export const updateCategory = defineOperation({
  operationId: 'updateCategory',
  method: 'PATCH',
  path: '/categories/{categoryId}',
  summary: 'Change a category',
  description:
    'Changes the name or the threshold of a category. Its pets that have no threshold of their own are low or not by the new one at once.',
  tag: 'pets',
  stability: 'beta',
  needs: 'pets',
  isIdempotent: true,
  params: { categoryId: Int64('The category to change.') },
  body: CategoryUpdate,
  success: { description: 'The category.', schema: Category },
  errors: ['invalid_request', 'not_found', 'payload_too_large'],
  reply: ({ params: { categoryId }, body, key, sentKey }, { commits, clock }) =>
    replyOnce(
      commits,
      { type: 'update_category', categoryId, patch: body, keyId: key.id, at: clock() },
      sentKey,
      (outcome) => updatedCategoryReply(outcome, categoryId),
    ),
})
