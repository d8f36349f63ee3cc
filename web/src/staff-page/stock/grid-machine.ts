import type { StockRow } from '../data/stock/stock-model.ts'
import { isImplausible, quantityAfter, readChange, type TypedChange } from '../quantity/typed-change.ts'

export interface Editing {
  /** The row that the user saw when they began: the change is saved only over this state. */
  readonly row: StockRow
  /** The first text of the field; all of it is selected unless the user typed it. */
  readonly text: string
  readonly isTyped: boolean
}

export interface GridState {
  /** The row that the keys are for. */
  readonly active: bigint | undefined
  readonly editing: Editing | undefined
}

/** What the table shows when an input arrives. */
export interface GridView {
  readonly rows: readonly StockRow[]
  /** The first visible row, and how many fit on the screen. */
  readonly top: number
  readonly fitting: number
  readonly mayChange: boolean
  /** The text that was typed for a row and not saved; `undefined` if there is none. */
  readonly unsaved: (petId: bigint) => string | undefined
}

export type GridInput =
  /** The table itself has the focus. */
  | { readonly kind: 'key'; readonly pressed: Pressed }
  | { readonly kind: 'editorKey'; readonly key: EditorKey; readonly text: string }
  /** The focus left the field, or the user typed only signs and stopped. */
  | { readonly kind: 'editorLeft' | 'editorPaused'; readonly petId: bigint; readonly text: string }
  | { readonly kind: 'entered' }
  | { readonly kind: 'pointed'; readonly petId: bigint }
  /** A search or a scan found this pet. */
  | { readonly kind: 'found'; readonly petId: bigint }
  /** `text` is the text that was typed before. */
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

/** The state machine of the table: the next state after an input, and its effects. */
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
      // The event may arrive when another row is being edited.
      if (state.editing?.row.petId !== input.petId) return stay(state)
      const effects = changeOf(state.editing, input.text)
      const focus: GridEffect[] = input.kind === 'editorPaused' ? [{ kind: 'focus' }] : []
      return { state: { ...state, editing: undefined }, effects: [...focus, ...effects] }
    }
    case 'entered': {
      if (indexOf(view, state.active) !== -1) return stay(state)
      // Do not scroll: the focus may come from a click on a row.
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
      return goTo(state, action.to(index, view), view)
    case 'escape':
      if (row === undefined || view.unsaved(row.petId) === undefined)
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
  // The field shows the problem.
  if (readChange(text) === undefined) return stay(state)
  const effects = changeOf(editing, text)
  const index = indexOf(view, editing.row.petId)
  // The answer to the question may return to this row.
  if (index === -1 || effects.some(isImplausibleChange)) {
    return { state: done, effects: [{ kind: 'focus' }, ...effects] }
  }
  const next = key === 'ArrowUp' || key === 'Shift+Tab' ? index - 1 : index + 1
  const isOn = key.endsWith('Tab') && view.rows[next] !== undefined
  const step = isOn ? begin(done, next, view) : focused(goTo(done, next, view))
  return { state: step.state, effects: [...step.effects, ...effects] }
}

/** Begins to edit a row; `typed` is the first character that the user typed. */
function begin(state: GridState, index: number, view: GridView, typed?: string): GridStep {
  const row = view.rows[index]
  if (row === undefined || !view.mayChange) return stay(state)
  const text = typed ?? view.unsaved(row.petId) ?? String(row.quantity)
  const editing = { row, text, isTyped: typed !== undefined }
  return { state: { active: row.petId, editing }, effects: [{ kind: 'reveal', index }] }
}

function goTo(state: GridState, wanted: number, { rows }: GridView): GridStep {
  const index = Math.max(0, Math.min(rows.length - 1, wanted))
  const row = rows[index]
  if (row === undefined) return stay(state)
  return { state: { ...state, active: row.petId }, effects: [{ kind: 'reveal', index }] }
}

/** Empty if the text changes nothing or is invalid. */
function changeOf({ row }: Editing, text: string): readonly GridEffect[] {
  const change = readChange(text)
  if (change === undefined) return []
  const isChange = change.kind === 'set' ? change.quantity !== row.quantity : change.delta !== 0
  return isChange ? [{ kind: 'change', row, change, text }] : []
}

/** Whether a question precedes the change. */
export function isImplausibleChange(effect: GridEffect): boolean {
  if (effect.kind !== 'change') return false
  const { quantity } = effect.row
  return isImplausible(quantity, quantityAfter(quantity, effect.change))
}

function indexOf({ rows }: GridView, petId: bigint | undefined): number {
  return petId === undefined ? -1 : rows.findIndex((row) => row.petId === petId)
}

/** The focus moves first, so that the field that it leaves saves before the other effects. */
function focused({ state, effects }: GridStep): GridStep {
  return { state, effects: [{ kind: 'focus' }, ...effects] }
}

function stay(state: GridState, ...effects: readonly GridEffect[]): GridStep {
  return { state, effects }
}

/** The action of a key while the table has the focus. */
type GridAction =
  /** Goes to the nearest row there is. */
  | { readonly kind: 'move'; readonly to: (index: number, view: GridView) => number }
  | { readonly kind: 'edit' | 'toggle' | 'selectAll' | 'open' | 'escape' }
  /** A digit begins a new quantity, a sign a difference. */
  | { readonly kind: 'type'; readonly text: string }

export type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>

const ACTIONS: Readonly<Record<string, GridAction>> = {
  ArrowUp: { kind: 'move', to: (index) => index - 1 },
  ArrowDown: { kind: 'move', to: (index) => index + 1 },
  PageUp: { kind: 'move', to: (index, { fitting }) => index - fitting },
  PageDown: { kind: 'move', to: (index, { fitting }) => index + fitting },
  Home: { kind: 'move', to: () => 0 },
  End: { kind: 'move', to: (_, { rows }) => rows.length - 1 },
  Enter: { kind: 'edit' },
  F2: { kind: 'edit' },
  ' ': { kind: 'toggle' },
  ArrowRight: { kind: 'open' },
  Escape: { kind: 'escape' },
}

export function actionOf({ key, ctrlKey, metaKey, altKey }: Pressed): GridAction | undefined {
  if (ctrlKey || metaKey) return key === 'a' ? { kind: 'selectAll' } : undefined
  if (altKey) return undefined
  return /^[\d+-]$/.test(key) ? { kind: 'type', text: key } : ACTIONS[key]
}

export const KEY_HELP: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['↑', '↓'], 'Go to the row above or below'],
  [['Page Up', 'Page Down'], 'Go one screen up or down'],
  [['Home', 'End'], 'Go to the first or the last row'],
  [['Enter'], 'Edit the quantity; save it and go down a row'],
  [['Tab'], 'Save the quantity and edit the next one; with Shift the one before'],
  [['0', '…', '9'], 'Begin to type a new quantity'],
  [['+', '−'], 'One more, one less; with a number, that many: +12, −3'],
  [['Esc'], 'Keep the old quantity; clear the selection'],
  [['→'], 'Open the pet and its history'],
  [['Space'], 'Select the row'],
  [['Ctrl', 'A'], 'Select all rows shown'],
  [['Ctrl', 'Z'], 'Undo the last change'],
  [['/'], 'Search; Enter there goes to the first row found, by an exact id or barcode first'],
  [['?'], 'Show these keys'],
]
