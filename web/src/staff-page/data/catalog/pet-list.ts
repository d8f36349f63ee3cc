import type { InventoryEvent, Page, SearchRow } from '@petstore/client'
import type { LiveChanges } from '../history/live-changes.ts'
import type { ListSnapshot, ListSource, LiveList } from '../live-list.ts'
import type { Readable } from '../observable.ts'
import type { CategoryList } from './category-list.ts'
import { afterEvent } from './pet-after-event.ts'

export type PetList = LiveList<SearchRow, InventoryEvent>
export type PetListSnapshot = ListSnapshot<SearchRow>

export interface PetListSource {
  /** Loads a page; the first one without a cursor. */
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<SearchRow>>
  readonly events: LiveChanges<InventoryEvent>
  readonly categories: Readable<CategoryList>
  /** Whether an event of a pet that is not in the list may add the pet to it. */
  readonly mayAdd: (event: InventoryEvent) => boolean
  /** The row after an event; `undefined` if it leaves the list. By default it has the fields of the event. */
  readonly after?: (row: SearchRow, event: InventoryEvent) => SearchRow | undefined
}

/** The pets of a search. */
export function petListSource(source: PetListSource): ListSource<SearchRow, InventoryEvent> {
  const { load, events, categories, mayAdd } = source
  const after = source.after ?? ((row, event) => afterEvent(row, event, categories.get()))
  return {
    load,
    events,
    keyOf: ({ petId }) => petId,
    effectOf: (event, { find }) => {
      if (!('petId' in event)) return undefined
      const row = find(event.petId)
      if (row === undefined) return mayAdd(event) ? { type: 'reload' } : undefined
      const changed = after(row, event)
      if (changed === undefined) return { type: 'remove', key: row.petId }
      return changed === row ? undefined : { type: 'put', row: changed }
    },
  }
}
