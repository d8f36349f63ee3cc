import type { InventoryEvent, PetstoreClient, SearchRow } from '@petstore/client'
import type { CategoryList } from '../data/catalog/category-list.ts'
import { afterEvent, type PetListSource } from '../data/catalog/pet-list.ts'
import type { LiveChanges } from '../data/history/live-changes.ts'
import type { Readable } from '../data/observable.ts'

interface Context {
  readonly client: Pick<PetstoreClient, 'inventory'>
  readonly events: LiveChanges<InventoryEvent>
  readonly categories: Readable<CategoryList>
}

const PAGE_SIZE = 500

/** Low pets, those with the fewest free units first. */
export function lowStockSource(
  { client, events, categories }: Context,
  categoryId: bigint | undefined,
): PetListSource {
  return {
    events,
    categories,
    load: (cursor, signal) =>
      client.inventory.search({
        ...(categoryId === undefined ? {} : { categoryId }),
        low: true,
        sort: 'available',
        limit: PAGE_SIZE,
        cursor,
        signal,
      }),
    mayAdd: ({ type }) => type === 'low',
    after: (row, event) => afterCrossing(row, event, categories.get()),
  }
}

/** A pet that recovered leaves the list. A pet that becomes low again has a new time. */
function afterCrossing(
  row: SearchRow,
  event: InventoryEvent,
  categories: CategoryList,
): SearchRow | undefined {
  if (event.type === 'recovered' && event.petId === row.petId) return undefined
  const after = afterEvent(row, event, categories)
  return event.type === 'low' && after !== undefined && after !== row
    ? { ...after, lowSince: event.at }
    : after
}
