import { useMemo, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { type FinderMessage, PetFinder, type PetFinderHandle } from '../scanner/pet-finder.tsx'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { ask } from '../ui/confirm.tsx'
import { SegmentedControl } from '../ui/segmented-control.tsx'
import { petsWords } from '../ui/words.ts'
import type { CountDraft, CountHead } from './count-draft.ts'
import { CountList } from './count-list.tsx'
import { type CountFilter, isIn, scopeWords, tallyOf } from './scope.ts'

interface Props {
  readonly count: CountDraft
  readonly head: CountHead
  /** In the order in which they are counted. */
  readonly rows: readonly StockRow[]
  readonly onReview: () => void
}

const FILTERS: readonly { readonly filter: CountFilter; readonly label: string }[] = [
  { filter: 'all', label: 'All' },
  { filter: 'uncounted', label: 'Uncounted' },
  { filter: 'counted', label: 'Counted' },
  { filter: 'differences', label: 'Differences' },
]

/** Counts by scanning, one more with each scan, or down the list with the keyboard. */
export function Counting({ count, head: { scope, isBlind }, rows, onReview }: Props) {
  const { stock } = useSession()
  const { lines: entries, version } = useReadable(count)
  const [filter, setFilter] = useState<CountFilter>('all')
  const [message, setMessage] = useState<FinderMessage>()
  const finder = useRef<PetFinderHandle>(null)
  const tally = useMemo(() => tallyOf(rows, entries), [rows, entries, version])
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
    if (await ask(DISCARD_QUESTION)) count.clear()
  }
  const differences = tally.differences.toLocaleString('en')
  const differWords = ` · ${differences} ${tally.differences === 1 ? 'differs' : 'differ'}`
  const options = FILTERS.filter((option) => !isBlind || option.filter !== 'differences')
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
      <div
        className="bar"
        role="progressbar"
        aria-label="Counted"
        aria-valuemin={0}
        aria-valuemax={rows.length}
        aria-valuenow={tally.counted}
      >
        <div
          className="bar__fill"
          style={{ width: `${rows.length === 0 ? 0 : (100 * tally.counted) / rows.length}%` }}
        />
      </div>
      <div className="card card__body stack">
        <PetFinder
          ref={finder}
          label="Scan: each scan counts one more"
          hint="Or type the numbers down the list: Enter continues with the next pet."
          message={message}
          onMessage={setMessage}
          onPick={pick}
        />
      </div>
      <SegmentedControl
        className="count__filter"
        label="Show"
        options={options.map((option) => ({
          value: option.filter,
          label: `${option.label} ${tally[option.filter].toLocaleString('en')}`,
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
        onScan={(barcode) => finder.current?.find(barcode)}
        onProblem={report}
      />
    </>
  )
}

const DISCARD_QUESTION = {
  title: 'Discard this count?',
  text: ['What you counted is lost. The stock does not change.'],
  yes: 'Discard',
  no: 'Keep it',
}
