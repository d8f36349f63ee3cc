import Type from 'typebox'
import { CATEGORY, CATEGORY_UPDATE, categoryNotFound, NEW_CATEGORY } from '../core/catalog/category.ts'
import { Int64 } from '../core/values/field.ts'
import { readPageById } from '../core/values/page.ts'
import { commitAndReply, defineOperation } from './operation.ts'
import { alreadyExists, createdReply, inUse, NO_CONTENT, pageReply, replyWithETag } from './reply.ts'
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

export const listCategories = defineOperation('GET', '/categories', {
  summary: 'List categories',
  description: 'Returns the categories of the store, by id ascending, in pages.',
  tag: 'pets',
  query: pageParameters(),
  success: { description: 'A page of categories.', schema: Type.Array(Category) },
  reply: async ({ query, request }, { store }) => {
    const page = await readPageById(query, (limit, after) => store.listCategories(after, limit))
    return pageReply(request, query, page)
  },
})

export const createCategory = defineOperation('POST', '/categories', {
  summary: 'Add a category',
  description: 'Adds a category that pets can belong to.',
  tag: 'pets',
  permission: 'pets',
  acceptsIdempotencyKey: true,
  body: NewCategory,
  success: { status: 201, description: 'The category.', schema: Category },
  errors: ['already_exists'],
  reply: (input, services) => {
    const command = { type: 'create_category', category: input.body } as const
    return commitAndReply(input, services, command, {
      done: ({ category }) => createdReply(input.request.path, category),
      category_exists: ({ categoryId }) => alreadyExists(`category ${categoryId} already exists`),
    })
  },
})

export const updateCategory = defineOperation('PATCH', '/categories/{categoryId}', {
  summary: 'Update a category',
  description:
    'Updates the name or the low-stock threshold of a category. A new threshold applies at once to all its pets that have no threshold of their own.',
  tag: 'pets',
  permission: 'pets',
  acceptsIdempotencyKey: true,
  params: { categoryId: Int64('The category to update.') },
  body: CategoryUpdate,
  success: { description: 'The category.', schema: Category },
  reply: (input, services) => {
    const { categoryId } = input.params
    const command = { type: 'update_category', categoryId, patch: input.body } as const
    return commitAndReply(input, services, command, {
      done: ({ category }) => replyWithETag(category),
      unknown_category: () => categoryNotFound(categoryId),
    })
  },
})

export const removeCategory = defineOperation('DELETE', '/categories/{categoryId}', {
  summary: 'Remove a category',
  description: 'Removes a category that has no pets.',
  tag: 'pets',
  permission: 'pets',
  acceptsIdempotencyKey: true,
  params: { categoryId: Int64('The category to remove.') },
  success: { status: 204, description: 'The category was removed.', schema: Type.Null() },
  errors: ['in_use'],
  reply: (input, services) => {
    const { categoryId } = input.params
    const command = { type: 'remove_category', categoryId } as const
    return commitAndReply(input, services, command, {
      done: () => NO_CONTENT,
      unknown_category: () => categoryNotFound(categoryId),
      category_has_pets: () => inUse(`category ${categoryId} has pets; move them to another category first`),
    })
  },
})
