import { expect, test } from 'bun:test'
import type { StockRow } from '../../../src/staff-page/data/stock/stock-model.ts'
import { isImplausible, readChange } from '../../../src/staff-page/quantity/typed-change.ts'
import {
  type EditorKey,
  type GridInput,
  type GridState,
  type GridView,
  gridStep,
} from '../../../src/staff-page/stock/grid-machine.ts'

const ROWS: readonly StockRow[] = Array.from({ length: 20 }, (_, index) => ({
  petId: BigInt(index + 1),
  name: `Pet ${index + 1}`,
  categoryId: 1n,
  lowStockAt: undefined,
  status: 'available',
  quantity: 10,
  reserved: 0,
  searchText: '',
}))
const rowOf = (petId: number): StockRow => {
  const row = ROWS[petId - 1]
  if (row === undefined) throw new Error(`there is no pet ${petId}`)
  return row
}

const VIEW: GridView = { rows: ROWS, top: 2, fitting: 5, mayChange: true, unsaved: () => undefined }
const at = (petId: number): GridState => ({ active: BigInt(petId), editing: undefined })
const editing = (petId: number): GridState => ({
  active: BigInt(petId),
  editing: { row: rowOf(petId), text: '10', isTyped: false },
})

const press = (key: string): GridInput => ({
  kind: 'key',
  pressed: { key, ctrlKey: false, metaKey: false, altKey: false },
})
const typed = (key: EditorKey, text: string): GridInput => ({ kind: 'editorKey', key, text })
/** The active row, the row that is edited, and what is to be done, each in a word or two. */
function after(state: GridState, input: GridInput, view: Partial<GridView> = {}) {
  const step = gridStep(state, input, { ...VIEW, ...view })
  const effects = step.effects.map((effect) => {
    if (effect.kind === 'change') return `change ${effect.row.petId} by ${effect.text}`
    if (effect.kind === 'reveal') return `reveal ${effect.index}`
    return 'petId' in effect ? `${effect.kind} ${effect.petId}` : effect.kind
  })
  return [Number(step.state.active), Number(step.state.editing?.row.petId ?? 0), ...effects]
}

test.each([
  ['ArrowDown', 3, 4],
  ['ArrowUp', 3, 2],
  ['ArrowUp', 1, 1],
  ['ArrowDown', 20, 20],
  ['PageDown', 3, 8],
  ['PageDown', 18, 20],
  ['PageUp', 3, 1],
  ['Home', 9, 1],
  ['End', 9, 20],
])('%s on row %d goes to row %d and shows it', (key, from, to) => {
  expect(after(at(from), press(key))).toEqual([to, 0, `reveal ${to - 1}`])
})

test.each([
  ['Enter', '10', false],
  ['F2', '10', false],
  ['7', '7', true],
  ['+', '+', true],
  ['-', '-', true],
] as const)('%s begins to edit with %j', (key, text, isTyped) => {
  const { state, effects } = gridStep(at(3), press(key), VIEW)
  expect(state).toEqual({ active: 3n, editing: { row: rowOf(3), text, isTyped } })
  expect(effects).toEqual([{ kind: 'reveal', index: 2 }])
})

test.each([
  ['Enter', 3, [4, 0, 'focus', 'reveal 3', 'change 3 by 12']],
  ['ArrowDown', 3, [4, 0, 'focus', 'reveal 3', 'change 3 by 12']],
  ['ArrowUp', 3, [2, 0, 'focus', 'reveal 1', 'change 3 by 12']],
  ['Tab', 3, [4, 4, 'reveal 3', 'change 3 by 12']],
  ['Shift+Tab', 3, [2, 2, 'reveal 1', 'change 3 by 12']],
  ['Enter', 20, [20, 0, 'focus', 'reveal 19', 'change 20 by 12']],
  // There is none to go on to: the focus stays in the table all the same.
  ['Tab', 20, [20, 0, 'focus', 'reveal 19', 'change 20 by 12']],
  ['Shift+Tab', 1, [1, 0, 'focus', 'reveal 0', 'change 1 by 12']],
  ['Escape', 3, [3, 0, 'focus']],
] as const)('%s in the editor of row %d: %j', (key, petId, expected) => {
  expect(after(editing(petId), typed(key, '12'))).toEqual([...expected])
})

test.each([
  ['10', [4, 0, 'focus', 'reveal 3']],
  ['+0', [4, 0, 'focus', 'reveal 3']],
  ['+-', [4, 0, 'focus', 'reveal 3']],
  // It cannot be read: the field says so, and keeps it.
  ['1x', [3, 3]],
  ['', [3, 3]],
  // It asks first, and the typed text is still there for a person who looks at it again.
  ['4006381333931', [3, 0, 'focus', 'change 3 by 4006381333931']],
  ['+5000', [3, 0, 'focus', 'change 3 by +5000']],
] as const)('Enter behind %j: %j', (text, expected) => {
  expect(after(editing(3), typed('Enter', text))).toEqual([...expected])
})

