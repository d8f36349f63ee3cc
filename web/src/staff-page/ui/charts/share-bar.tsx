import type { PetStatus } from '@petstore/client'
import { wholeNumber } from './quantity-axis.ts'
import './charts.css'

export interface Share {
  readonly status: PetStatus
  readonly label: string
  readonly value: number
}

const GAP_PERCENT = 0.4
const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 })

interface Props {
  /** What it is the parts of, such as "Units by status". */
  readonly name: string
  readonly shares: readonly Share[]
}

/** The parts of a whole in one bar, with a legend that says the same in words and figures. */
export function ShareBar({ name, shares }: Props) {
  const total = shares.reduce((sum, { value }) => sum + value, 0)
  let before = 0
  const segments = shares.map(({ status, value }) => {
    const start = before
    before += total === 0 ? 0 : (100 * value) / total
    return { status, start, width: before - start }
  })
  return (
    <figure className="share-bar" aria-label={name}>
      <svg className="share-bar__bar" aria-hidden="true">
        <rect className="chart-track" width="100%" height="100%" />
        {segments.map(({ status, start, width }) => (
          <rect
            key={status}
            className={`share-bar__segment share-bar__segment--${status}`}
            x={`${start}%`}
            width={`${Math.max(0, width - (start + width < 99.9 ? GAP_PERCENT : 0))}%`}
            height="100%"
          />
        ))}
      </svg>
      <ul className="share-bar__legend">
        {shares.map(({ status, label, value }) => (
          <li key={status} className="share-bar__entry">
            <span className={`share-bar__swatch share-bar__swatch--${status}`} aria-hidden="true" />
            {label}
            <span className="number share-bar__value">{wholeNumber(value)}</span>
            <span className="number muted">{shareWords(value, total)}</span>
          </li>
        ))}
      </ul>
    </figure>
  )
}

/** A part that is there is never 0 %, and one that is not all is never 100 %. */
function shareWords(value: number, total: number): string {
  if (total === 0 || value === 0) return PERCENT.format(0)
  if (value / total < 0.005) return `under ${PERCENT.format(0.01)}`
  return value < total && value / total > 0.995
    ? `over ${PERCENT.format(0.99)}`
    : PERCENT.format(value / total)
}
