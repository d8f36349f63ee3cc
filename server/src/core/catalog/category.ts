import Type from 'typebox'
import { notFound, type ServiceError } from '../values/errors.ts'
import { Int64, Quantity, quote, type RecordOf, updateOf } from '../values/field.ts'
import { Name } from './catalog-fields.ts'

const CHANGEABLE = {
  name: Name(
    'Name of the category, without control characters. No two categories have the same name, regardless of case.',
  ),
  lowStockAt: Type.Optional(
    Quantity(
      'The low-stock threshold of the pets in this category that have no threshold of their own. A pet is low if at most this many units are available.',
    ),
  ),
}

export const CATEGORY = { id: Int64('Identifier of the category.'), ...CHANGEABLE }
export type Category = RecordOf<typeof CATEGORY>

export const NEW_CATEGORY = {
  ...CHANGEABLE,
  id: Type.Optional(Int64('Identifier of the category. If it is absent, the service chooses a free one.')),
}
export type NewCategory = RecordOf<typeof NEW_CATEGORY>

export const CATEGORY_UPDATE = updateOf(CHANGEABLE)
export type CategoryPatch = RecordOf<typeof CATEGORY_UPDATE>

/** The name of a category that is created only because a pet has its id as `categoryId`. */
export function defaultCategoryName(id: bigint): string {
  return `Category ${id}`
}

/** Such as `category 3 is already called "Dogs"`. */
export function nameTaken({ id, name }: Pick<Category, 'id' | 'name'>): string {
  return `category ${id} is already called ${quote(name)}, and category names are unique regardless of case; use category ${id} or choose another name`
}

export function categoryNotFound(categoryId: bigint): ServiceError {
  return notFound(`there is no category ${categoryId}; GET /categories lists the categories that exist`)
}
