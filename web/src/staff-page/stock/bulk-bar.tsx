import type { Reason } from '@petstore/client'
import { type FormEvent, useId, useMemo, useState } from 'react'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { PurposeFields, readReference } from '../quantity/purpose-fields.tsx'
import { readQuantity } from '../quantity/typed-change.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { ask } from '../ui/confirm.tsx'
import { ASK_FROM, type BulkChange, bulkQuestion } from './bulk-question.ts'
import { BulkResult } from './bulk-result.tsx'
import type { TableActions } from './use-table.ts'

type Kind = BulkChange['kind']

const KINDS: Readonly<Record<Kind, string>> = { set: 'Set to', add: 'Add', subtract: 'Subtract' }

/** Those that fit, the one that is right unless somebody says more at the head. */
const REASONS: Readonly<Record<Kind, readonly [Reason, ...Reason[]]>> = {
  set: ['corrected', 'counted', 'received', 'returned', 'sold', 'damaged', 'lost'],
  add: ['corrected', 'received', 'returned'],
  subtract: ['corrected', 'sold', 'damaged', 'lost'],
}

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
  return <Selection table={table} rows={rows} selected={selected} />
}

function Selection({ table, rows, selected }: Props & { readonly selected: ReadonlySet<bigint> }) {
  const { bulk, stock, client, requests } = useSession()
  const { structure } = useStock()
  // Pets that were removed since do not count; none is removed without another structure.
  const present = useMemo(
    () => [...selected].filter((petId) => stock.find(petId) !== undefined),
    [selected, stock, structure],
  )
  const count = present.length
  const shown = useMemo(() => rows.filter(({ petId }) => selected.has(petId)), [rows, selected])
  if (count === 0) return null
  const apply = async (action: BulkChange) => {
    if (count >= ASK_FROM) {
      const limits = await client.limits.get().catch(() => undefined)
      if (!(await ask(bulkQuestion(action, count, limits, requests.clock.now())))) return
    }
    await bulk.run(action, present)
  }
  return (
    <section className="bulk-bar" aria-label="Change several rows">
      <BulkForm
        count={count}
        hidden={Math.max(0, count - shown.length)}
        all={rows.length}
        onApply={(action) => void apply(action)}
        onClear={table.clearSelection}
        onLeaveOutHidden={() => table.selectAll(shown)}
        onSelectAll={() => table.selectAll(rows)}
      />
    </section>
  )
}

interface FormProps {
  readonly count: number
  /** How many of those are not among the rows shown, as after another search. */
  readonly hidden: number
  /** How many rows are shown. */
  readonly all: number
  readonly onApply: (action: BulkChange) => void
  readonly onClear: () => void
  readonly onLeaveOutHidden: () => void
  readonly onSelectAll: () => void
}

function BulkForm({ count, hidden, all, onApply, onClear, onLeaveOutHidden, onSelectAll }: FormProps) {
  const [kind, setKind] = useState<Kind>('set')
  const [text, setText] = useState('')
  const [chosen, setReason] = useState<Reason>('corrected')
  const [reference, setReference] = useState('')
  const [isTried, setTried] = useState(false)
  const id = useId()
  const amount = readQuantity(text)
  const reasons = REASONS[kind]
  const reason = reasons.includes(chosen) ? chosen : reasons[0]
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (amount === undefined) return
    onApply({ kind, amount, purpose: { reason, reference: readReference(reference) } })
  }
  return (
    <form className="bulk-bar__form" onSubmit={onSubmit}>
      <strong className="bulk-bar__count number" role="status">
        {count.toLocaleString('en')} selected
        {hidden > 0 && `, ${hidden.toLocaleString('en')} of them not shown`}
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
      <PurposeFields {...{ reasons, reason, reference, onReason: setReason, onReference: setReference }} />
      <button type="submit" className="button button--primary">
        Apply to {count.toLocaleString('en')}
      </button>
      {hidden > 0 && (
        <button type="button" className="button button--quiet" onClick={onLeaveOutHidden}>
          Leave those out
        </button>
      )}
      {all > count - hidden && (
        <button type="button" className="button button--quiet" onClick={onSelectAll}>
          Select all {all.toLocaleString('en')}
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
