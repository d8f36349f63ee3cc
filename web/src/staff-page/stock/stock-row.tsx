// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names its active row
// biome-ignore-all lint/a11y/useSemanticElements: a <table> cannot leave out the rows that are not visible
import { memo, useEffect, useRef, useState } from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import type { EditState, StockEditor } from '../data/stock/stock-editor.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { CategoryName } from '../pet-form/category-name.tsx'
import { Reserved } from '../quantity/reserved.tsx'
import { RowState } from '../quantity/row-state.tsx'
import { StatusBadge } from '../quantity/status-badge.tsx'
import { readChange } from '../quantity/typed-change.ts'
import { wholeNumber } from '../ui/charts/quantity-axis.ts'
import { href } from '../ui/navigation.ts'
import type { Editing, EditorKey } from './grid-machine.ts'
import type { Grid } from './use-grid.ts'

export interface RowActions {
  readonly editor: StockEditor
  readonly input: Grid['input']
  readonly focusGrid: () => void
  readonly toggle: (petId: bigint, isRange: boolean) => void
}

interface Props {
  readonly row: StockRow
  /** The quantity to show, which may not be saved yet. */
  readonly quantity: number
  readonly index: number
  readonly top: number
  readonly isActive: boolean
  readonly isSelected: boolean
  readonly mayChange: boolean
  readonly isLow: boolean
  readonly changedAt: number | undefined
  readonly state: EditState | undefined
  readonly typed: Editing | undefined
  readonly actions: RowActions
}

/** The digits that fit beside the status on a phone. */
const SHORT_ID = 8

export function rowId(petId: bigint): string {
  return `pet-${petId}`
}

export const StockTableRow = memo(function StockTableRow(props: Props) {
  const { row, quantity, index, top, isActive, isSelected, mayChange, isLow, changedAt } = props
  const { state, typed, actions } = props
  const { input } = actions
  const { petId, status, reserved } = row
  const name = row.name ?? `pet ${petId}`
  const free = quantity - reserved
  const classes = ['stock-row']
  if (isActive) classes.push('stock-row--active')
  if (typed !== undefined) classes.push('stock-row--edited')
  if (state !== undefined) classes.push('stock-row--changed', `stock-row--${state.kind}`)
  if (reserved > 0) classes.push('stock-row--reserved')
  if (String(petId).length > SHORT_ID) classes.push('stock-row--long-id')
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the grid do the same
    <div
      id={rowId(petId)}
      role="row"
      aria-rowindex={index + 2}
      aria-label={`${name}, ${wholeNumber(quantity)}${isLow ? ', low' : ''}`}
      aria-selected={isSelected}
      className={classes.join(' ')}
      style={{ top }}
      onClick={() => input({ kind: 'pointed', petId })}
    >
      {changedAt !== undefined && <div key={changedAt} className="stock-row__mark" role="presentation" />}
      <div role="gridcell" className="stock-row__select">
        {mayChange && (
          // A finger may hit the whole cell.
          <label className="stock-row__check">
            <input
              type="checkbox"
              className="checkbox"
              tabIndex={-1}
              aria-label={`Select ${name}`}
              checked={isSelected}
              onClick={(event) => {
                event.stopPropagation()
                // A range includes this row. If it was selected before, nothing is rendered.
                if (event.shiftKey) event.currentTarget.checked = true
                actions.toggle(petId, event.shiftKey)
              }}
              onChange={() => {}}
            />
          </label>
        )}
      </div>
      <div role="gridcell" className="stock-row__name">
        {row.name === undefined ? (
          <span className="skeleton" />
        ) : (
          <a className="list-row__name" href={href({ view: 'pet', petId })} tabIndex={-1}>
            {row.name}
          </a>
        )}
      </div>
      <div role="gridcell" className="stock-row__id number">
        {String(petId)}
      </div>
      <div role="gridcell" className="stock-row__category">
        <CategoryName id={row.categoryId} />
      </div>
      <div role="gridcell" className="stock-row__status">
        <StatusBadge status={status} quantity={quantity} reserved={reserved} />
      </div>
      <div role="gridcell" className="stock-row__state">
        {state === undefined ? (
          <Reserved quantity={quantity} reserved={reserved} />
        ) : (
          <RowState
            petId={petId}
            name={name}
            state={state}
            editor={actions.editor}
            onChosen={actions.focusGrid}
          />
        )}
      </div>
      <div
        role="gridcell"
        className={free > 0 ? 'stock-row__free number' : 'stock-row__free negative number'}
      >
        {wholeNumber(free)}
      </div>
      <div role="gridcell" className="stock-row__quantity">
        {typed === undefined ? (
          <Quantity {...props} name={name} />
        ) : (
          <QuantityEditor key={String(petId)} name={name} editing={typed} input={input} />
        )}
      </div>
    </div>
  )
})

