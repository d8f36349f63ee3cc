import { MAX_LENGTHS } from '@petstore/client'
import type { FormEvent, ReactNode } from 'preact/compat'
import { lateWords } from '../data/late-words.ts'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { showToast } from '../data/toasts.ts'
import { askImplausible } from '../quantity/ask-implausible.ts'
import { isImplausible } from '../quantity/typed-change.ts'
import { UndoAdjustment } from '../quantity/undo-adjustment.tsx'
import { findScanned } from '../scanner/scan-layer.tsx'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { signed } from '../ui/changes.tsx'
import { TextField } from '../ui/field.tsx'
import { PetTableHead } from '../ui/pet-table-head.tsx'
import { useScan } from '../ui/scanner.ts'
import { petsWords } from '../ui/words.ts'
import { type AppliedBatch, type CountDraft, type Resolution, withChange } from './count-draft.ts'
import type { CountEntry } from './scope.ts'

const MAX_LISTED = 500

interface Props {
  readonly count: CountDraft
  readonly reference: string
  /** In the order in which they are counted. */
  readonly rows: readonly StockRow[]
  readonly isOffline: boolean
  readonly onBack: () => void
}

interface CountedPet {
  readonly row: StockRow
  readonly entry: CountEntry
}

/** Shows the differences, the pets whose stock has changed since, and the adjustments that were made. */
export function CountReview({ count, reference, rows, isOffline, onBack }: Props) {
  const { lines: entries, refusal } = useReadable(count)
  const progress = useReadable(count.progress)
  const session = useSession()
  const { stock } = session
  const counted = rows.flatMap(({ petId }): CountedPet[] => {
    const entry = entries.get(petId)
    const row = stock.find(petId)
    return entry === undefined || row === undefined ? [] : [{ row, entry }]
  })
  const changed = counted.filter(({ row, entry }) => count.isChanged(row.petId, entry))
  const open = counted.filter(({ row, entry }) => !entry.isApplied && !count.isChanged(row.petId, entry))
  const different = open.filter(({ entry }) => entry.quantity !== entry.expected)
  const appliedCount = counted.length - changed.length - open.length
  const uncounted = rows.length - counted.length
  const isBusy = progress !== undefined
  const isDone = open.length === 0 && changed.length === 0
  const canApply = open.length > 0 && !isBusy && !isOffline
  // A scan resumes counting.
  useScan((barcode) => {
    void findScanned(session, barcode, (petId) => {
      const isCounted = rows.some((row) => row.petId === petId) && count.addOne(petId) !== undefined
      if (isCounted) onBack()
      else showToast({ name: 'scan', tone: 'negative', text: 'This pet is not part of the count.' })
    })
  })
  const apply = async () => {
    const implausible = different.filter(({ entry }) => isImplausible(entry.expected, entry.quantity))
    const lines = implausible.map(({ row: { petId, name }, entry: { quantity, expected } }) => {
      const figures = `${quantity.toLocaleString('en')} counted, ${expected.toLocaleString('en')} expected`
      return `${name ?? `Pet ${petId}`}: ${figures}.`
    })
    if (await askImplausible(lines, 'Apply them')) await count.apply()
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (canApply) void apply()
  }
  return (
    <>
      <div className="cluster view__head">
        <h1>Review the count</h1>
        <Button isDisabled={isBusy} onClick={onBack}>
          {isDone && uncounted === 0 ? 'Back' : 'Resume counting'}
        </Button>
        {isDone && appliedCount > 0 && (
          <Button tone="primary" onClick={() => count.clear()}>
            Finish
          </Button>
        )}
      </div>
      <p className="muted number" role="status">
        {petsWords(counted.length)} counted
        {uncounted > 0 && uncountedWords(uncounted)}
      </p>
      {!isBusy && refusal !== undefined && refusal.message !== '' && (
        <p className="notice notice--negative" role="alert">
          {refusal.message}
        </p>
      )}
      <AppliedNotice count={count} pets={appliedCount} />
      {changed.length > 0 && <ChangedPets count={count} changed={changed} />}
      {!isDone && (
        <form
          className="card card__body cluster cluster--fields"
          onSubmit={onSubmit}
          aria-label="Apply the count"
        >
          <TextField
            className="grow"
            label="Reference"
            placeholder="Such as Stocktake November"
            maxLength={MAX_LENGTHS.InventoryAdjustment.reference}
            value={reference}
            onChange={(text) => count.setReference(text)}
          />
          <Button type="submit" tone="primary" isBusy={isBusy} isDisabled={!canApply}>
            {progress === undefined
              ? `Apply ${petsWords(open.length)}`
              : `Applying ${progress.done.toLocaleString('en')} of ${progress.total.toLocaleString('en')}`}
          </Button>
          {isOffline && (
            <p className="muted small">
              There is no connection. The count is kept; apply it when the connection is back.
            </p>
          )}
        </form>
      )}
      {different.length > 0 && <Differences different={different} />}
      {open.length > different.length && (
        <p className="muted number">
          {petsWords(open.length - different.length)} {open.length - different.length === 1 ? 'is' : 'are'} as
          expected.
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

function Differences({ different }: { readonly different: readonly CountedPet[] }) {
  const sum = different.reduce((total, { entry }) => total + entry.quantity - entry.expected, 0)
  return (
    <div className="card">
      <div className="card__header">
        <h2>Differences</h2>
        <span className="muted number">
          {petsWords(different.length)}, {signed(sum)} together
        </span>
      </div>
      <table className="table work-table">
        <PetTableHead figures={['In stock', 'Counted', 'Differs']} />
        <tbody>
          {different.slice(0, MAX_LISTED).map(({ row: { petId, name }, entry: { quantity, expected } }) => (
            <tr key={String(petId)}>
              <td className="list-row__name">{name ?? `Pet ${petId}`}</td>
              <td className="table__number">{expected.toLocaleString('en')}</td>
              <td className="table__number">{quantity.toLocaleString('en')}</td>
              <td className="table__number">
                <strong className="caution">{signed(quantity - expected)}</strong>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <MorePets count={different.length - MAX_LISTED} />
    </div>
  )
}

function MorePets({ count }: { readonly count: number }) {
  return count <= 0 ? null : <p className="muted card__body">and {count.toLocaleString('en')} more</p>
}

/** An adjustment has at most 1,000 pets, so a large count is made by several. Each can be undone. */
function AppliedNotice({ count, pets }: { readonly count: CountDraft; readonly pets: number }) {
  const { stock } = useSession()
  const applied = useReadable(count.applied)
  if (pets === 0) return null
  const corrected = applied.reduce((sum, batch) => sum + correctedIn(batch).length, 0)
  return (
    <div className="notice notice--accent stack" role="status">
      <strong>
        {petsWords(pets)} applied{applied.length > 0 && `, ${corrected.toLocaleString('en')} corrected`}.
      </strong>
      <ul className="stack number">
        {applied.map((batch, index) => (
          <li key={String(batch.changes[0]?.adjustmentId)} className="cluster">
            Adjustment {index + 1}: {adjustmentWords(batch, (petId) => stock.nameOf(petId))}
            {batch.changes[0]?.adjustmentId !== undefined && (
              <UndoAdjustment
                what={`adjustment ${index + 1}`}
                adjustmentId={batch.changes[0].adjustmentId}
                onUndone={() => count.reopen(batch)}
              />
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

function correctedIn({ changes }: AppliedBatch): AppliedBatch['changes'] {
  return changes.filter(({ before, after }) => before !== after)
}

function adjustmentWords(batch: AppliedBatch, nameOf: (petId: bigint) => string): string {
  const corrected = correctedIn(batch)
  const difference = corrected.reduce((sum, { before, after }) => sum + after - before, 0)
  const correctedWords = `${corrected.length.toLocaleString('en')} corrected by ${signed(difference)}`
  const late = lateWords(batch.changes, nameOf)
  return `${petsWords(batch.changes.length)}, ${correctedWords}${late === undefined ? '' : `. ${late}`}`
}

interface ChangedProps {
  readonly count: CountDraft
  readonly changed: readonly CountedPet[]
}

/** Pets that were sold or arrived between counting and applying. The user decides about each. */
function ChangedPets({ count, changed }: ChangedProps) {
  const petIds = changed.map(({ row }) => row.petId)
  const resolveAll = (resolution: Resolution) => () => count.resolve(petIds, resolution)
  return (
    <section className="card" aria-label="Changed since it was counted">
      <div className="card__header">
        <h2>Changed since it was counted</h2>
        {changed.length > 1 && (
          <span className="cluster">
            All of them:
            <Choice onChoose={resolveAll('keep the change')}>Changed after counting</Choice>
            <Choice onChoose={resolveAll('as counted')}>As counted</Choice>
            <Choice onChoose={resolveAll('count again')}>Count again</Choice>
          </span>
        )}
      </div>
      <ul>
        {changed.slice(0, MAX_LISTED).map(({ row, entry }) => (
          <ChangedPet key={String(row.petId)} count={count} row={row} entry={entry} />
        ))}
      </ul>
      <MorePets count={changed.length - MAX_LISTED} />
    </section>
  )
}

function ChangedPet({ count, row, entry }: CountedPet & { readonly count: CountDraft }) {
  const { petId, quantity: now } = row
  const { quantity, expected } = entry
  const name = row.name ?? `Pet ${petId}`
  const changed = withChange(entry, now)
  const resolve = (resolution: Resolution) => () => count.resolve([petId], resolution)
  return (
    <li className="list-row count__changed">
      <span>
        <strong>{name}</strong>
        <br />
        <span className="number">
          You counted {quantity.toLocaleString('en')} when the stock was {expected.toLocaleString('en')}; it
          is {now.toLocaleString('en')} now.
        </span>
      </span>
      <span className="cluster">
        {changed !== undefined && changed !== quantity && (
          <Choice name={name} onChoose={resolve('keep the change')}>
            Changed after counting: {changed.toLocaleString('en')}
          </Choice>
        )}
        <Choice name={name} onChoose={resolve('as counted')}>
          As counted: {quantity.toLocaleString('en')}
        </Choice>
        <Choice name={name} onChoose={resolve('count again')}>
          Count again
        </Choice>
      </span>
    </li>
  )
}

interface ChoiceProps {
  /** The name of the pet, unless the choice is for all pets. */
  readonly name?: string
  readonly onChoose: () => void
  readonly children: ReactNode
}

function Choice({ name, onChoose, children }: ChoiceProps) {
  return (
    <Button size="small" onClick={onChoose}>
      {children}
      {name !== undefined && <span className="visually-hidden"> for {name}</span>}
    </Button>
  )
}
