import { useMemo, useRef } from 'preact/compat'
import type { StockRow } from '../data/stock/stock-model.ts'
import {
  NO_FILTER,
  type SortColumn,
  sortedBy,
  type TableFilter,
  type TableState,
} from '../data/stock/table-state.ts'
import { useSession } from '../session/session-context.ts'

export type TableActions = ReturnType<typeof useTable>

/** The actions of the table that do not change the stock. `rows` are the shown rows, in their order. */
export function useTable(rows: readonly StockRow[]) {
  const { table } = useSession()
  const shown = useRef(rows)
  shown.current = rows
  return useMemo(() => {
    const change = (changes: Partial<TableState>) => table.set({ ...table.get(), ...changes })
    return {
      activate: (active: bigint | undefined) => {
        if (table.get().active !== active) change({ active })
      },
      /** Selects or deselects a row; as a range, selects all rows from the active one. */
      toggle: (petId: bigint, isRange: boolean) => {
        const { selected: before, active } = table.get()
        const selected = new Set(before)
        if (isRange && active !== undefined) {
          for (const id of between(shown.current, active, petId)) selected.add(id)
        } else if (!selected.delete(petId)) selected.add(petId)
        change({ selected, active: petId })
      },
      selectAll: (all: readonly StockRow[]) => change({ selected: new Set(all.map(({ petId }) => petId)) }),
      clearSelection: () => change({ selected: new Set() }),
      changeFilter: (changes: Partial<TableFilter>) =>
        change({ filter: { ...table.get().filter, ...changes } }),
      clearFilter: () => change({ filter: NO_FILTER }),
      sortBy: (column: SortColumn) => change({ sort: sortedBy(table.get().sort, column) }),
    }
  }, [table])
}

function between(rows: readonly StockRow[], one: bigint, other: bigint): bigint[] {
  const ends = [one, other].map((id) => rows.findIndex(({ petId }) => petId === id))
  if (ends.includes(-1)) return [other]
  return rows.slice(Math.min(...ends), Math.max(...ends) + 1).map(({ petId }) => petId)
}
