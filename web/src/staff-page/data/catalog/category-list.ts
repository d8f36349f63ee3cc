import type { Category } from '@petstore/client'

export interface CategoryList {
  readonly byId: ReadonlyMap<bigint, Category>
  /** Whether they were read once: one that is not among them is not there. */
  readonly isKnown: boolean
}

/** What a category is called; nothing as long as that is not known. */
export function categoryName({ byId, isKnown }: CategoryList, categoryId: bigint | undefined): string {
  if (categoryId === undefined) return ''
  return byId.get(categoryId)?.name ?? (isKnown ? `Category ${categoryId}` : '')
}

/** By name, and those of the same name by id. */
export function byName({ byId }: CategoryList): readonly Category[] {
  return [...byId.values()].sort((a, b) => a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1))
}