test('leaving the field saves and lets the focus go; a pause after signs gives it back to the table', () => {
  expect(after(editing(3), { kind: 'editorLeft', petId: 3n, text: '12' })).toEqual([3, 0, 'change 3 by 12'])
  expect(after(editing(3), { kind: 'editorLeft', petId: 3n, text: 'x' })).toEqual([3, 0])
  expect(after(editing(3), { kind: 'editorPaused', petId: 3n, text: '++' })).toEqual([
    ...[3, 0, 'focus', 'change 3 by ++'],
  ])
  // The field of a row that is not edited any more.
  expect(after(editing(4), { kind: 'editorLeft', petId: 3n, text: '12' })).toEqual([4, 4])
  expect(after(at(4), { kind: 'editorLeft', petId: 3n, text: '12' })).toEqual([4, 0])
})

test('an active row that is not among those shown is none: no key changes it', () => {
  const view = { rows: ROWS.slice(10) }
  for (const key of ['7', '+', 'Enter', ' ', 'ArrowRight'])
    expect(after(at(3), press(key), view)).toEqual([3, 0])
  expect(after(at(3), press('ArrowDown'), view)).toEqual([11, 0, 'reveal 0'])
  // The first in sight, and nothing moves: a click may be on its way to a row.
  expect(after(at(3), { kind: 'entered' }, view)).toEqual([13, 0])
  expect(after(at(12), { kind: 'entered' }, view)).toEqual([12, 0])
  expect(after(at(3), { kind: 'entered' }, { rows: [] })).toEqual([3, 0])
})

test('what was looked for becomes the active row, a click too, and a value that was typed before comes back', () => {
  expect(after(at(3), { kind: 'found', petId: 15n })).toEqual([15, 0, 'focus', 'reveal 14'])
  expect(after(at(3), { kind: 'found', petId: 99n })).toEqual([3, 0])
  expect(after(at(3), { kind: 'pointed', petId: 5n })).toEqual([5, 0, 'focus'])
  expect(after(at(3), { kind: 'edit', petId: 5n, text: '77' })).toEqual([5, 5, 'reveal 4'])
  const unsaved = (petId: bigint) => (petId === 3n ? '15' : undefined)
  expect(gridStep(at(3), press('Enter'), { ...VIEW, unsaved }).state.editing?.text).toBe('15')
  expect(after(at(3), press('Escape'), { unsaved })).toEqual([3, 0, 'dismiss 3'])
  expect(after(at(4), press('Escape'), { unsaved })).toEqual([4, 0, 'clearSelection'])
})

test('a key that may not change anything reads and goes about, and that is all', () => {
  const view = { mayChange: false }
  for (const key of ['7', '+', 'Enter', 'F2', ' ']) expect(after(at(3), press(key), view)).toEqual([3, 0])
  expect(after(at(3), { kind: 'edit', petId: 5n }, view)).toEqual([3, 0])
  expect(after(at(3), press('ArrowDown'), view)).toEqual([4, 0, 'reveal 3'])
  expect(after(at(3), press('ArrowRight'), view)).toEqual([3, 0, 'open 3'])
})

test.each([
  ['12', { kind: 'set', quantity: 12 }],
  ['+12', { kind: 'add', delta: 12 }],
  [' -3 ', { kind: 'add', delta: -3 }],
  ['−1 200', { kind: 'add', delta: -1200 }],
  ['+++-', { kind: 'step', delta: 2 }],
  ['--', { kind: 'step', delta: -2 }],
  ['+-', { kind: 'step', delta: 0 }],
  ['-0', { kind: 'add', delta: 0 }],
  ['++3', undefined],
  ['3+', undefined],
  ['+9007199254740992', undefined],
  ['1e3', undefined],
] as const)('%j asks for %j', (text, expected) => {
  expect(readChange(text)).toEqual(expected)
})

test.each([
  [4, 4_006_381_333_931, true],
  [10, 1_011, true],
  [10, 1_001, false],
  [30_000_000, 20_000_000_001_831, true],
  [20_000_000_001_831, 20_000_000_001_831, false],
  [0, 1_001, true],
  [0, 1_000, false],
  [11, 1_100, false],
  [5_000, 0, false],
])('from %d to %d is implausible: %p', (before, then, expected) => {
  expect(isImplausible(before, then)).toBe(expected)
})
