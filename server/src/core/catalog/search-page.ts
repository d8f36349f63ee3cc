import { type Page, type PageRequest, readPage } from '../values/page.ts'
import type { CatalogStore } from './catalog-store.ts'
import { fromCursor, type InventorySearch, type SearchRow, toCursor } from './search.ts'

export async function searchPage(
  store: Pick<CatalogStore, 'searchPets'>,
  search: InventorySearch,
  request: PageRequest,
): Promise<Page<SearchRow>> {
  const { rows, next } = await readPage(request, {
    positionOf: (cursor) => fromCursor(search, cursor),
    read: (limit, after) => store.searchPets(search, { after, limit }),
    cursorOf: ({ place }) => toCursor(search, place),
  })
  return { rows: rows.map(({ place: _, ...row }) => row), next }
}
