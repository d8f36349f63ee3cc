import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { PetFinder, type PetFinderHandle } from '../scanner/pet-finder.tsx'
import { useScan } from '../scanner/scanner.ts'
import { useTypingInto } from '../scanner/use-typing-into.ts'
import { useLostFocus } from '../ui/hooks.ts'
import { petsWords } from '../ui/words.ts'
import type { CountDesk } from './count-desk.ts'
import { CountList } from './count-list.tsx'
import type { CountHead } from './kept-count.ts'
import { isIn, scopeWords } from './scope.ts'
import { type CountFilter, FILTERS, tallyOf } from './tally.ts'

interface Props {
  readonly desk: CountDesk
  readonly head: CountHead
  /** In the order in which they are counted. */
  readonly rows: readonly StockRow[]
  readonly onReview: () => void
}

interface Said {
  readonly words: string
  readonly isTrouble: boolean
  /** One that is not meant to be counted. */
  readonly beyond?: StockRow
}

/** Scanning, each scan one more; or down the list with the keyboard. */
export function Counting({ desk, head, rows, onReview }: Props) {
  const { entries, version } = useReadable(desk)
  const [filter, setFilter] = useState<CountFilter>('all')
  const [said, setSaid] = useState<Said>()
  const [isEnding, setEnding] = useState(false)
  const finder = useRef<PetFinderHandle>(null)
  const focusFinder = useCallback(() => finder.current?.focus(), [])
  const safe = useRef<HTMLButtonElement>(null)
  useTypingInto(focusFinder)
  useScan((barcode) => finder.current?.take(barcode))
  useLostFocus(safe, isEnding)
  useEffect(() => {
    // On a touch screen the keyboard would cover half of it before anybody asked for it.
    if (matchMedia('(pointer: fine)').matches) focusFinder()
  }, [focusFinder])
  const tally = useMemo(() => tallyOf(rows, entries), [rows, entries, version])

  const countOne = (row: StockRow, isMeant = isIn(head.scope)(row) || entries.has(row.petId)) => {
    const name = row.name ?? `Pet ${row.petId}`
    if (!isMeant) {
      setSaid({ words: `${name} is not part of this count.`, isTrouble: true, beyond: row })
      return
    }
    const total = desk.addOne(row.petId)
    if (total === undefined) setSaid({ words: `${name} cannot be counted any more.`, isTrouble: true })
    else setSaid({ words: `${name}: ${total.toLocaleString('en')} counted`, isTrouble: false })
  }
  const scan = (code: string) => finder.current?.take(code)
  return (
    <>
      <div className="count__head">
        <div>
          <h1>Count {scopeWords(head.scope)}</h1>
          <p className="muted number" role="status">
            {tally.counted.toLocaleString('en')} of {petsWords(rows.length)} counted
            {tally.differences > 0 &&
              ` · ${tally.differences.toLocaleString('en')} ${tally.differences === 1 ? 'differs' : 'differ'}`}
          </p>
        </div>
        <div className="count__tools">
          {isEnding ? (
            <>
              Give up this count?
              <button type="button" className="button button--danger" onClick={() => desk.end()}>
                Give it up
              </button>
              <button ref={safe} type="button" className="button" onClick={() => setEnding(false)}>
                Keep it
              </button>
            </>
          ) : (
            <>
              <button
                ref={safe}
                type="button"
                className="button button--quiet"
                onClick={() => setEnding(true)}
              >
                Give up
              </button>
              <button type="button" className="button" onClick={() => print()}>
                Print sheet
              </button>
              <button
                type="button"
                className="button button--primary"
                disabled={entries.size === 0}
                onClick={onReview}
              >
                Review
              </button>
            </>
          )}
        </div>
      </div>
      <div
        className="progress"
        role="progressbar"
        aria-label="Counted"
        aria-valuemin={0}
        aria-valuemax={rows.length}
        aria-valuenow={tally.counted}
      >
        <div
          className="progress__bar"
          style={{ width: `${rows.length === 0 ? 0 : (100 * tally.counted) / rows.length}%` }}
        />
      </div>
      <div className="card count__entry">
        <PetFinder
          ref={finder}
          label="Scan: each scan counts one more"
          onPick={countOne}
          onUnknown={(words) => setSaid(words === undefined ? undefined : { words, isTrouble: true })}
        />
        <p className={said?.isTrouble ? 'field__error count__said' : 'field__hint count__said'} role="status">
          {said?.words ?? 'Or type the numbers down the list: Enter goes on to the next pet.'}
          {said?.beyond !== undefined && (
            <button
              type="button"
              className="button button--small"
              onClick={() => {
                if (said.beyond !== undefined) countOne(said.beyond, true)
                focusFinder()
              }}
            >
              Count it too
            </button>
          )}
        </p>
      </div>
      <fieldset className="segmented count__filter">
        <legend className="visually-hidden">Show</legend>
        {FILTERS.map(({ filter: each, words }) => (
          <button
            key={each}
            type="button"
            className="segmented__option"
            aria-pressed={filter === each}
            onClick={() => setFilter(each)}
          >
            {words}
            <span className="number muted">{tally[each].toLocaleString('en')}</span>
          </button>
        ))}
      </fieldset>
      <CountList
        key={filter}
        desk={desk}
        rows={rows}
        filter={filter}
        onScan={scan}
        onTyped={(wrong) => setSaid(wrong === undefined ? undefined : { words: wrong, isTrouble: true })}
      />
    </>
  )
}
