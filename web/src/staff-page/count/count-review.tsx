import { type FormEvent, useId } from 'react'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { useRequestState, useSession, useStock } from '../session/session-context.ts'
import { PetTableHead } from '../ui/pet-table-head.tsx'
import { petsWords } from '../ui/words.ts'
import { ChangedSince } from './changed-since.tsx'
import type { CountDesk } from './count-desk.ts'
import type { AppliedBatch, CountEntry, CountHead } from './kept-count.ts'
import { differenceWords } from './tally.ts'

/** Shorter than the service allows, so that an undo has room to name it. */
const MAX_REFERENCE_LENGTH = 190
const MAX_LISTED = 500

interface Props {
  readonly desk: CountDesk
  readonly head: CountHead
  /** Which pets, in their order; what they have now, the stock says. */
  readonly rows: readonly StockRow[]
  readonly onBack: () => void
}

interface Counted {
  readonly row: StockRow
  readonly entry: CountEntry
}

/** What would change, what has changed meanwhile, and what was applied. */
export function CountReview({ desk, head, rows, onBack }: Props) {
  const { entries, applying, failure } = useReadable(desk)
  const { stock } = useSession()
  const { connection } = useStock()
  const { isUnreachable } = useRequestState()
  const id = useId()
  const counted = rows.flatMap(({ petId }): Counted[] => {
    const entry = entries.get(petId)
    const row = stock.find(petId)
    return entry === undefined || row === undefined ? [] : [{ row, entry }]
  })
  const changed = counted.filter(({ row, entry }) => desk.isChanged(row.petId, entry))
  const open = counted.filter(({ row, entry }) => !entry.isApplied && !desk.isChanged(row.petId, entry))
  const different = open.filter(({ entry }) => entry.quantity !== entry.expected)
  const uncounted = rows.length - counted.length
  const isOffline = connection === 'lost' || isUnreachable
  const isDone = open.length === 0 && changed.length === 0 && head.sent === undefined
  const canApply = (open.length > 0 || head.sent !== undefined) && applying === undefined && !isOffline
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (canApply) void desk.apply()
  }
  return (
    <>
      <div className="count__head">
        <div>
          <h1>Review the count</h1>
          <p className="muted number" role="status">
            {petsWords(counted.length)} counted
            {uncounted > 0 && uncountedWords(uncounted)}
          </p>
        </div>
        <div className="count__tools">
          <button type="button" className="button" disabled={applying !== undefined} onClick={onBack}>
            {isDone && uncounted === 0 ? 'Back' : 'Go on counting'}
          </button>
          {isDone && head.applied.length > 0 && (
            <button type="button" className="button button--primary" onClick={() => desk.end()}>
              Finish
            </button>
          )}
        </div>
      </div>
      {failure !== undefined && (
        <p className="notice notice--negative" role="alert">
          {failure}
        </p>
      )}
      <Applied applied={head.applied} />
      {changed.length > 0 && <ChangedSince desk={desk} changed={changed} />}
      {!isDone && (
        <form className="card count__apply" onSubmit={onSubmit} aria-label="Apply the count">
          <div className="field count__reference">
            <label className="field__label" htmlFor={`${id}-reference`}>
              Reference
            </label>
            <input
              id={`${id}-reference`}
              className="input"
              autoComplete="off"
              placeholder="Such as Stocktake November"
              maxLength={MAX_REFERENCE_LENGTH}
              value={head.reference}
              onChange={({ currentTarget }) => desk.setReference(currentTarget.value)}
            />
          </div>
          <button type="submit" className="button button--primary" aria-disabled={!canApply}>
            {applying !== undefined && <span className="spinner" aria-hidden="true" />}
            {applyWords(open.length, head, applying)}
          </button>
          {isOffline && (
            <p className="field__hint">
              There is no connection. The count is kept; apply it when it is back.
            </p>
          )}
        </form>
      )}
      {different.length > 0 && <Differences different={different} />}
      {open.length > different.length && (
        <p className="muted number">
          {petsWords(open.length - different.length)} {open.length - different.length === 1 ? 'is' : 'are'} as
          the stock says.
        </p>
      )}
    </>
  )
}

function uncountedWords(uncounted: number): string {
  return uncounted === 1
    ? ', 1 not: it stays as it is'
    : `, ${uncounted.toLocaleString('en')} not: they stay as they are`
}

function applyWords(
  open: number,
  { sent }: CountHead,
  applying: { readonly done: number; readonly total: number } | undefined,
): string {
  if (applying !== undefined) {
    return `Applying ${applying.done.toLocaleString('en')} of ${applying.total.toLocaleString('en')}`
  }
  return sent === undefined ? `Apply ${petsWords(open)}` : 'Apply it again'
}

function Differences({ different }: { readonly different: readonly Counted[] }) {
  const rest = different.length - MAX_LISTED
  const sum = different.reduce((total, { entry }) => total + entry.quantity - entry.expected, 0)
  return (
    <div className="card count__card">
      <div className="card__header">
        <h2 className="count__title">Differences</h2>
        <span className="muted number">
          {petsWords(different.length)}, {differenceWords(sum)} together
        </span>
      </div>
      <table className="table count__table">
        <PetTableHead figures={['In stock', 'Counted', 'Differs']} />
        <tbody>
          {different.slice(0, MAX_LISTED).map(({ row: { petId, name }, entry: { quantity, expected } }) => (
            <tr key={String(petId)}>
              <td className="count__name">{name ?? `Pet ${petId}`}</td>
              <td className="table__number">{expected.toLocaleString('en')}</td>
              <td className="table__number">{quantity.toLocaleString('en')}</td>
              <td className="table__number">
                <strong className="count__difference">{differenceWords(quantity - expected)}</strong>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rest > 0 && <p className="muted count__rest">and {rest.toLocaleString('en')} more</p>}
    </div>
  )
}

/** A request takes 1,000 pets: each says what it did. */
function Applied({ applied }: { readonly applied: readonly AppliedBatch[] }) {
  if (applied.length === 0) return null
  const pets = applied.reduce((sum, one) => sum + one.pets, 0)
  const corrected = applied.reduce((sum, one) => sum + one.corrected, 0)
  return (
    <div className="notice notice--accent count__applied" role="status">
      <strong>
        {petsWords(pets)} applied, {correctedWords(pets, corrected)}.
      </strong>
      {applied.length > 1 && (
        <ul className="number">
          {applied.map(({ at, pets, corrected, difference }, index) => (
            <li key={`${at}-${index}`}>
              Adjustment {index + 1}: {petsWords(pets)}, {corrected.toLocaleString('en')} corrected by{' '}
              {differenceWords(difference)}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function correctedWords(pets: number, corrected: number): string {
  if (pets === 1) return corrected === 1 ? 'and corrected' : 'which was right'
  return `${corrected.toLocaleString('en')} of them corrected`
}
