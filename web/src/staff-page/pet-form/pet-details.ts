import type { SearchRow } from '@petstore/client'
import { useMemo } from 'preact/compat'
import { type PetListSource, usePetList } from '../data/catalog/pet-list.ts'
import { useSession } from '../session/session-context.ts'

/** The catalogue entry of one pet, kept up to date; `undefined` until it is loaded. */
export function usePetDetails(petId: bigint): SearchRow | undefined {
  const { client, feed, categories } = useSession()
  const source = useMemo(
    (): PetListSource => ({
      events: feed.events,
      categories,
      mayAdd: (event) => 'petId' in event && event.petId === petId && event.type === 'pet',
      load: async (_, signal) => {
        const { items } = await client.inventory.search({ q: String(petId), signal })
        // Other pets may have the id as a barcode, or as a word of their names.
        return { items: items.filter((row) => row.petId === petId), next: undefined }
      },
    }),
    [client, feed, categories, petId],
  )
  return usePetList(source).found.rows[0]
}
