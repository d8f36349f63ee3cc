import type { InventoryEvent, Page, SearchRow } from '@petstore/client'
import { useMemo } from 'preact/compat'
import type { LiveChanges } from '../history/live-changes.ts'
import { type ListSnapshot, type ListSource, type LiveList, useLiveList } from '../live-list.ts'

export type PetList = LiveList<SearchRow, InventoryEvent>
export type PetListSnapshot = ListSnapshot<SearchRow>

export interface PetListSource {
  /** Loads a page; the first one without a cursor. */
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<SearchRow>>
  readonly events: LiveChanges<InventoryEvent>
  /** Only events of this pet; of all pets by default. */
  readonly petId?: bigint
}

export function petListSource({ load, events, petId }: PetListSource): ListSource<SearchRow, InventoryEvent> {
  return {
    load,
    events,
    keyOf: (row) => row.petId,
    concerns: (event) => {
      if (event.type === 'category') return true
      const changed = event.type === 'order' ? event.lines : 'petId' in event ? [event] : []
      return changed.some((each) => petId === undefined || each.petId === petId)
    },
  }
}

/** A list for as long as the component is mounted. `source` must stay the same object for the same search. */
export function usePetList(source: PetListSource): { list: PetList; found: PetListSnapshot } {
  const list = useLiveList(useMemo(() => petListSource(source), [source]))
  return { list, found: list.get() }
}
