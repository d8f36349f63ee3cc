import Type from 'typebox'
import {
  CATEGORY,
  CATEGORY_UPDATE,
  categoryNotFound,
  NEW_CATEGORY,
  nameTaken,
  type Category as StoredCategory,
} from '../core/catalog/category.ts'
import { applyThresholdOf } from '../core/catalog/threshold-changes.ts'
import { Int64 } from '../core/values/field.ts'
import { readPageById } from '../core/values/page.ts'
import { recordChanged, recordTag } from '../core/values/record-tag.ts'
import { commitAndReply, defineOperation } from './operation.ts'
import {
  alreadyExists,
  createdReply,
  inUse,
  jsonReply,
  NO_CONTENT,
  pageReply,
  recordETag,
  recordTagsIn,
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
  examples: [{ name: 'Hounds', lowStockAt: 5 }],
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
  success: { status: 201, hasETag: true, description: 'The category.', schema: Category },
  errors: ['already_exists'],
  reply: (input, services) => {
    const command = { type: 'create_category', category: input.body } as const
    return commitAndReply(input, services, command, {
      done: ({ category }) => createdReply(input.request.path, category, categoryETag(category)),
      category_exists: ({ categoryId }) => alreadyExists(`category ${categoryId} already exists`),
      category_name_taken: ({ owner }) => alreadyExists(nameTaken(owner)),
    })
  },
})

export const updateCategory = defineOperation('PATCH', '/categories/{categoryId}', {
  summary: 'Update a category',
  description:
    'Updates the name or the low-stock threshold of a category. A new threshold applies to all its pets that have no threshold of their own. It reaches 500 pets at a time, and all of them before the response is sent.',
  tag: 'pets',
  permission: 'pets',
  acceptsIdempotencyKey: true,
  params: { categoryId: Int64('The category to update.') },
  body: CategoryUpdate,
  success: { description: 'The category.', schema: Category },
  errors: ['already_exists'],
  reply: async (input, services) => {
    const { categoryId } = input.params
    const onlyIfTags = recordTagsIn(input.ifMatch)
    const command = { type: 'update_category', categoryId, patch: input.body, onlyIfTags } as const
    const reply = await commitAndReply(input, services, command, {
      done: ({ category }) => jsonReply(category, categoryETag(category)),
      unknown_category: () => categoryNotFound(categoryId),
      record_changed: () => recordChanged(`category ${categoryId}`),
      category_name_taken: ({ owner }) => alreadyExists(nameTaken(owner)),
    })
    // A repeated request finishes what the first one may have left.
    if (input.body.lowStockAt !== undefined) await applyThresholdOf(categoryId, services, input.key.id)
    return reply
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
    const onlyIfTags = recordTagsIn(input.ifMatch)
    const command = { type: 'remove_category', categoryId, onlyIfTags } as const
    return commitAndReply(input, services, command, {
      done: () => NO_CONTENT,
      unknown_category: () => categoryNotFound(categoryId),
      record_changed: () => recordChanged(`category ${categoryId}`),
      category_has_pets: () => inUse(`category ${categoryId} has pets; move them to another category first`),
    })
  },
})

function categoryETag(category: StoredCategory) {
  return recordETag(recordTag(CATEGORY, category))
}
