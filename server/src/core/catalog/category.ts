import { ServiceError } from '../values/errors.ts'

export interface Category {
  readonly id: bigint
  readonly name: string
  /** The threshold of its pets that have none of their own. */
  readonly lowStockAt?: number
}

/** A category as it stands in a file: null takes away what it has, and what is left out stays as it is. */
export interface ImportedCategory extends Omit<Category, 'lowStockAt'> {
  readonly lowStockAt?: number | null
}

/** A category as somebody makes it; it gets an id where none is given. */
export interface CategoryDraft extends Omit<Category, 'id'> {
  readonly id?: bigint
}

/** What of a category is to be another; null takes it away. */
export interface CategoryPatch {
  readonly name?: string
  readonly lowStockAt?: number | null
}

/** What a category is called that an import made. */
export function defaultCategoryName(id: bigint): string {
  return `Category ${id}`
}

export function patchedCategory(category: Category, patch: CategoryPatch): Category {
  const { name = category.name, lowStockAt = category.lowStockAt } = patch
  const { id } = category
  return lowStockAt === undefined || lowStockAt === null ? { id, name } : { id, name, lowStockAt }
}

export function noCategory(categoryId: bigint): ServiceError {
  return new ServiceError(
    'not_found',
    `there is no category ${categoryId}; GET /categories lists the categories that exist`,
  )
}
