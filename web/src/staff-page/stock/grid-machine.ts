import type { StockRow } from '../data/stock/stock-model.ts'
import { isSurprising, readChange, type TypedChange } from '../quantity/typed-change.ts'
import { actionOf, type GridAction, type Pressed } from './grid-keys.ts'

/** The quantity that is being typed. */
export interface Editing {
  /** As the user saw it when they began: a save holds only over this state. */
  readonly row: StockRow
  /** What the field begins with; all of it is selected unless the user typed it. */
  readonly text: string
  readonly isTyped: boolean
}

export interface GridState {
  /** The row that the keys are for. */
  readonly active: bigint | undefined
  readonly editing: Editing | undefined
}

/** What the table shows when something happens. */
export interface GridView {
  /** Those that fit what is searched for now, in their order. */
  readonly rows: readonly StockRow[]
  /** The first of them that is in sight, and how many fit on the screen. */
  readonly top: number
  readonly fitting: number
  readonly mayChange: boolean
  /** What was typed for a row and could not be saved; `undefined` where all is settled. */
  readonly unsettled: (petId: bigint) => string | undefined
}

export type GridInput =
  /** The table itself has the focus. */
  | { readonly kind: 'key'; readonly pressed: Pressed }
  | { readonly kind: 'editorKey'; readonly key: EditorKey; readonly text: string }
  /** The focus has gone elsewhere, or nothing more was typed after signs alone. */
  | { readonly kind: 'editorLeft' | 'editorPaused'; readonly petId: bigint; readonly text: string }
  | { readonly kind: 'entered' }
  | { readonly kind: 'pointed'; readonly petId: bigint }
  /** Somebody looked for this pet. */
  | { readonly kind: 'found'; readonly petId: bigint }
  /** `text` is what was typed before, and is to be looked at again. */
  | { readonly kind: 'edit'; readonly petId: bigint; readonly text?: string }

export type EditorKey = 'Enter' | 'Escape' | 'ArrowUp' | 'ArrowDown' | 'Tab' | 'Shift+Tab'

export type GridEffect =
  | { readonly kind: 'focus' | 'selectAll' | 'clearSelection' }
  | { readonly kind: 'reveal'; readonly index: number }
  | { readonly kind: 'toggle' | 'open' | 'dismiss'; readonly petId: bigint }
  | { readonly kind: 'change'; readonly row: StockRow; readonly change: TypedChange; readonly text: string }

export interface GridStep {
  readonly state: GridState
  readonly effects: readonly GridEffect[]
}

/** Where the focus and the active row go, and what is to be done: all that keys and clicks in the table mean. */
export function gridStep(state: GridState, input: GridInput, view: GridView): GridStep {
  switch (input.kind) {
    case 'key': {
      const action = actionOf(input.pressed)
      return action === undefined ? stay(state) : act(state, action, view)
    }
    case 'editorKey':
      return editorKey(state, input.key, input.text, view)
    case 'editorLeft':
    case 'editorPaused': {
      // The field may tell of it once another row is being edited.
      if (state.editing?.row.petId !== input.petId) return stay(state)
      const effects = changeOf(state.editing, input.text)
      const focus: GridEffect[] = input.kind === 'editorPaused' ? [{ kind: 'focus' }] : []
      return { state: { ...state, editing: undefined }, effects: [...focus, ...effects] }
    }
    case 'entered': {
      if (indexOf(view, state.active) !== -1) return stay(state)
      // Nothing moves: it may be a click on its way to a row.
      return stay({ ...state, active: view.rows[view.top]?.petId ?? state.active })
    }
    case 'pointed':
      return { state: { ...state, active: input.petId }, effects: [{ kind: 'focus' }] }
    case 'found': {
      const index = indexOf(view, input.petId)
      return index === -1 ? stay(state) : focused(goTo(state, index, view))
    }
    case 'edit':
      return begin(state, indexOf(view, input.petId), view, input.text)
  }
}

