import { memo, useLayoutEffect, useRef, useState } from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import { freeUnits } from '../data/stock/free-units.ts'
import type { EditState } from '../data/stock/stock-editor.ts'
import { petName, type StockRow } from '../data/stock/stock-model.ts'
import { CategoryName } from '../pet-form/category-name.tsx'
import { Reserved } from '../quantity/reserved.tsx'
import { RowState } from '../quantity/row-state.tsx'
import { saveTypedChange } from '../quantity/save-change.ts'
import { StatusBadge } from '../quantity/status-badge.tsx'
import { isImplausible, quantityAfter, readChange } from '../quantity/typed-change.ts'
import { useSession } from '../session/session-context.ts'
import { wholeNumber } from '../ui/charts/quantity-axis.ts'
import { href } from '../ui/navigation.ts'
import { rowId } from './use-pages.ts'
import type { TableActions } from './use-table.ts'

export type TableSize = 'wide' | 'medium' | 'narrow'

export interface RowActions {
  readonly table: TableActions
  /** Focuses this row, or the one that is `step` rows away. */
  readonly goTo: (petId: bigint, step?: number) => void
  /** A quantity is being typed; `undefined` once it is not. */
  readonly onTyping: (petId: bigint | undefined) => void
}

interface Props {
  readonly row: StockRow
  readonly size: TableSize
  /** The quantity to show, which may not be saved yet. */
  readonly quantity: number
  readonly isSelected: boolean
  readonly mayChange: boolean
  readonly isLow: boolean
  /** Somebody else has just changed it. */
  readonly isMarked: boolean
  readonly state: EditState | undefined
  readonly actions: RowActions
}

export const StockTableRow = memo(function StockTableRow(props: Props) {
  const { row, size, quantity, isSelected, mayChange, isMarked, state, actions } = props
  const { editor } = useSession()
  const { petId, status, reserved } = row
  const free = freeUnits({ quantity, reserved })
  const classes = ['stock-row']
  if (isSelected) classes.push('stock-row--selected')
  if (isMarked) classes.push('stock-row--marked')
  if (state !== undefined) classes.push(`stock-row--${state.kind}`)
  const badge = <StatusBadge status={status} quantity={quantity} reserved={reserved} />
  const condition =
    state === undefined ? (
      <Reserved quantity={quantity} reserved={reserved} />
    ) : (
      <RowState
        petId={petId}
        name={petName(row)}
        state={state}
        editor={editor}
        onChosen={() => actions.goTo(petId)}
      />
    )
  return (
    <tr id={rowId(petId)} className={classes.join(' ')}>
      <td className="stock-table__select">
        {mayChange && <Selector row={row} isSelected={isSelected} actions={actions} />}
      </td>
      <td className="stock-table__name">
        {row.name === undefined ? (
          <span className="skeleton" />
        ) : (
          <a className="list-row__name" href={href({ view: 'pet', petId })}>
            {row.name}
          </a>
        )}
        {size !== 'wide' && (
          <span className="stock-table__more">
            {(size === 'medium' || state === undefined) && (
              <span className="muted number">#{String(petId)}</span>
            )}
            {size === 'narrow' && state === undefined && badge}
            {size === 'narrow' && condition}
          </span>
        )}
      </td>
      {size === 'wide' && (
        <>
          <td className="muted number">{String(petId)}</td>
          <td className="stock-table__category muted">
            <CategoryName id={row.categoryId} />
          </td>
          <td>{badge}</td>
        </>
      )}
      {size !== 'narrow' && (
        <>
          <td className="stock-table__state">
            {size === 'medium' && state === undefined && badge}
            {condition}
          </td>
          <td className={free > 0 ? 'table__number' : 'table__number negative'}>{wholeNumber(free)}</td>
        </>
      )}
      <td className="stock-table__quantity">
        <Quantity {...props} />
      </td>
    </tr>
  )
})

function Selector({ row, isSelected, actions }: Pick<Props, 'row' | 'isSelected' | 'actions'>) {
  return (
    // A finger may hit the whole cell.
    <label className="stock-table__check">
      <input
        type="checkbox"
        className="checkbox"
        aria-label={`Select ${petName(row)}`}
        checked={isSelected}
        onClick={(event) => {
          // A range includes this row. If it was selected before, nothing is rendered.
          if (event.shiftKey) event.currentTarget.checked = true
          actions.table.toggle(row.petId, event.shiftKey)
        }}
        onChange={() => {}}
      />
    </label>
  )
}

/** The digits that fit between the buttons. */
const SHORT_QUANTITY: Readonly<Record<TableSize, number>> = { wide: 9, medium: 8, narrow: 4 }

