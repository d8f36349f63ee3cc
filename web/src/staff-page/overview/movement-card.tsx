import type { MovementRow } from '@petstore/client'
import { useState } from 'preact/compat'
import { type DaySpan, useMovements } from '../data/movements.ts'
import { useSession } from '../session/session-context.ts'
import { Card } from '../ui/card.tsx'
import { wholeNumber } from '../ui/charts/quantity-axis.ts'
import { href } from '../ui/navigation.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { SegmentedControl } from '../ui/segmented-control.tsx'

const SPANS = {
  today: { days: 1, last: 'today' },
  yesterday: { days: 1, last: 'yesterday' },
  week: { days: 7, last: 'today' },
} as const satisfies Readonly<Record<string, DaySpan>>

const SPAN_OPTIONS = [
  { value: 'today', label: 'Today' },
  { value: 'yesterday', label: 'Yesterday' },
  { value: 'week', label: '7 days' },
] as const
const GROUP_OPTIONS = [
  { value: 'pet', label: 'By pet' },
  { value: 'key', label: 'By person' },
] as const

const SHOWN_ROWS = 100

const COLUMNS: readonly (readonly [title: string, unitsOf: (row: MovementRow) => number])[] = [
  ['Sold', ({ sold }) => sold],
  ['Returned', ({ returned }) => returned],
  ['Received', ({ received }) => received],
  ['Damaged or lost', ({ damaged, lost }) => damaged + lost],
  ['Counted or corrected', ({ countedUp, countedDown, corrected }) => countedUp - countedDown + corrected],
]

/** What came in and went out in a day or a week, for each pet or person: the end of the day. */
export function MovementCard() {
  const [span, setSpan] = useState<keyof typeof SPANS>('today')
  const [by, setBy] = useState<(typeof GROUP_OPTIONS)[number]['value']>('pet')
  const { value: report, failure, reload } = useMovements(useSession(), by, SPANS[span])
  const rows = report?.by === by ? report.rows.toSorted((one, other) => other.sold - one.sold) : []
  return (
    <Card
      title="Movements"
      controls={
        <span className="cluster">
          <SegmentedControl label="Time" options={SPAN_OPTIONS} value={span} onChange={setSpan} />
          <SegmentedControl label="For each" options={GROUP_OPTIONS} value={by} onChange={setBy} />
        </span>
      }
    >
      <RetryNotice tone="caution" onRetry={reload}>
        {failure}
      </RetryNotice>
      {report !== undefined && rows.length === 0 && <p className="muted">Nothing came in or went out.</p>}
      {report !== undefined && rows.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards scroll it on narrow screens
        <section className="movements" aria-label="Movements" tabIndex={0}>
          <table className="table" aria-label="Movements">
            <thead>
              <tr>
                <th scope="col">{by === 'pet' ? 'Pet' : 'Person'}</th>
                {COLUMNS.map(([title]) => (
                  <th key={title} scope="col" className="table__number">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, SHOWN_ROWS).map((row) => (
                <tr key={String(row.petId ?? row.keyId)}>
                  <th scope="row">
                    <RowName row={row} />
                  </th>
                  <Figures row={row} />
                </tr>
              ))}
            </tbody>
            <tfoot>
              <tr>
                <th scope="row">All</th>
                <Figures row={report.total} />
              </tr>
            </tfoot>
          </table>
        </section>
      )}
      {rows.length > SHOWN_ROWS && <p className="muted">The {SHOWN_ROWS} that sold most are shown.</p>}
    </Card>
  )
}

function RowName({ row: { petId, keyId, name } }: { readonly row: MovementRow }) {
  if (petId === undefined) return <>{name ?? keyId}</>
  return name === undefined ? <>Pet {String(petId)}</> : <a href={href({ view: 'pet', petId })}>{name}</a>
}

function Figures({ row }: { readonly row: MovementRow }) {
  return COLUMNS.map(([title, unitsOf]) => (
    <td key={title} className="table__number number">
      {wholeNumber(unitsOf(row))}
    </td>
  ))
}