function act(state: GridState, action: GridAction, view: GridView): GridStep {
  const index = indexOf(view, state.active)
  const row = view.rows[index]
  switch (action.kind) {
    case 'move':
      return goTo(state, index === -1 ? 0 : index + action.by, view)
    case 'page':
      return goTo(state, index + action.by * view.fitting, view)
    case 'first':
      return goTo(state, 0, view)
    case 'last':
      return goTo(state, view.rows.length - 1, view)
    case 'escape':
      if (row === undefined || view.unsettled(row.petId) === undefined)
        return stay(state, { kind: 'clearSelection' })
      return stay(state, { kind: 'dismiss', petId: row.petId })
    case 'open':
      return row === undefined ? stay(state) : stay(state, { kind: 'open', petId: row.petId })
  }
  if (!view.mayChange) return stay(state)
  if (action.kind === 'selectAll') return stay(state, { kind: 'selectAll' })
  if (row === undefined) return stay(state)
  if (action.kind === 'toggle') {
    return stay(state, { kind: 'reveal', index }, { kind: 'toggle', petId: row.petId })
  }
  return begin(state, index, view, action.kind === 'type' ? action.text : undefined)
}

function editorKey(state: GridState, key: EditorKey, text: string, view: GridView): GridStep {
  const { editing } = state
  if (editing === undefined) return stay(state)
  const done = { ...state, editing: undefined }
  if (key === 'Escape') return stay(done, { kind: 'focus' })
  // The field says what is wrong with it.
  if (readChange(text) === undefined) return stay(state)
  const effects = changeOf(editing, text)
  const index = indexOf(view, editing.row.petId)
  // Whoever answers a question is still at that row.
  if (index === -1 || effects.some(isQuestionable)) {
    return { state: done, effects: [{ kind: 'focus' }, ...effects] }
  }
  const next = key === 'ArrowUp' || key === 'Shift+Tab' ? index - 1 : index + 1
  const isOn = key.endsWith('Tab') && view.rows[next] !== undefined
  const step = isOn ? begin(done, next, view) : focused(goTo(done, next, view))
  return { state: step.state, effects: [...step.effects, ...effects] }
}

/** Begins to edit a row; `typed` is what the user began to type. */
function begin(state: GridState, index: number, view: GridView, typed?: string): GridStep {
  const row = view.rows[index]
  if (row === undefined || !view.mayChange) return stay(state)
  const text = typed ?? view.unsettled(row.petId) ?? String(row.quantity)
  const editing = { row, text, isTyped: typed !== undefined }
  return { state: { active: row.petId, editing }, effects: [{ kind: 'reveal', index }] }
}

function goTo(state: GridState, wanted: number, { rows }: GridView): GridStep {
  const index = Math.max(0, Math.min(rows.length - 1, wanted))
  const row = rows[index]
  if (row === undefined) return stay(state)
  return { state: { ...state, active: row.petId }, effects: [{ kind: 'reveal', index }] }
}

/** Nothing where what was typed changes nothing, or cannot be read. */
function changeOf({ row }: Editing, text: string): readonly GridEffect[] {
  const change = readChange(text)
  if (change === undefined) return []
  const isChange = change.kind === 'set' ? change.quantity !== row.quantity : change.delta !== 0
  return isChange ? [{ kind: 'change', row, change, text }] : []
}

function isQuestionable(effect: GridEffect): boolean {
  if (effect.kind !== 'change') return false
  const { row, change } = effect
  const after = change.kind === 'set' ? change.quantity : row.quantity + change.delta
  return isSurprising(row.quantity, after)
}

function indexOf({ rows }: GridView, petId: bigint | undefined): number {
  return petId === undefined ? -1 : rows.findIndex((row) => row.petId === petId)
}

/** The focus first: what it leaves is settled before anything else is done. */
function focused({ state, effects }: GridStep): GridStep {
  return { state, effects: [{ kind: 'focus' }, ...effects] }
}

function stay(state: GridState, ...effects: readonly GridEffect[]): GridStep {
  return { state, effects }
}
