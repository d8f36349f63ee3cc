import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { scannedIn } from '../scanner/find-pets.ts'
import { type FinderMessage, PetFinder, type PetFinderHandle } from '../scanner/pet-finder.tsx'
import { useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { signed } from '../ui/changes.tsx'
import { askToDiscard } from '../ui/confirm.tsx'
import { Empty } from '../ui/list-frame.tsx'
import { PageNav } from '../ui/page-nav.tsx'
import { PetTableHead } from '../ui/pet-table-head.tsx'
import { ProgressBar } from '../ui/progress-bar.tsx'
import { SegmentedControl } from '../ui/segmented-control.tsx'
import { petsWords } from '../ui/words.ts'
import type { CountDraft, CountHead } from './count-draft.ts'
import { type CountEntry, type CountFilter, isIn, isShown, scopeWords, tallyOf } from './scope.ts'

interface Props {
  readonly count: CountDraft
  readonly head: CountHead
  /** In the order in which they are counted. */
  readonly rows: readonly StockRow[]
  readonly onReview: () => void
}

const FILTERS: readonly { readonly value: CountFilter; readonly label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'uncounted', label: 'Uncounted' },
  { value: 'counted', label: 'Counted' },
  { value: 'differences', label: 'Differences' },
]

/** Counts by scanning, one more with each scan, or down the list with the keyboard. */
export function Counting({ count, head: { scope, isBlind }, rows, onReview }: Props) {
  const { stock } = useSession()
  const { lines: entries } = useReadable(count)
  const [filter, setFilter] = useState<CountFilter>('all')
  const [message, setMessage] = useState<FinderMessage>()
  const finder = useRef<PetFinderHandle>(null)
  const tally = useMemo(() => tallyOf(rows, entries), [rows, entries])
  const report = (problem: string | undefined) =>
    setMessage(problem === undefined ? undefined : { text: problem, isProblem: true })

  const countOne = (petId: bigint) => {
    const total = count.addOne(petId)
    const name = stock.nameOf(petId)
    if (total === undefined) report(`${name} cannot be counted now. Try again in a moment.`)
    else setMessage({ text: `${name}: ${total.toLocaleString('en')} counted`, isProblem: false })
  }
  const pick = (petId: bigint) => {
    const row = stock.find(petId)
    if (row === undefined || isIn(scope)(row) || entries.has(petId)) return countOne(petId)
    const countAnyway = () => {
      countOne(petId)
      finder.current?.focus()
    }
    setMessage({
      text: `${row.name ?? `Pet ${petId}`} is not part of this count.`,
      isProblem: true,
      action: (
        <Button size="small" onClick={countAnyway}>
          Count it too
        </Button>
      ),
    })
  }
  const discard = async () => {
    const effect = 'What you counted is lost. The stock does not change.'
    if (await askToDiscard('Discard this count?', effect)) count.clear()
  }
  const differences = tally.differences.toLocaleString('en')
  const differWords = ` · ${differences} ${tally.differences === 1 ? 'differs' : 'differ'}`
  const options = FILTERS.filter(({ value }) => !isBlind || value !== 'differences')
  return (
    <>
      <div className="cluster view__head">
        <h1>Count {scopeWords(scope)}</h1>
        <span className="cluster">
          <Button tone="quiet" onClick={() => void discard()}>
            Discard
          </Button>
          <Button onClick={() => print()}>Print sheet</Button>
          <Button tone="primary" isDisabled={entries.size === 0} onClick={onReview}>
            Review
          </Button>
        </span>
      </div>
      <p className="muted number" role="status">
        {tally.counted.toLocaleString('en')} of {petsWords(rows.length)} counted
        {tally.differences > 0 && !isBlind && differWords}
      </p>
      <ProgressBar label="Counted" done={tally.counted} total={rows.length} />
      <div className="card card__body stack">
        <PetFinder
          ref={finder}
          label="Scan: each scan counts one more"
          hidesStock={isBlind}
          hint="Or type the numbers down the list: Enter continues with the next pet."
          message={message}
          onMessage={setMessage}
          onPick={pick}
        />
      </div>
      <SegmentedControl
        className="count__filter"
        label="Show"
        options={options.map(({ value, label }) => ({
          value,
          label: `${label} ${tally[value].toLocaleString('en')}`,
        }))}
        value={filter}
        onChange={setFilter}
      />
      <CountList
        key={filter}
        count={count}
        rows={rows}
        filter={filter}
        isBlind={isBlind}
        onScan={(barcode) => finder.current?.findBarcode(barcode)}
        onProblem={report}
      />
    </>
  )
}

/** A phone draws this many fields without a pause. */
const PAGE_SIZE = 100

interface RowActions {
  readonly count: CountDraft
  readonly isBlind: boolean
  readonly onScan: (barcode: string) => void
  /** Reports what is wrong with a typed count, or `undefined` if nothing is. */
  readonly onProblem: (problem: string | undefined) => void
}

interface ListProps extends RowActions {
  readonly rows: readonly StockRow[]
  readonly filter: CountFilter
}

