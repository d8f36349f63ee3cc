import { useMemo, useRef } from 'react'
import type { StockRow } from '../data/stock/stock-model.ts'
import {
  NO_FILTER,
  type SortColumn,
  sortedBy,
  type TableFilter,
  type TableState,
} from '../data/stock/table-state.ts'
import { useSession } from '../session/session-context.ts'

/** What the user does with the table, other than changing the stock. */
export interface TableActions {
  readonly activate: (petId: bigint | undefined) => void
  /** Selects a row, or not; as a range, all from the active row on. */
  readonly toggle: (petId: bigint, isRange: boolean) => void
  readonly selectAll: (rows: readonly StockRow[]) => void
  readonly clearSelection: () => void
  readonly changeFilter: (changes: Partial<TableFilter>) => void
  readonly clearFilter: () => void
  readonly sortBy: (column: SortColumn) => void
}

/** `rows` are those shown, in their order. */
export function useTable(rows: readonly StockRow[]): TableActions {
  const { table } = useSession()
  const shown = useRef(rows)
  shown.current = rows
  return useMemo(() => {
    const change = (changes: Partial<TableState>) => table.set({ ...table.get(), ...changes })
    return {
      activate: (active) => {
        if (table.get().active !== active) change({ active })
      },
      toggle: (petId, isRange) => {
        const { selected: before, active } = table.get()
        const selected = new Set(before)
        if (isRange && active !== undefined) {
          for (const id of between(shown.current, active, petId)) selected.add(id)
        } else if (!selected.delete(petId)) selected.add(petId)
        change({ selected, active: petId })
      },
      selectAll: (all) => change({ selected: new Set(all.map(({ petId }) => petId)) }),
      clearSelection: () => change({ selected: new Set() }),
      changeFilter: (changes) => change({ filter: { ...table.get().filter, ...changes } }),
      clearFilter: () => change({ filter: NO_FILTER }),
      sortBy: (column) => change({ sort: sortedBy(table.get().sort, column) }),
    }
  }, [table])
}

function between(rows: readonly StockRow[], one: bigint, other: bigint): bigint[] {
  const ends = [one, other].map((id) => rows.findIndex(({ petId }) => petId === id))
  if (ends.includes(-1)) return [other]
  return rows.slice(Math.min(...ends), Math.max(...ends) + 1).map(({ petId }) => petId)
}
