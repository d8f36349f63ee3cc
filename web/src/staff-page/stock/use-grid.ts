import { useCallback, useLayoutEffect, useMemo, useRef } from 'preact/compat'
import type { StockRow } from '../data/stock/stock-model.ts'
import {
  NO_FILTER,
  type SortColumn,
  sortedBy,
  type TableFilter,
  type TableState,
} from '../data/stock/table-state.ts'
import { saveTypedChange } from '../quantity/save-change.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { goTo } from '../ui/navigation.ts'
import {
  type Editing,
  type GridEffect,
  type GridInput,
  gridStep,
  isImplausibleChange,
} from './grid-machine.ts'
import type { ShownRows } from './use-shown-rows.ts'
import { typedBefore } from './visible-rows.ts'

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

export interface GridScreen {
  readonly top: number
  readonly fitting: number
  readonly reveal: (index: number) => void
  readonly focus: () => void
}

export type Grid = ReturnType<typeof useGrid>

type EditingState = readonly [Editing | undefined, (editing: Editing | undefined) => void]

export function useGrid(shown: ShownRows, table: TableActions, [editing, show]: EditingState) {
  const session = useSession()
  const mayChange = useMayChange('stock')
  /** Set while the table is shown. */
  const screen = useRef<GridScreen>(undefined)
  const current = useRef({ mayChange, editing })
  useLayoutEffect(() => {
    current.current = { mayChange, editing }
  })
  const isLeft = useRef(false)
  useLayoutEffect(
    () => () => {
      isLeft.current = true
    },
    [],
  )
  const { latest } = shown

  const input = useCallback(
    (happened: GridInput) => {
      const run = (effect: GridEffect) => {
        switch (effect.kind) {
          case 'focus':
            return screen.current?.focus()
          case 'reveal':
            return screen.current?.reveal(effect.index)
          case 'selectAll':
            return table.selectAll(latest())
          case 'clearSelection':
            return table.clearSelection()
          case 'toggle':
            return table.toggle(effect.petId, false)
          case 'open':
            return goTo({ view: 'pet', petId: effect.petId })
          case 'dismiss':
            return session.editor.dismiss(effect.petId)
          case 'change':
            // A field that is removed with the view loses the focus. Its question would open over the next view.
            return isLeft.current && isImplausibleChange(effect) ? undefined : void change(effect)
        }
      }
      const change = async ({ row, change: typed, text }: Extract<GridEffect, { kind: 'change' }>) => {
        const isMeant = await saveTypedChange(session, row, typed)
        if (!isMeant) input({ kind: 'edit', petId: row.petId, text })
      }
      const { active } = session.table.get()
      const view = {
        rows: latest(),
        top: screen.current?.top ?? 0,
        fitting: screen.current?.fitting ?? 1,
        mayChange: current.current.mayChange,
        unsaved: (petId: bigint) => typedBefore(session.editor.get().get(petId)),
      }
      const { state, effects } = gridStep({ active, editing: current.current.editing }, happened, view)
      // Effects may cause further inputs, such as a field that loses the focus.
      current.current = { ...current.current, editing: state.editing }
      show(state.editing)
      table.activate(state.active)
      for (const effect of effects) run(effect)
    },
    [session, table, latest, show],
  )
  return useMemo(() => ({ editing, input, screen }), [editing, input])
}
