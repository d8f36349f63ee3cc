import type { InventorySearch, PetstoreClient, SearchRow } from '@petstore/client'
import type { PetListSource } from '../data/catalog/pet-list.ts'

interface Context extends Pick<PetListSource, 'events'> {
  readonly client: Pick<PetstoreClient, 'inventory'>
}

const PAGE_SIZE = 500

/** Low pets, those with the fewest free units first. */
export function lowStockSource({ client, events }: Context, categoryId: bigint | undefined): PetListSource {
  return {
    events,
    load: (cursor, signal) =>
      client.inventory.search({ ...lowPets(categoryId), limit: PAGE_SIZE, cursor, signal }),
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
