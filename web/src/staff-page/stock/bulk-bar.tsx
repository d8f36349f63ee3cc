import type { Reason } from '@petstore/client'
import { type FormEvent, useId, useMemo, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import type { BulkAction, BulkProgress, LeftOut } from '../data/stock/bulk-changes.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { PurposeFields, REASONS_FOR, readReference } from '../quantity/purpose-fields.tsx'
import { undoLastChange } from '../quantity/save-change.ts'
import { isImplausible, readQuantity } from '../quantity/typed-change.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { wholeNumber } from '../ui/charts/quantity-axis.ts'
import { ask } from '../ui/confirm.tsx'
import { href } from '../ui/navigation.ts'
import { ProgressBar } from '../ui/progress-bar.tsx'
import { SegmentedControl } from '../ui/segmented-control.tsx'
import { petsWords } from '../ui/words.ts'
import type { TableActions } from './use-table.ts'

type Kind = BulkAction['kind']

const KINDS: readonly { readonly value: Kind; readonly label: string }[] = [
  { value: 'set', label: 'Set to' },
  { value: 'add', label: 'Add' },
  { value: 'subtract', label: 'Subtract' },
]
/** Fewer rows are changed without a question. */
const ASK_FROM = 100
const MAX_LISTED = 50

interface Props {
  readonly table: TableActions
  readonly rows: readonly StockRow[]
}

/** Changes the selected rows at once. It stays until the user has seen the result. */
export function BulkBar({ table, rows }: Props) {
  const session = useSession()
  const { selected } = useReadable(session.table)
  const progress = useReadable(session.bulk)
  if (progress === undefined) {
    return selected.size === 0 ? null : <Selection table={table} rows={rows} selected={selected} />
  }
  return (
    <section className="card bulk-bar" aria-label="Change several rows">
      {progress.phase === 'done' ? <Summary progress={progress} /> : <Running progress={progress} />}
    </section>
  )
}

function Selection({ table, rows, selected }: Props & { readonly selected: ReadonlySet<bigint> }) {
  const { bulk, stock } = useSession()
  const { structure } = useStock()
  const [kind, setKind] = useState<Kind>('set')
  const [text, setText] = useState('')
  const [chosen, setReason] = useState<Reason>('corrected')
  const [reference, setReference] = useState('')
  const [isTried, setTried] = useState(false)
  const errorId = useId()
  // Pets that were removed since do not count.
  const present = useMemo(
    () => [...selected].flatMap((petId) => stock.find(petId) ?? []),
    [selected, stock, structure],
  )
  const shown = useMemo(() => rows.filter(({ petId }) => selected.has(petId)), [rows, selected])
  const count = present.length
  const hidden = Math.max(0, count - shown.length)
  const amount = readQuantity(text)
  const reasons = REASONS_FOR[kind]
  const reason = reasons.includes(chosen) ? chosen : reasons[0]
  if (count === 0) return null
  const apply = async (change: BulkAction) => {
    const isHuge =
      kind !== 'subtract' &&
      present.some(({ quantity }) =>
        isImplausible(quantity, kind === 'set' ? change.amount : quantity + change.amount),
      )
    if ((count >= ASK_FROM || isHuge) && !(await ask(questionOf(change, count, isHuge)))) return
    await bulk.run(
      change,
      present.map(({ petId }) => petId),
    )
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (amount === undefined) return
    void apply({ kind, amount, purpose: { reason, reference: readReference(reference) } })
  }
  return (
    <section className="card bulk-bar" aria-label="Change several rows">
      <form className="cluster" onSubmit={onSubmit}>
        <strong className="number" role="status">
          {wholeNumber(count)} selected
          {hidden > 0 && `, ${wholeNumber(hidden)} of them not shown`}
        </strong>
        <SegmentedControl label="What to do" options={KINDS} value={kind} onChange={setKind} />
        <input
          className="input bulk-bar__amount number"
          aria-label="Amount"
          inputMode="numeric"
          autoComplete="off"
          placeholder="Amount"
          value={text}
          aria-invalid={isTried && amount === undefined}
          aria-describedby={errorId}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <PurposeFields
          reasons={reasons}
          reason={reason}
          reference={reference}
          onReason={setReason}
          onReference={setReference}
        />
        <Button type="submit" tone="primary">
          Apply to {wholeNumber(count)}
        </Button>
        {hidden > 0 && (
          <Button tone="quiet" onClick={() => table.selectAll(shown)}>
            Leave those out
          </Button>
        )}
        {rows.length > shown.length && (
          <Button tone="quiet" onClick={() => table.selectAll(rows)}>
            Select all {wholeNumber(rows.length)}
          </Button>
        )}
        <Button tone="quiet" icon="close" onClick={table.clearSelection}>
          Clear selection
        </Button>
        <span id={errorId} className="negative small" role="alert">
          {isTried && amount === undefined ? 'Enter a whole number of 0 or more.' : ''}
        </span>
      </form>
    </section>
  )
}

function questionOf({ kind, amount }: BulkAction, count: number, isHuge: boolean) {
  const pets = petsWords(count)
  const titles: Readonly<Record<Kind, string>> = {
    set: `Set ${pets} to ${wholeNumber(amount)}?`,
    add: `Add ${wholeNumber(amount)} to ${pets}?`,
    subtract: `Subtract ${wholeNumber(amount)} from ${pets}?`,
  }
  const warning = isHuge ? [`${wholeNumber(amount)} is far more than there are now.`] : []
  return {
    title: titles[kind],
    text: [...warning, 'You can undo it.'],
    yes: `Change ${wholeNumber(count)}`,
    no: 'Do not change them',
  }
}

function Running({ progress }: { readonly progress: BulkProgress }) {
  const { total, changed, unchanged, leftOut } = progress
  const done = changed + unchanged + leftOut.length
  return (
    <div className="cluster">
      <strong className="number">
        Changing {wholeNumber(done)} of {wholeNumber(total)}
      </strong>
      <div className="grow">
        <ProgressBar label="Rows done" done={done} total={total} />
      </div>
    </div>
  )
}

function Summary({ progress }: { readonly progress: BulkProgress }) {
  const session = useSession()
  const { bulk, table } = session
  const { step, leftOut } = progress
  const end = () => {
    bulk.clear()
    table.set({ ...table.get(), selected: new Set() })
  }
  // Undo takes back the last change, which may be another one by now.
  const canUndo = useReadable(session.undo).at(-1) === step && step !== undefined
  return (
    <>
      <div className="cluster">
        <strong role="status">{summaryOf(progress)}</strong>
        {canUndo && <Button onClick={() => void undoLastChange(session)}>Undo</Button>}
        <Button tone="primary" onClick={end}>
          Done
        </Button>
      </div>
      {leftOut.length > 0 && <LeftOutList leftOut={leftOut} />}
    </>
  )
}

function LeftOutList({ leftOut }: { readonly leftOut: readonly LeftOut[] }) {
  const { stock } = useSession()
  const rest = leftOut.length - MAX_LISTED
  return (
    <ul className="bulk-bar__left-out">
      {leftOut.slice(0, MAX_LISTED).map(({ petId, reason }) => (
        <li key={String(petId)}>
          <a href={href({ view: 'pet', petId })}>{stock.nameOf(petId)}</a> {reason}
        </li>
      ))}
      {rest > 0 && <li className="muted">and {wholeNumber(rest)} more</li>}
    </ul>
  )
}

/** Every pet is in exactly one of the counts. */
function summaryOf({ changed, unchanged, leftOut }: BulkProgress): string {
  const parts: [number, string][] = [
    [unchanged, 'had that quantity already'],
    [leftOut.length, 'not changed'],
  ]
  const rest = parts.filter(([count]) => count > 0).map(([count, what]) => `${wholeNumber(count)} ${what}`)
  return [`${wholeNumber(changed)} changed`, ...rest].join(' · ')
}
