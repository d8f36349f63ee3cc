import type { PageRequest } from '../values/page-request.ts'
import type { CatalogStore } from './catalog-store.ts'
import { fromCursor, type InventorySearch, type SearchRow, toCursor } from './search.ts'

/** A page of what the search finds, and the cursor of the next page if there is one. */
export async function searchPage(
  store: Pick<CatalogStore, 'searchPets'>,
  search: InventorySearch,
  { limit, cursor }: PageRequest,
): Promise<{ rows: readonly SearchRow[]; next: string | undefined }> {
  const after = cursor === undefined ? undefined : fromCursor(search, cursor)
  // One more than the page holds shows whether there is a next page.
  const found = await store.searchPets(search, { after, limit: limit + 1 })
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page.map(({ place: _, ...row }) => row),
    next: found.length > limit && last !== undefined ? toCursor(search, last.place) : undefined,
  }
}
