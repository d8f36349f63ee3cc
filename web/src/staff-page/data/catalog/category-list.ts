import type { Category } from '@petstore/client'

export interface CategoryList {
  readonly byId: ReadonlyMap<bigint, Category>
  readonly isKnown: boolean
}

/** The name of a category; empty while it is unknown. */
export function categoryName({ byId, isKnown }: CategoryList, categoryId: bigint | undefined): string {
  if (categoryId === undefined) return ''
  return byId.get(categoryId)?.name ?? (isKnown ? `Category ${categoryId}` : '')
}

export function byName({ byId }: CategoryList): readonly Category[] {
  return [...byId.values()].sort((a, b) => a.name.localeCompare(b.name, 'en') || (a.id < b.id ? -1 : 1))
}
