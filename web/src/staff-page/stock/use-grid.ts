import { type RefObject, useCallback, useLayoutEffect, useMemo, useRef } from 'react'
import { changeAndTell } from '../quantity/save-and-tell.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { goTo } from '../ui/navigation.ts'
import { type Editing, type GridEffect, type GridInput, gridStep } from './grid-machine.ts'
import { typedBefore } from './kept-rows.ts'
import type { ShownRows } from './use-shown-rows.ts'
import type { TableActions } from './use-table.ts'

/** What the table on the screen can do. */
export interface GridScreen {
  readonly top: number
  readonly fitting: number
  readonly reveal: (index: number) => void
  readonly focus: () => void
}

export interface Grid {
  readonly editing: Editing | undefined
  /** Tells of what the user did. */
  readonly input: (happened: GridInput) => void
  /** Set by the table while it is shown. */
  readonly screen: RefObject<GridScreen | undefined>
}

type EditingState = readonly [Editing | undefined, (editing: Editing | undefined) => void]

/** Runs the state machine of the table. */
export function useGrid(shown: ShownRows, table: TableActions, [editing, show]: EditingState): Grid {
  const session = useSession()
  const mayChange = useMayChange('stock')
  const screen = useRef<GridScreen>(undefined)
  const current = useRef({ mayChange, editing })
  useLayoutEffect(() => {
    current.current = { mayChange, editing }
  })
  const { settle, latest } = shown

  const input = useCallback(
    (happened: GridInput) => {
      const run = (effect: GridEffect) => {
        switch (effect.kind) {
          case 'focus':
            return screen.current?.focus()
          case 'reveal':
            return screen.current?.reveal(effect.index)
          case 'selectAll':
            return table.selectAll(latest().rows)
          case 'clearSelection':
            return table.clearSelection()
          case 'toggle':
            return table.toggle(effect.petId, false)
          case 'open':
            return goTo({ view: 'pet', petId: effect.petId })
          case 'dismiss':
            return session.editor.dismiss(effect.petId)
          case 'change':
            return void change(effect)
        }
      }
      const change = async ({ row, change: typed, text }: Extract<GridEffect, { kind: 'change' }>) => {
        const isMeant = await changeAndTell(session, row, typed)
        if (!isMeant) input({ kind: 'edit', petId: row.petId, text })
      }
      settle()
      const { active } = session.table.get()
      const view = {
        rows: latest().rows,
        top: screen.current?.top ?? 0,
        fitting: screen.current?.fitting ?? 1,
        mayChange: current.current.mayChange,
        unsettled: (petId: bigint) => typedBefore(session.editor.get().get(petId)),
      }
      const { state, effects } = gridStep({ active, editing: current.current.editing }, happened, view)
      // What the effects bring about, such as a field that loses the focus, finds the new state.
      current.current = { ...current.current, editing: state.editing }
      show(state.editing)
      table.activate(state.active)
      for (const effect of effects) run(effect)
    },
    [session, table, settle, latest, show],
  )
  return useMemo(() => ({ editing, input, screen }), [editing, input])
}
