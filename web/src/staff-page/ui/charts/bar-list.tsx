import { wholeNumber } from './quantity-axis.ts'
import './charts.css'

export interface Bar {
  readonly key: string
  readonly label: string
  readonly value: number
  /** Shown instead of the value. */
  readonly text?: string
  /** The target of the label. */
  readonly href?: string | undefined
}

interface Props {
  readonly name: string
  readonly bars: readonly Bar[]
  /** The unit of the values, for screen readers: "units". */
  readonly unit: string
  /** The value of a full bar; the largest value by default. */
  readonly full?: number
}

/** Values as horizontal bars from a common start. */
export function BarList({ name, bars, unit, full }: Props) {
  const largest = full ?? Math.max(1, ...bars.map(({ value }) => value))
  return (
    <ol className="stack" aria-label={name}>
      {bars.map(({ key, label, value, text, href }) => (
        <li key={key} className="bar-list__row">
          <span className="bar-list__label">{href === undefined ? label : <a href={href}>{label}</a>}</span>
          <span className="bar-list__value number">
            {text ?? wholeNumber(value)}
            {text === undefined && <span className="visually-hidden"> {unit}</span>}
          </span>
          <svg className="bar" aria-hidden="true">
            <rect className="bar__fill" width={`${Math.min(100, (100 * value) / largest)}%`} height="100%" />
          </svg>
        </li>
      ))}
    </ol>
  )
}
