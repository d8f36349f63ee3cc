/** What a key does while the table has the focus. */
export type GridAction =
  | { readonly kind: 'move'; readonly by: number }
  | { readonly kind: 'page'; readonly by: 1 | -1 }
  | { readonly kind: 'first' | 'last' | 'edit' | 'toggle' | 'selectAll' | 'open' | 'escape' }
  /** A digit begins the new quantity, a sign a difference. */
  | { readonly kind: 'type'; readonly text: string }

export interface Pressed {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
}

const ACTIONS: Readonly<Record<string, GridAction>> = {
  ArrowUp: { kind: 'move', by: -1 },
  ArrowDown: { kind: 'move', by: 1 },
  PageUp: { kind: 'page', by: -1 },
  PageDown: { kind: 'page', by: 1 },
  Home: { kind: 'first' },
  End: { kind: 'last' },
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

/** What the help shows. */
export const KEY_HELP: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['↑', '↓'], 'Go to the row above or below'],
  [['Page Up', 'Page Down'], 'Go one screen up or down'],
  [['Home', 'End'], 'Go to the first or the last row'],
  [['Enter'], 'Edit the quantity; save it and go down a row'],
  [['Tab'], 'Save the quantity and edit the next one; with Shift the one before'],
  [['0', '…', '9'], 'Begin to type a new quantity'],
  [['+', '−'], 'One more, one less; with a number behind it, so many: +12, −3'],
  [['Esc'], 'Leave the quantity as it was; clear the selection'],
  [['→'], 'Open the pet and its history'],
  [['Space'], 'Select the row, or not'],
  [['Ctrl', 'A'], 'Select all rows shown'],
  [['Ctrl', 'Z'], 'Undo the last change'],
  [['/'], 'Search; Enter there goes to the first row found, by an exact id or barcode first'],
  [['?'], 'Show these keys'],
]
