// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names its active row
// biome-ignore-all lint/a11y/useSemanticElements: a <table> cannot leave out the rows that are not in sight
import { type MouseEvent, memo } from 'react'
import { Icon } from '../../design/icon.tsx'
import type { EditState, StockEditor } from '../data/stock/stock-editor.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { CategoryName } from '../pet-form/category-name.tsx'
import { Reserved } from '../quantity/reserved.tsx'
import { RowState } from '../quantity/row-state.tsx'
import { href } from '../ui/navigation.ts'
import type { Editing } from './grid-machine.ts'
import { QuantityEditor } from './quantity-editor.tsx'
import type { Grid } from './use-grid.ts'

export interface RowActions {
  readonly editor: StockEditor
  readonly input: Grid['input']
  readonly toggle: (petId: bigint, isRange: boolean) => void
}

interface Props {
  readonly row: StockRow
  readonly index: number
  readonly top: number
  readonly isActive: boolean
  readonly isSelected: boolean
  readonly mayChange: boolean
  readonly isLow: boolean
  readonly changedAt: number | undefined
  readonly state: EditState | undefined
  /** While this row is edited. */
  readonly typed: Editing | undefined
  readonly actions: RowActions
}

/** As many digits fit beside the status on a phone. */
const SHORT_ID = 8

export function rowId(petId: bigint): string {
  return `pet-${petId}`
}

export const StockTableRow = memo(function StockTableRow(props: Props) {
  const { row, index, top, isActive, isSelected, mayChange, isLow, changedAt, state, typed, actions } = props
  const { input } = actions
  const { petId, status } = row
  const name = row.name ?? `pet ${petId}`
  const shown = state?.kind === 'saving' ? state.target : row.quantity
  const classes = ['stock-row']
  if (isActive) classes.push('stock-row--active')
  if (typed !== undefined) classes.push('stock-row--edited')
  if (state !== undefined) classes.push(`stock-row--${state.kind}`)
  else if (row.reserved > 0) classes.push('stock-row--reserved')
  if (String(petId).length > SHORT_ID) classes.push('stock-row--long-id')
  const toggle = (event: MouseEvent) => {
    event.stopPropagation()
    actions.toggle(petId, event.shiftKey)
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the grid do the same
    <div
      id={rowId(petId)}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className={classes.join(' ')}
      style={{ top }}
      onClick={() => input({ kind: 'pointed', petId })}
    >
      {changedAt !== undefined && <div key={changedAt} className="stock-row__mark" role="presentation" />}
      <div role="gridcell" className="stock-row__select">
        {mayChange && (
          // The whole cell is there for a finger.
          <label className="stock-row__check">
            <input
              type="checkbox"
              className="checkbox"
              tabIndex={-1}
              aria-label={`Select ${name}`}
              checked={isSelected}
              onClick={toggle}
              onChange={() => {}}
            />
          </label>
        )}
      </div>
      <div role="gridcell" className="stock-row__name">
        {row.name === undefined ? (
          <span className="skeleton stock-row__name-to-come" />
        ) : (
          <a href={href({ view: 'pet', petId })} tabIndex={-1}>
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
        <span className={`badge badge--${status}`}>{status}</span>
      </div>
      <div role="gridcell" className="stock-row__state">
        {state === undefined ? (
          <Reserved quantity={shown} reserved={row.reserved} />
        ) : (
          <RowState petId={petId} name={name} state={state} editor={actions.editor} />
        )}
      </div>
      <div role="gridcell" className="stock-row__quantity">
        {typed === undefined ? (
          <Quantity
            row={row}
            name={name}
            shown={shown}
            isLow={isLow}
            mayChange={mayChange}
            actions={actions}
          />
        ) : (
          <QuantityEditor
            key={String(petId)}
            label={`Quantity of ${name}`}
            text={typed.text}
            isTyped={typed.isTyped}
            onKey={(key, text) => input({ kind: 'editorKey', key, text })}
            onLeave={(text) => input({ kind: 'editorLeft', petId, text })}
            onPause={(text) => input({ kind: 'editorPaused', petId, text })}
          />
        )}
      </div>
    </div>
  )
})

interface QuantityProps {
  readonly row: StockRow
  readonly name: string
  readonly shown: number
  readonly isLow: boolean
  readonly mayChange: boolean
  readonly actions: RowActions
}

/** As many characters fit between the buttons. */
const SHORT_QUANTITY = 9

function Quantity({ row: { petId }, name, shown, isLow: low, mayChange, actions }: QuantityProps) {
  const words = shown.toLocaleString('en')
  const classes = ['stepper__value', 'number']
  if (low) classes.push('stepper__value--low')
  if (words.length > SHORT_QUANTITY) classes.push('stepper__value--long')
  const step = (event: MouseEvent, delta: number) => {
    event.stopPropagation()
    actions.input({ kind: 'pointed', petId })
    void actions.editor.step(petId, delta)
  }
  const edit = (event: MouseEvent) => {
    event.stopPropagation()
    actions.input({ kind: 'edit', petId })
  }
  if (!mayChange) {
    return (
      <span className={`${classes.join(' ')} stepper__value--fixed`}>
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
        disabled={shown === 0}
        onClick={(event) => step(event, -1)}
      >
        <Icon name="minus" />
      </button>
      <button
        type="button"
        className={classes.join(' ')}
        tabIndex={-1}
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
