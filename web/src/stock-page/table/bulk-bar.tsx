import { type FormEvent, useId, useState } from 'react'
import { Icon } from '../../design/icon.tsx'
import { useSession } from '../session/session-context.ts'
import type { BulkAction } from '../stock/bulk-changes.ts'
import { useReadable } from '../stock/observable.ts'
import type { StockRow } from '../stock/stock-model.ts'
import { BulkResult } from './bulk-result.tsx'
import { readQuantity } from './quantity-editor.tsx'
import type { TableActions } from './use-table.ts'

type Kind = Exclude<BulkAction['kind'], 'undo'>

const KINDS: Readonly<Record<Kind, string>> = { set: 'Set to', add: 'Add', subtract: 'Subtract' }

interface Props {
  readonly table: TableActions
  /** Those shown. */
  readonly rows: readonly StockRow[]
}

/** Stands below the table while rows are selected, and while and after several are changed at once. */
export function BulkBar({ table, rows }: Props) {
  const session = useSession()
  const { selected } = useReadable(session.table)
  const progress = useReadable(session.bulk)
  if (progress !== undefined) {
    return (
      <section className="bulk-bar" aria-label="Change several rows">
        <BulkResult progress={progress} />
      </section>
    )
  }
  if (selected.size === 0) return null
  return (
    <section className="bulk-bar" aria-label="Change several rows">
      <BulkForm
        count={selected.size}
        onApply={(action) => void session.bulk.run(action, selected)}
        onClear={table.clearSelection}
        others={rows.length - selected.size}
        onSelectAll={() => table.selectAll(rows)}
      />
    </section>
  )
}

interface FormProps {
  readonly count: number
  readonly onApply: (action: BulkAction) => void
  readonly onClear: () => void
  /** How many of the rows shown are not selected; below 0 where some that are selected are not shown. */
  readonly others: number
  readonly onSelectAll: () => void
}

function BulkForm({ count, onApply, onClear, others, onSelectAll }: FormProps) {
  const [kind, setKind] = useState<Kind>('set')
  const [text, setText] = useState('')
  const [isTried, setTried] = useState(false)
  const id = useId()
  const amount = readQuantity(text)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (amount !== undefined) onApply({ kind, amount })
  }
  return (
    <form className="bulk-bar__form" onSubmit={onSubmit}>
      <strong className="bulk-bar__count number" role="status">
        {count.toLocaleString('en')} selected
      </strong>
      <fieldset className="segmented">
        <legend className="visually-hidden">What to do</legend>
        {Object.entries(KINDS).map(([name, label]) => (
          <button
            key={name}
            type="button"
            className="segmented__option"
            aria-pressed={kind === name}
            onClick={() => setKind(name as Kind)}
          >
            {label}
          </button>
        ))}
      </fieldset>
      <label htmlFor={id} className="visually-hidden">
        Amount
      </label>
      <input
        id={id}
        className="input bulk-bar__amount number"
        inputMode="numeric"
        autoComplete="off"
        placeholder="Amount"
        value={text}
        aria-invalid={isTried && amount === undefined}
        aria-describedby={`${id}-error`}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="submit" className="button button--primary">
        Apply to {count.toLocaleString('en')}
      </button>
      {others > 0 && (
        <button type="button" className="button button--quiet" onClick={onSelectAll}>
          Select all {(count + others).toLocaleString('en')}
        </button>
      )}
      <button type="button" className="button button--quiet" onClick={onClear}>
        <Icon name="close" />
        Clear selection
      </button>
      <span id={`${id}-error`} className="field__error" role="alert">
        {isTried && amount === undefined ? 'Enter a whole number of 0 or more.' : ''}
      </span>
    </form>
  )
}
