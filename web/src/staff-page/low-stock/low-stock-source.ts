import type { InventoryEvent, PetstoreClient, SearchRow } from '@petstore/client'
import type { CategoryList } from '../data/catalog/category-list.ts'
import { afterEvent } from '../data/catalog/pet-after-event.ts'
import type { PetListSource } from '../data/catalog/pet-list.ts'
import type { LiveChanges } from '../data/history/live-changes.ts'
import type { Readable } from '../data/observable.ts'

interface Context {
  readonly client: Pick<PetstoreClient, 'inventory'>
  readonly events: LiveChanges<InventoryEvent>
  readonly categories: Readable<CategoryList>
}

const TO_A_PAGE = 100

/** What runs low by its own threshold or its category's, those with the fewest available first. */
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
        ...{ low: true, sort: 'available', limit: TO_A_PAGE, cursor, signal },
      }),
    mayAdd: ({ type }) => type === 'low',
    after: (row, event) => afterCrossing(row, event, categories.get()),
  }
}

/** Those that have recovered go, and one that crosses again does so anew. */
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
