import Type from 'typebox'
import { CATEGORY, CATEGORY_UPDATE, NEW_CATEGORY, noCategory } from '../core/catalog/category.ts'
import type { CreateCategory, OutcomeOf, RemoveCategory, UpdateCategory } from '../core/stock/command.ts'
import { Int64 } from '../core/values/field.ts'
import { readPageById } from '../core/values/page.ts'
import { defineOperation } from './operation.ts'
import {
  alreadyExistsReply,
  commitAndReply,
  createdReply,
  errorReply,
  IF_NONE_MATCH,
  inUseReply,
  NO_CONTENT,
  pageReply,
  type StorableReply,
  taggedReply,
} from './reply.ts'
import { pageParameters } from './schemas.ts'

const Category = Type.Object(CATEGORY, {
  title: 'Category',
  examples: [{ id: 1, name: 'Dogs', lowStockAt: 3 }],
})

const NewCategory = Type.Object(NEW_CATEGORY, {
  title: 'NewCategory',
  examples: [{ name: 'Dogs', lowStockAt: 3 }],
})

const CategoryUpdate = Type.Object(CATEGORY_UPDATE, {
  title: 'CategoryUpdate',
  description: 'Has at least one of these fields; null removes the threshold.',
  minProperties: 1,
  examples: [{ name: 'Dogs', lowStockAt: 5 }],
})

export const listCategories = defineOperation({
  operationId: 'listCategories',
  method: 'GET',
  path: '/categories',
  summary: 'List categories',
  description: 'Returns the categories of the store, by id ascending, in pages.',
  tag: 'pets',
  stability: 'beta',
  query: pageParameters(),
  headers: IF_NONE_MATCH,
  success: { description: 'A page of categories.', schema: Type.Array(Category), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request }, { store }) => {
    const page = await readPageById(query, (limit, after) => store.listCategories(after, limit))
    return pageReply(request, query, page)
  },
})

export const createCategory = defineOperation({
  operationId: 'createCategory',
  method: 'POST',
  path: '/categories',
  summary: 'Add a category',
  description: 'Adds a category that pets can belong to.',
  tag: 'pets',
  stability: 'beta',
  needs: 'pets',
  acceptsIdempotencyKey: true,
  body: NewCategory,
  success: { status: 201, description: 'The category.', schema: Category },
  errors: ['invalid_request', 'already_exists', 'payload_too_large'],
  reply: ({ body, key, request, idempotency }, { commits, clock }) =>
    commitAndReply(
      commits,
      { type: 'create_category', draft: body, keyId: key.id, at: clock() },
      idempotency,
      (outcome) => createCategoryReply(outcome, request.path),
    ),
})

export const updateCategory = defineOperation({
  operationId: 'updateCategory',
  method: 'PATCH',
  path: '/categories/{categoryId}',
  summary: 'Update a category',
  description:
    'Updates the name or the low-stock threshold of a category. A new threshold applies at once to all its pets that have no threshold of their own.',
  tag: 'pets',
  stability: 'beta',
  needs: 'pets',
  acceptsIdempotencyKey: true,
  params: { categoryId: Int64('The category to update.') },
  body: CategoryUpdate,
  success: { description: 'The category.', schema: Category },
  errors: ['invalid_request', 'not_found', 'payload_too_large'],
  reply: ({ params: { categoryId }, body, key, idempotency }, { commits, clock }) =>
    commitAndReply(
      commits,
      { type: 'update_category', categoryId, patch: body, keyId: key.id, at: clock() },
      idempotency,
      (outcome) => updateCategoryReply(outcome, categoryId),
    ),
})

export const removeCategory = defineOperation({
  operationId: 'removeCategory',
  method: 'DELETE',
  path: '/categories/{categoryId}',
  summary: 'Remove a category',
  description: 'Removes a category that has no pets.',
  tag: 'pets',
  stability: 'beta',
  needs: 'pets',
  acceptsIdempotencyKey: true,
  params: { categoryId: Int64('The category to remove.') },
  success: { status: 204, description: 'The category was removed.', schema: Type.Null() },
  errors: ['invalid_request', 'not_found', 'in_use'],
  reply: ({ params: { categoryId }, key, idempotency }, { commits, clock }) =>
    commitAndReply(
      commits,
      { type: 'remove_category', categoryId, keyId: key.id, at: clock() },
      idempotency,
      (outcome) => removeCategoryReply(outcome, categoryId),
    ),
})

function createCategoryReply(outcome: OutcomeOf<CreateCategory>, path: string): StorableReply {
  switch (outcome.type) {
    case 'done':
      return createdReply(path, outcome.category)
    case 'category_exists':
      return alreadyExistsReply(`category ${outcome.categoryId} already exists`)
  }
}

function updateCategoryReply(outcome: OutcomeOf<UpdateCategory>, categoryId: bigint): StorableReply {
  switch (outcome.type) {
    case 'done':
      return taggedReply(outcome.category)
    case 'unknown_category':
      return errorReply(noCategory(categoryId))
  }
}

function removeCategoryReply(outcome: OutcomeOf<RemoveCategory>, categoryId: bigint): StorableReply {
  switch (outcome.type) {
    case 'done':
      return NO_CONTENT
    case 'unknown_category':
      return errorReply(noCategory(categoryId))
    case 'category_has_pets':
      return inUseReply(`category ${categoryId} has pets; move them to another category first`)
  }
}