function Quantity(props: Props) {
  const { row, size, quantity, isLow, mayChange } = props
  const { editor } = useSession()
  const name = petName(row)
  const classes = ['stepper', 'number']
  if (quantity === 0) classes.push('stepper--none')
  else if (isLow) classes.push('stepper--low')
  if (String(quantity).length > SHORT_QUANTITY[size]) classes.push('stepper--long')
  const title = quantity === 0 ? 'None in stock' : isLow ? 'Low stock' : undefined
  if (!mayChange) {
    return (
      <span className={classes.join(' ')} title={title}>
        <span className="stepper__value">{wholeNumber(quantity)}</span>
        {isLow && <span className="visually-hidden">, low</span>}
      </span>
    )
  }
  const step = (delta: number) => editor.step(row.petId, delta)
  return (
    <span className={classes.join(' ')}>
      <button
        type="button"
        className="stepper__button"
        tabIndex={-1}
        aria-label={`One less ${name}`}
        disabled={quantity === 0}
        onClick={() => step(-1)}
      >
        <Icon name="minus" />
      </button>
      <span className="stepper__value">
        <QuantityField {...props} title={title} />
      </span>
      <button
        type="button"
        className="stepper__button"
        tabIndex={-1}
        aria-label={`One more ${name}`}
        onClick={() => step(1)}
      >
        <Icon name="plus" />
      </button>
    </span>
  )
}

/**
 * Enter and the arrow keys save and go to another row; leaving the field saves, too. Only over the quantity that the
 * user saw when they began to type.
 */
function QuantityField(props: Props & { readonly title: string | undefined }) {
  const { row, quantity, state, title, actions } = props
  const { petId } = row
  const session = useSession()
  const [draft, setDraft] = useState<string>()
  const seen = useRef(row)
  const field = useRef<HTMLInputElement>(null)
  const isRemoved = useRef(false)
  const change = readChange(draft ?? String(quantity))

  useLayoutEffect(
    () => () => {
      isRemoved.current = true
    },
    [],
  )
  const type = (text: string) => {
    if (draft === undefined) seen.current = row
    actions.onTyping(petId)
    setDraft(text)
  }
  const discard = () => {
    field.current?.setCustomValidity('')
    setDraft(undefined)
    actions.onTyping(undefined)
  }
  const save = async () => {
    if (draft === undefined) return
    discard()
    if (change === undefined) return
    const before = seen.current.quantity
    const after = quantityAfter(before, change)
    // A field that is removed with the view loses the focus. Its question would open over the next view.
    if (after === before || (isRemoved.current && isImplausible(before, after))) return
    if (await saveTypedChange(session, seen.current, change)) return
    setDraft(draft)
    actions.goTo(petId)
  }
  const explain = () => {
    field.current?.setCustomValidity('Enter a whole number of 0 or more, or how many more or fewer: +12, -3.')
    field.current?.reportValidity()
  }
  const leave = (step: 1 | -1) => {
    if (change === undefined) return explain()
    // Saves the quantity, also in the last row.
    field.current?.blur()
    actions.goTo(petId, step)
  }
  const cancel = () => {
    if (draft !== undefined) discard()
    else if (state?.kind === 'failed' || state?.kind === 'conflict') session.editor.dismiss(petId)
    else actions.table.clearSelection()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Enter' || event.key === 'ArrowDown') leave(event.shiftKey ? -1 : 1)
    else if (event.key === 'ArrowUp') leave(-1)
    else if (event.key === 'Escape') cancel()
    else if (event.key === ' ' && draft === undefined) actions.table.toggle(petId, false)
    else return
    event.preventDefault()
  }
  return (
    <input
      ref={field}
      className="input quantity-field number"
      // Not `numeric`: on some phones that keyboard has no signs.
      inputMode="tel"
      autoComplete="off"
      enterKeyHint="next"
      title={title}
      aria-label={`Quantity of ${petName(row)}`}
      aria-invalid={change === undefined}
      data-shortcuts={draft === undefined ? '' : undefined}
      value={draft ?? String(quantity)}
      onFocus={() => actions.table.activate(petId)}
      onClick={({ currentTarget }) => {
        if (draft === undefined) currentTarget.select()
      }}
      onChange={({ currentTarget }) => {
        currentTarget.setCustomValidity('')
        type(currentTarget.value)
      }}
      onKeyDown={onKeyDown}
      onBlur={() => {
        // If another window has the focus, the field gets it back later.
        if (document.activeElement !== field.current) void save()
      }}
    />
  )
}
