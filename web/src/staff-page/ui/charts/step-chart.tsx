import { momentWords } from '../../data/time-words.ts'
import { quantityTicks, tickLabel } from './quantity-axis.ts'
import './charts.css'

/** The quantity from this moment until the next step. */
export interface Step {
  readonly at: number
  readonly quantity: number
}

interface Props {
  /** At least one, the earliest first. */
  readonly steps: readonly Step[]
  /** The end of the time axis: now. */
  readonly until: number
  /** Drawn as a dashed line. */
  readonly threshold?: number | undefined
}

const TOP = 20
const PLOT = 190
const BOTTOM = TOP + PLOT
/** The path is drawn in this square and stretched to the chart. */
const SQUARE = 1_000

/** A quantity over time. The table of the changes has the same figures, so screen readers skip it. */
export function StepChart({ steps, until, threshold = 0 }: Props) {
  const from = steps[0]?.at ?? until
  const ticks = quantityTicks(Math.max(threshold, ...steps.map(({ quantity }) => quantity)))
  const highest = ticks.at(-1) ?? 1
  const y = (quantity: number) => BOTTOM - (quantity / highest) * PLOT
  const line = pathOf(steps, from, until, highest)
  return (
    <svg className="step-chart" aria-hidden="true">
      {ticks.map((tick) => (
        <line key={tick} className="step-chart__grid" x1="0" x2="100%" y1={y(tick)} y2={y(tick)} />
      ))}
      <svg
        aria-hidden="true"
        y={TOP}
        width="100%"
        height={PLOT}
        viewBox={`0 0 ${SQUARE} ${SQUARE}`}
        preserveAspectRatio="none"
      >
        <path className="step-chart__area" d={`${line}V${SQUARE}H0Z`} />
        <path className="step-chart__line" d={line} />
      </svg>
      {threshold > 0 && (
        <line className="step-chart__threshold" x1="0" x2="100%" y1={y(threshold)} y2={y(threshold)} />
      )}
      {ticks.map((tick) => (
        <text key={tick} className="step-chart__label" y={y(tick) - 4}>
          {tickLabel(tick)}
        </text>
      ))}
      <text className="step-chart__label" y={BOTTOM + 20}>
        {momentWords(from)}
      </text>
      <text className="step-chart__label" x="50%" y={BOTTOM + 20} textAnchor="middle">
        {momentWords((from + until) / 2)}
      </text>
      <text className="step-chart__label" x="100%" y={BOTTOM + 20} textAnchor="end">
        now
      </text>
    </svg>
  )
}

/** The commands of an SVG path. */
function pathOf(steps: readonly Step[], from: number, until: number, highest: number): string {
  const x = (at: number) => round(((at - from) / Math.max(1, until - from)) * SQUARE)
  const y = (quantity: number) => round(SQUARE - (quantity / highest) * SQUARE)
  const [first, ...rest] = steps
  const changes = rest.map(({ at, quantity }) => `H${x(at)}V${y(quantity)}`)
  return `M0 ${y(first?.quantity ?? 0)}${changes.join('')}H${SQUARE}`
}

function round(length: number): number {
  return Math.round(length * 10) / 10
}
