import type { ReactNode } from 'preact/compat'
import './charts.css'

interface Bar {
  readonly key: string
  readonly label: string
  readonly href: string
  readonly value: number
  readonly text: ReactNode
}

interface Props {
  readonly name: string
  readonly bars: readonly Bar[]
  /** The value of a full bar; the largest value by default. */
  readonly full?: number
}

/** Values as horizontal bars from a common start. */
export function BarList({ name, bars, full }: Props) {
  const largest = full ?? Math.max(1, ...bars.map(({ value }) => value))
  return (
    <ol className="stack" aria-label={name}>
      {bars.map(({ key, label, href, value, text }) => (
        <li key={key} className="bar-list__row">
          <span className="bar-list__label">
            <a href={href}>{label}</a>
          </span>
          <span className="bar-list__value number">{text}</span>
          <svg className="bar" aria-hidden="true">
            <rect className="bar__fill" width={`${Math.min(100, (100 * value) / largest)}%`} height="100%" />
          </svg>
        </li>
      ))}
    </ol>
  )
}
