import { wholeNumber } from './quantity-axis.ts'
import './charts.css'

export interface Bar {
  readonly key: string
  readonly label: string
  readonly value: number
  /** Where the label leads to. */
  readonly href?: string | undefined
}

interface Props {
  readonly name: string
  readonly bars: readonly Bar[]
  /** What a bar counts, said once for each to those who hear it: "units". */
  readonly unit: string
}

/** Values side by side: a bar from the same start for each, as long as its share of the largest. */
export function BarList({ name, bars, unit }: Props) {
  const largest = Math.max(1, ...bars.map(({ value }) => value))
  return (
    <ol className="bar-list" aria-label={name}>
      {bars.map(({ key, label, value, href }) => (
        <li key={key} className="bar-list__row">
          <span className="bar-list__label">{href === undefined ? label : <a href={href}>{label}</a>}</span>
          <span className="bar-list__value number">
            {wholeNumber(value)}
            <span className="visually-hidden"> {unit}</span>
          </span>
          <svg className="bar-list__bar" aria-hidden="true">
            <rect className="chart-track" width="100%" height="100%" />
            <rect className="bar-list__fill" width={`${(100 * value) / largest}%`} height="100%" />
          </svg>
        </li>
      ))}
    </ol>
  )
}