/** The pets with a field for each. Pets stay in the list until another filter is chosen, so that no row moves away. */
function CountList({ rows, filter, ...actions }: ListProps) {
  const { count, isBlind } = actions
  const { stock } = useSession()
  useStock()
  const { lines: entries } = useReadable(count)
  const [page, setPage] = useState(0)
  const list = useRef<HTMLTableSectionElement>(null)
  const focusAfterTurn = useRef<'first' | 'last'>(undefined)
  const matching = useMemo(
    () => rows.filter(({ petId }) => isShown(filter, entries.get(petId))).map(({ petId }) => petId),
    [rows, filter],
  )
  const pages = Math.max(1, Math.ceil(matching.length / PAGE_SIZE))
  const current = Math.min(page, pages - 1)
  const shown = matching.slice(current * PAGE_SIZE, (current + 1) * PAGE_SIZE)

  const fields = () => [...(list.current?.querySelectorAll('input') ?? [])]
  const turnTo = (next: number, focus: 'first' | 'last') => {
    if (next < 0 || next >= pages) return
    focusAfterTurn.current = focus
    setPage(next)
  }
  useEffect(() => {
    if (focusAfterTurn.current === undefined) return
    focusField(fields().at(focusAfterTurn.current === 'first' ? 0 : -1))
    focusAfterTurn.current = undefined
  }, [current])
  const move = (field: HTMLInputElement, step: 1 | -1) => {
    const all = fields()
    const next = all[all.indexOf(field) + step]
    if (next !== undefined) focusField(next)
    else turnTo(current + step, step === 1 ? 'first' : 'last')
  }

  if (matching.length === 0) return <Empty title={EMPTY[filter]} />
  return (
    <div className="card">
      <table className="table work-table">
        <PetTableHead figures={isBlind ? ['Counted'] : ['In stock', 'Counted', 'Differs']} />
        <tbody ref={list}>
          {shown.map((petId) => {
            const row = stock.find(petId)
            if (row === undefined) return null
            return <Row key={String(petId)} row={row} entry={entries.get(petId)} onMove={move} {...actions} />
          })}
        </tbody>
      </table>
      <PageNav
        label="Pages of the list"
        page={current}
        pageSize={PAGE_SIZE}
        total={matching.length}
        onTurn={(next) => turnTo(next, 'first')}
      />
    </div>
  )
}

const EMPTY: Readonly<Record<CountFilter, string>> = {
  all: 'No pets here',
  uncounted: 'Everything is counted',
  counted: 'Nothing is counted yet',
  differences: 'No differences so far',
}

interface RowProps extends RowActions {
  readonly row: StockRow
  readonly entry: CountEntry | undefined
  readonly onMove: (field: HTMLInputElement, step: 1 | -1) => void
}

function Row({ count, row, entry, isBlind, onMove, onScan, onProblem }: RowProps) {
  const { stock } = useSession()
  const [draft, setDraft] = useState<string>()
  const { petId, quantity } = row
  const name = row.name ?? `Pet ${petId}`
  const counted = entry === undefined ? '' : String(entry.quantity)
  const text = draft ?? counted
  const isValid = text.trim() === '' || readQuantity(text) !== undefined
  const save = () => {
    setDraft(undefined)
    if (draft === undefined || draft.trim() === counted) return
    const typed = readQuantity(draft)
    if (draft.trim() === '') count.remove(petId)
    else if (typed !== undefined) count.set(petId, typed)
  }
  const leave = (field: HTMLInputElement, step: 1 | -1) => {
    onProblem(isValid ? undefined : `Enter a whole number of 0 or more for ${name}, or nothing.`)
    if (!isValid) return
    // Saves the count, also in the last row.
    field.blur()
    onMove(field, step)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const field = event.currentTarget
    const scanned = event.key === 'Enter' && draft !== undefined ? scannedIn(stock, draft) : undefined
    if (scanned !== undefined) {
      // A number before the barcode is the count of this pet.
      const before = readQuantity(scanned.before)
      setDraft(undefined)
      if (before !== undefined) count.set(petId, before)
      onScan(scanned.barcode)
    } else if (event.key === 'Enter' || event.key === 'ArrowDown') {
      leave(field, event.shiftKey ? -1 : 1)
    } else if (event.key === 'ArrowUp') leave(field, -1)
    else if (event.key === 'Escape') setDraft(undefined)
    else return
    event.preventDefault()
  }
  return (
    <tr className={entry === undefined ? undefined : 'count__row--done'}>
      <td>
        <span className="list-row__name">{name}</span>{' '}
        <span className="muted small number count__id">#{String(petId)}</span>
      </td>
      {!isBlind && <td className="table__number">{quantity.toLocaleString('en')}</td>}
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
      {!isBlind && (
        <td className="table__number">
          {entry === undefined ? (
            <span className="muted">–</span>
          ) : (
            <EntryState entry={entry} isChanged={count.isChanged(petId, entry)} />
          )}
        </td>
      )}
    </tr>
  )
}

function EntryState({ entry, isChanged }: { readonly entry: CountEntry; readonly isChanged: boolean }) {
  if (entry.isApplied) return <span className="badge badge--positive">Applied</span>
  // The difference would not match the stock that is shown now.
  if (isChanged) return <span className="badge badge--caution">Changed</span>
  const difference = entry.quantity - entry.expected
  if (difference === 0) return <span className="muted number">±0</span>
  return <strong className="caution">{signed(difference)}</strong>
}

function focusField(field: HTMLInputElement | undefined): void {
  field?.focus()
  field?.select()
}
