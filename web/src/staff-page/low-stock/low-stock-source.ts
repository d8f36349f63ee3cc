import type { InventorySearch, PetstoreClient, SearchRow } from '@petstore/client'
import { afterEvent, type PetListSource } from '../data/catalog/pet-list.ts'

interface Context extends Pick<PetListSource, 'events' | 'categories'> {
  readonly client: Pick<PetstoreClient, 'inventory'>
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
      client.inventory.search({ ...lowPets(categoryId), limit: PAGE_SIZE, cursor, signal }),
    mayAdd: ({ type }) => type === 'low',
    /** A pet that recovered leaves the list. A pet that becomes low again has a new time. */
    after: (row, event) => {
      if (event.type === 'recovered' && event.petId === row.petId) return undefined
      const after = afterEvent(row, event, categories.get())
      if (event.type !== 'low' || after === undefined || after === row) return after
      return { ...after, lowSince: event.at }
    },
  }
}

/** All low pets, without a limit. Throws if the service does. */
export async function readLowPets(
  client: Context['client'],
  categoryId: bigint | undefined,
): Promise<readonly SearchRow[]> {
  const rows: SearchRow[] = []
  for await (const row of client.inventory.search({ ...lowPets(categoryId), limit: 1_000 })) rows.push(row)
  return rows
}

function lowPets(categoryId: bigint | undefined): InventorySearch {
  return { categoryId, low: true, sort: 'available' }
}
