import type { HistoryEntry, InventoryEvent } from '@petstore/client'
import { useMemo, useState } from 'preact/compat'
import type { ListSnapshot, LiveList } from '../data/live-list.ts'
import { whyWords } from '../data/reason-words.ts'
import { momentWords } from '../data/time-words.ts'
import { Button } from '../ui/button.tsx'
import { Moment, QuantityChange } from '../ui/changes.tsx'
import { wholeNumber } from '../ui/charts/quantity-axis.ts'
import { type Step, StepChart } from '../ui/charts/step-chart.tsx'
import { RetryNotice } from '../ui/notices.tsx'

interface Props {
  readonly history: LiveList<HistoryEntry, InventoryEvent>
  readonly log: ListSnapshot<HistoryEntry>
  readonly now: number
  /** The pet is low if at most this many are free. */
  readonly threshold: number | undefined
}

export function PetHistory({ history, log, now, threshold }: Props) {
  const { rows: changes, next, phase, failure } = log
  const isEmpty = phase === 'ready' && changes.length === 0 && next === undefined
  const isLoading = phase === 'loading' && changes.length === 0
  return (
    <>
      <section className="card" aria-labelledby="chart-title">
        <div className="card__header">
          <h2 id="chart-title">Quantity over time</h2>
        </div>
        <div className="card__body">
          {isLoading && <span className="skeleton pet__chart-skeleton" />}
          {isEmpty && <p className="muted">The chart begins with the next change of the quantity.</p>}
          <HistoryChart log={log} now={now} threshold={threshold} />
        </div>
      </section>
      <section className="card" aria-labelledby="history-title">
        <div className="card__header">
          <h2 id="history-title">History</h2>
        </div>
        <div className="card__body stack">
          {isLoading && <span className="skeleton" role="status" aria-label="Loading the history" />}
          {failure !== undefined && (
            <RetryNotice tone="caution" onRetry={() => void history.reload()}>
              {failure}
            </RetryNotice>
          )}
          {isEmpty && <p className="muted">Its older history was removed.</p>}
          {(changes.length > 0 || next !== undefined) && (
            <HistoryTable history={history} log={log} now={now} />
          )}
        </div>
      </section>
    </>
  )
}

function HistoryChart({ log: { rows: changes, next }, now, threshold }: Omit<Props, 'history'>) {
  const until = Math.max(now, Date.parse(changes[0]?.at ?? '') || now)
  const steps = useMemo(() => stepsOf(changes, until), [changes, until])
  const first = steps[1]
  if (first === undefined) return null
  const quantities = steps.map(({ quantity }) => quantity)
  return (
    <figure className="stack">
      <StepChart steps={steps} until={until} threshold={threshold} />
      <figcaption className="muted small number">
        {countWords(changes.length, next !== undefined)} since {momentWords(first.at)}: lowest{' '}
        {wholeNumber(Math.min(...quantities))}, highest {wholeNumber(Math.max(...quantities))}, now{' '}
        {wholeNumber(quantities.at(-1) ?? 0)}.
        {threshold !== undefined && ` The dashed line is the warning at ${wholeNumber(threshold)}.`}
      </figcaption>
    </figure>
  )
}

/** How much of the chart shows the quantity before the oldest change. */
const LEAD = 0.04
const MIN_LEAD_MS = 1_000

/** The steps of the chart, the earliest first. The first step is the quantity before the oldest change. */
function stepsOf(changes: readonly HistoryEntry[], until: number): readonly Step[] {
  const oldest = changes.at(-1)
  if (oldest === undefined) return []
  const began = Date.parse(oldest.at)
  const lead = Math.max(MIN_LEAD_MS, (until - began) * LEAD)
  const steps = changes.map(({ at, after }) => ({ at: Date.parse(at), quantity: after }))
  return [{ at: began - lead, quantity: oldest.before }, ...steps.reverse()]
}

function countWords(count: number, hasOlder: boolean): string {
  const changes = count === 1 ? 'change' : 'changes'
  return hasOlder ? `The last ${wholeNumber(count)} ${changes},` : `${wholeNumber(count)} ${changes}`
}

const ROWS_PER_PAGE = 15

function HistoryTable({ history, log, now }: Omit<Props, 'threshold'>) {
  const [shown, setShown] = useState(ROWS_PER_PAGE)
  const { rows: changes, next, isLoadingMore } = log
  const showMore = () => {
    setShown(shown + ROWS_PER_PAGE)
    if (shown + ROWS_PER_PAGE > changes.length) void history.loadMore()
  }
  return (
    <>
      <table className="table history-table">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who and why</th>
            <th scope="col" className="table__number">
              Change
            </th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, shown).map((change) => (
            <HistoryRow key={change.id} change={change} now={now} />
          ))}
        </tbody>
      </table>
      {(shown < changes.length || next !== undefined) && (
        <span>
          <Button isBusy={isLoadingMore} onClick={showMore}>
            Show more
          </Button>
        </span>
      )}
    </>
  )
}

function HistoryRow({ change, now }: { readonly change: HistoryEntry; readonly now: number }) {
  const { at, before, after, keyName } = change
  const why = whyWords(change)
  return (
    <tr>
      <td>
        <Moment at={Date.parse(at)} now={now} />
      </td>
      <td className="history-table__who">
        {keyName}
        {why !== undefined && <span className="history-table__why muted">{why}</span>}
      </td>
      <td className="table__number">
        <QuantityChange before={before} after={after} />
      </td>
    </tr>
  )
}
