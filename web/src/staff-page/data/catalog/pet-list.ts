import type { InventoryEvent, Page, SearchRow } from '@petstore/client'
import { useMemo } from 'preact/compat'
import type { LiveChanges } from '../history/live-changes.ts'
import { type ListSnapshot, type ListSource, type LiveList, useSearchedList } from '../live-list.ts'
import type { Readable } from '../observable.ts'
import type { CategoryList } from './category-list.ts'

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

/** A list for as long as the component is mounted. `source` must stay the same object for the same search. */
export function usePetList(source: PetListSource): { list: PetList; found: PetListSnapshot } {
  const list = useSearchedList(useMemo(() => petListSource(source), [source]))
  return { list, found: list.get() }
}

/** The row after an event; `undefined` if its pet was removed, the same object if the event does not concern it. */
export function afterEvent(
  row: SearchRow,
  event: InventoryEvent,
  { byId }: CategoryList,
): SearchRow | undefined {
  if (!('petId' in event) || event.petId !== row.petId) return row
  switch (event.type) {
    case 'removed':
      return undefined
    case 'change':
      return { ...row, quantity: event.after, status: event.status, available: event.after - row.reserved }
    case 'low':
    case 'recovered': {
      const { quantity, reserved, available } = event
      return withThreshold({ ...row, quantity, reserved, available }, event.lowStockAt)
    }
    case 'pet': {
      const { name, categoryId, status, quantity, barcode, lowStockAt: own } = event
      const { barcode: _, ownLowStockAt: __, ...rest } = row
      const changed = {
        ...rest,
        name,
        categoryId,
        status,
        quantity,
        available: quantity - row.reserved,
        ...(barcode === undefined ? {} : { barcode }),
        ...(own === undefined ? {} : { ownLowStockAt: own }),
      }
      return withThreshold(changed, own ?? byId.get(categoryId)?.lowStockAt)
    }
    default:
      return row
  }
}

function withThreshold(row: SearchRow, lowStockAt: number | undefined): SearchRow {
  const { lowStockAt: _, ...rest } = row
  return lowStockAt === undefined ? rest : { ...rest, lowStockAt }
}
