import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { scannedIn } from '../scanner/find-pets.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { PetTableHead } from '../ui/pet-table-head.tsx'
import type { CountDesk } from './count-desk.ts'
import type { CountEntry } from './kept-count.ts'
import { type CountFilter, differenceWords, isShown } from './tally.ts'

/** As many fields as a phone draws at once without a pause. */
const TO_A_PAGE = 100

interface Props {
  readonly desk: CountDesk
  readonly rows: readonly StockRow[]
  readonly filter: CountFilter
  readonly onScan: (code: string) => void
  /** Told of what was typed and left with Enter: what is wrong with it in words, if anything is. */
  readonly onTyped: (wrong: string | undefined) => void
}

/** The pets with a field for each. Those that a filter shows stay until another is chosen, so that none runs away. */
export function CountList({ desk, rows, filter, onScan, onTyped }: Props) {
  const { stock } = useSession()
  useStock()
  const { entries } = useReadable(desk)
  const [page, setPage] = useState(0)
  const list = useRef<HTMLTableSectionElement>(null)
  const goTo = useRef<'first' | 'last'>(undefined)
  const fitting = useMemo(
    () => rows.filter(({ petId }) => isShown(filter, entries.get(petId))).map(({ petId }) => petId),
    [rows, filter],
  )
  const pages = Math.max(1, Math.ceil(fitting.length / TO_A_PAGE))
  const current = Math.min(page, pages - 1)
  const shown = fitting.slice(current * TO_A_PAGE, (current + 1) * TO_A_PAGE)

  const fields = () => [...(list.current?.querySelectorAll('input') ?? [])]
  const turn = (to: number, end: 'first' | 'last') => {
    if (to < 0 || to >= pages) return
    goTo.current = end
    setPage(to)
  }
  useEffect(() => {
    if (goTo.current === undefined) return
    focusField(goTo.current === 'first' ? fields().at(0) : fields().at(-1))
    goTo.current = undefined
  }, [current])
  const move = (field: HTMLInputElement, step: 1 | -1) => {
    const all = fields()
    const next = all[all.indexOf(field) + step]
    if (next !== undefined) focusField(next)
    else turn(current + step, step === 1 ? 'first' : 'last')
  }

  if (fitting.length === 0) {
    return (
      <div className="empty">
        <p className="empty__title">{EMPTY[filter]}</p>
      </div>
    )
  }
  return (
    <div className="card count__card">
      <table className="table count__table">
        <PetTableHead figures={['In stock', 'Counted', 'Differs']} />
        <tbody ref={list}>
          {shown.map((petId) => {
            const row = stock.find(petId)
            if (row === undefined) return null
            return (
              <Row
                key={String(petId)}
                desk={desk}
                row={row}
                entry={entries.get(petId)}
                onMove={move}
                onScan={onScan}
                onTyped={onTyped}
              />
            )
          })}
        </tbody>
      </table>
      {pages > 1 && (
        <nav className="count__pages" aria-label="Pages of the list">
          <button
            type="button"
            className="button"
            disabled={current === 0}
            onClick={() => setPage(current - 1)}
          >
            Back
          </button>
          <span className="muted number">
            {(current * TO_A_PAGE + 1).toLocaleString('en')} to{' '}
            {(current * TO_A_PAGE + shown.length).toLocaleString('en')} of{' '}
            {fitting.length.toLocaleString('en')}
          </span>
          <button
            type="button"
            className="button"
            disabled={current === pages - 1}
            onClick={() => turn(current + 1, 'first')}
          >
            Next
          </button>
        </nav>
      )}
    </div>
  )
}

const EMPTY: Readonly<Record<CountFilter, string>> = {
  all: 'No pets here',
  uncounted: 'Everything is counted',
  counted: 'Nothing is counted yet',
  differences: 'No differences so far',
}

interface RowProps {
  readonly desk: CountDesk
  readonly row: StockRow
  readonly entry: CountEntry | undefined
  readonly onMove: (field: HTMLInputElement, step: 1 | -1) => void
  readonly onScan: (code: string) => void
  readonly onTyped: (wrong: string | undefined) => void
}

function Row({ desk, row, entry, onMove, onScan, onTyped }: RowProps) {
  const { stock } = useSession()
  const [draft, setDraft] = useState<string>()
  const { petId, quantity } = row
  const name = row.name ?? `Pet ${petId}`
  const known = entry === undefined ? '' : String(entry.quantity)
  const text = draft ?? known
  const isValid = text.trim() === '' || readQuantity(text) !== undefined
  const save = () => {
    setDraft(undefined)
    if (draft === undefined || draft.trim() === known) return
    const counted = readQuantity(draft)
    if (draft.trim() === '') desk.forget(petId)
    else if (counted !== undefined) desk.set(petId, counted)
  }
  const leave = (field: HTMLInputElement, step: 1 | -1) => {
    onTyped(isValid ? undefined : `Enter a whole number of 0 or more for ${name}, or nothing.`)
    if (!isValid) return
    // Which saves it, also in the last row.
    field.blur()
    onMove(field, step)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const field = event.currentTarget
    const scanned = event.key === 'Enter' && draft !== undefined ? scannedIn(stock, draft) : undefined
    if (scanned !== undefined) {
      // What stood there before it is what was counted of this one.
      const before = readQuantity(scanned.before)
      setDraft(undefined)
      if (before !== undefined) desk.set(petId, before)
      onScan(scanned.barcode)
    } else if (event.key === 'Enter' || event.key === 'ArrowDown') {
      leave(field, event.shiftKey ? -1 : 1)
    } else if (event.key === 'ArrowUp') leave(field, -1)
    else if (event.key === 'Escape') setDraft(undefined)
    else return
    event.preventDefault()
  }
  const isChanged = entry !== undefined && desk.isChanged(petId, entry)
  const difference = entry === undefined ? undefined : entry.quantity - entry.expected
  return (
    <tr className={entry === undefined ? undefined : 'count__row--done'}>
      <td className="count__name">
        <span>{name}</span> <span className="muted number count__id">{String(petId)}</span>
      </td>
      <td className="table__number">{quantity.toLocaleString('en')}</td>
      <td className="table__number">
        <input
          className="input number count__field"
          inputMode="numeric"
          autoComplete="off"
          enterKeyHint="next"
          aria-label={`How many ${name} are there`}
          aria-invalid={!isValid}
          value={text}
          onChange={({ currentTarget }) => setDraft(currentTarget.value)}
          onKeyDown={onKeyDown}
          onBlur={save}
        />
      </td>
      <td className="table__number">{stateWords(entry, difference, isChanged)}</td>
    </tr>
  )
}

function stateWords(entry: CountEntry | undefined, difference: number | undefined, isChanged: boolean) {
  if (entry?.isApplied) return <span className="badge badge--positive">Applied</span>
  // The difference is to what it was when it was counted, and would not fit to what it is now.
  if (isChanged) return <span className="badge badge--caution">Changed</span>
  if (difference === undefined) return <span className="muted">–</span>
  if (difference === 0) return <span className="muted number">±0</span>
  return <strong className="count__difference">{differenceWords(difference)}</strong>
}

function focusField(field: HTMLInputElement | undefined): void {
  field?.focus()
  field?.select()
}