/** The characters that fit between the buttons. */
const SHORT_QUANTITY = 9

function Quantity(props: Props & { readonly name: string }) {
  const { row, name, quantity, isLow: low, mayChange, actions } = props
  const { petId } = row
  const words = wholeNumber(quantity)
  const classes = ['stepper__value', 'number']
  if (quantity === 0) classes.push('stepper__value--none')
  else if (low) classes.push('stepper__value--low')
  if (words.length > SHORT_QUANTITY) classes.push('stepper__value--long')
  const title = quantity === 0 ? 'None in stock' : low ? 'Low stock' : undefined
  const step = (event: MouseEvent, delta: number) => {
    event.stopPropagation()
    actions.input({ kind: 'pointed', petId })
    actions.editor.step(petId, delta)
  }
  const edit = (event: MouseEvent) => {
    event.stopPropagation()
    actions.input({ kind: 'edit', petId })
  }
  if (!mayChange) {
    return (
      <span className={`${classes.join(' ')} stepper__value--fixed`} title={title}>
        {words}
        {low && <span className="visually-hidden">, low</span>}
      </span>
    )
  }
  return (
    <div className="stepper">
      <button
        type="button"
        className="stepper__button"
        tabIndex={-1}
        aria-label={`One less ${name}`}
        disabled={quantity === 0}
        onClick={(event) => step(event, -1)}
      >
        <Icon name="minus" />
      </button>
      <button
        type="button"
        className={classes.join(' ')}
        tabIndex={-1}
        title={title}
        aria-label={`Quantity of ${name}: ${words}${low ? ', low' : ''}. Edit`}
        onClick={edit}
      >
        {words}
      </button>
      <button
        type="button"
        className="stepper__button"
        tabIndex={-1}
        aria-label={`One more ${name}`}
        onClick={(event) => step(event, 1)}
      >
        <Icon name="plus" />
      </button>
    </div>
  )
}

interface EditorProps {
  readonly name: string
  readonly editing: Editing
  readonly input: Grid['input']
}

/** Long enough to type the 1 of `+12`. */
const PAUSE_MS = 500
const KEYS: readonly string[] = ['Enter', 'Escape', 'ArrowUp', 'ArrowDown'] satisfies EditorKey[]

function QuantityEditor({ name, editing, input }: EditorProps) {
  const { text, isTyped } = editing
  const { petId } = editing.row
  const [value, setValue] = useState(text)
  const field = useRef<HTMLInputElement>(null)
  const change = readChange(value)
  const isStep = change?.kind === 'step'

  useEffect(() => {
    const element = field.current
    element?.focus()
    if (isTyped) element?.setSelectionRange(element.value.length, element.value.length)
    else element?.select()
  }, [isTyped])

  useEffect(() => {
    field.current?.setCustomValidity(
      change === undefined ? 'Enter a whole number of 0 or more, or how many more or fewer: +12, -3.' : '',
    )
  }, [change])

  useEffect(() => {
    if (!isStep) return
    const timer = setTimeout(() => input({ kind: 'editorPaused', petId, text: value }), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value, isStep, input, petId])

  const onBlur = () => {
    // If another window has the focus, the field gets it back later.
    if (document.activeElement !== field.current) input({ kind: 'editorLeft', petId, text: value })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation()
    const key = editorKeyOf(event)
    if (key === undefined) return
    event.preventDefault()
    if (change === undefined && key !== 'Escape') field.current?.reportValidity()
    else input({ kind: 'editorKey', key, text: value })
  }

  return (
    <input
      ref={field}
      className="input quantity-editor number"
      // Not `numeric`: on some phones that keyboard has no signs.
      inputMode="tel"
      autoComplete="off"
      aria-label={`Quantity of ${name}`}
      aria-invalid={change === undefined}
      value={value}
      onChange={({ currentTarget }) => setValue(currentTarget.value)}
      onKeyDown={onKeyDown}
      onBlur={onBlur}
    />
  )
}

function editorKeyOf({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent): EditorKey | undefined {
  if (ctrlKey || metaKey || altKey) return undefined
  if (key === 'Tab') return shiftKey ? 'Shift+Tab' : 'Tab'
  return KEYS.includes(key) ? (key as EditorKey) : undefined
}
