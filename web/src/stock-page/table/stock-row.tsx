// biome-ignore-all lint/a11y/useFocusableInteractive: the grid has the focus, and names its active row
// biome-ignore-all lint/a11y/useSemanticElements: a <table> cannot leave out the rows that are not in sight
import { type MouseEvent, memo } from 'react'
import { Icon } from '../../design/icon.tsx'
import { href } from '../navigation.ts'
import { isLow } from '../stock/is-low.ts'
import type { EditState, StockEditor } from '../stock/stock-editor.ts'
import type { StockRow } from '../stock/stock-model.ts'
import { QuantityEditor } from './quantity-editor.tsx'
import { RowState } from './row-state.tsx'
import type { RowEditing } from './use-row-editing.ts'

export interface RowActions {
  readonly editor: StockEditor
  readonly activate: (petId: bigint) => void
  readonly toggle: (petId: bigint, isRange: boolean) => void
  readonly edit: (petId: bigint) => void
  readonly endEditing: RowEditing['end']
}

interface Props {
  readonly row: StockRow
  readonly index: number
  readonly top: number
  readonly isActive: boolean
  readonly isSelected: boolean
  readonly threshold: number
  readonly changedAt: number | undefined
  readonly state: EditState | undefined
  /** What the editor begins with, while this row is edited. */
  readonly typed: { readonly text: string; readonly isTyped: boolean } | undefined
  readonly actions: RowActions
}

/** As many digits fit beside the status on a phone. */
const SHORT_ID = 8

export function rowId(petId: bigint): string {
  return `pet-${petId}`
}

export const StockTableRow = memo(function StockTableRow(props: Props) {
  const { row, index, top, isActive, isSelected, threshold, changedAt, state, typed, actions } = props
  const { petId, status } = row
  const name = row.name ?? `pet ${petId}`
  const shown = state?.kind === 'saving' ? state.target : row.quantity
  const classes = ['stock-row']
  if (isActive) classes.push('stock-row--active')
  if (state !== undefined) classes.push(`stock-row--${state.kind}`)
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
      onClick={() => actions.activate(petId)}
    >
      {changedAt !== undefined && <div key={changedAt} className="stock-row__mark" role="presentation" />}
      <div role="gridcell" className="stock-row__select">
        <input
          type="checkbox"
          className="checkbox"
          tabIndex={-1}
          aria-label={`Select ${name}`}
          checked={isSelected}
          onClick={toggle}
          onChange={() => {}}
        />
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
      <div role="gridcell" className="stock-row__category number">
        <span className="stock-row__label">Category </span>
        {row.categoryId === undefined ? '' : String(row.categoryId)}
      </div>
      <div role="gridcell" className="stock-row__status">
        <span className={`badge badge--${status}`}>{status}</span>
      </div>
      <div role="gridcell" className="stock-row__quantity">
        {typed === undefined ? (
          <Quantity
            row={row}
            name={name}
            shown={shown}
            isLow={isLow({ quantity: shown }, threshold)}
            actions={actions}
          />
        ) : (
          <QuantityEditor
            label={`Quantity of ${name}`}
            text={typed.text}
            isTyped={typed.isTyped}
            onEnd={actions.endEditing}
          />
        )}
      </div>
      <div role="gridcell" className="stock-row__state">
        <RowState petId={petId} name={name} state={state} editor={actions.editor} />
      </div>
    </div>
  )
})

interface QuantityProps {
  readonly row: StockRow
  readonly name: string
  readonly shown: number
  readonly isLow: boolean
  readonly actions: RowActions
}

function Quantity({ row: { petId }, name, shown, isLow: low, actions }: QuantityProps) {
  const words = shown.toLocaleString('en')
  const step = (event: MouseEvent, delta: number) => {
    event.stopPropagation()
    actions.activate(petId)
    void actions.editor.step(petId, delta)
  }
  const edit = (event: MouseEvent) => {
    event.stopPropagation()
    actions.edit(petId)
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
        className={low ? 'stepper__value stepper__value--low number' : 'stepper__value number'}
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
