import { wholeNumber } from './quantity-axis.ts'
import './charts.css'

export interface Column {
  readonly key: string
  /** Below the column. Empty if there is no room for it. */
  readonly label: string
  /** The full label, for screen readers and the tooltip. */
  readonly title: string
  /** One value per series. */
  readonly values: readonly number[]
}

interface Props {
  readonly name: string
  /** The names of the series, at most two. */
  readonly series: readonly string[]
  readonly columns: readonly Column[]
}

/** Columns side by side from a common base. Screen readers get the same figures as a table. */
export function ColumnChart({ name, series, columns }: Props) {
  const highest = Math.max(1, ...columns.flatMap(({ values }) => values))
  return (
    <figure className="stack">
      <figcaption className="cluster legend">
        {series.map((label, index) => (
          <span key={label} className="cluster">
            <span className={`column-chart__swatch column-chart__series--${index}`} aria-hidden="true" />
            {label}
          </span>
        ))}
        <span className="muted number">Highest {wholeNumber(highest)}</span>
      </figcaption>
      <div className="column-chart__columns" aria-hidden="true">
        {columns.map(({ key, label, title, values }) => (
          <div key={key} className="column-chart__column" title={titleOf(title, series, values)}>
            <svg className="column-chart__bars" aria-hidden="true">
              {values.map((value, index) => {
                const height = (100 * Math.max(0, value)) / highest
                return (
                  <rect
                    key={series[index]}
                    className={`column-chart__series--${index}`}
                    x={`${(100 * index) / values.length}%`}
                    width={`${100 / values.length}%`}
                    y={`${100 - height}%`}
                    height={`${height}%`}
                  />
                )
              })}
            </svg>
            <span className="column-chart__label">{label}</span>
          </div>
        ))}
      </div>
      <table className="visually-hidden">
        <caption>{name}</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {series.map((label) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.map(({ key, title, values }) => (
            <tr key={key}>
              <th scope="row">{title}</th>
              {values.map((value, index) => (
                <td key={series[index]}>{wholeNumber(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

function titleOf(title: string, series: readonly string[], values: readonly number[]): string {
  return `${title}: ${series.map((label, index) => `${label} ${wholeNumber(values[index] ?? 0)}`).join(', ')}`
}
