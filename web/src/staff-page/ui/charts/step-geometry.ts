import { quantityTicks, tickLabel } from './quantity-axis.ts'
import { timeTicks } from './time-axis.ts'

/** The kind of a change: stock came in, went out, was lost, was counted, or no reason was given. */
export type StepMark = 'in' | 'out' | 'lost' | 'counted' | 'other'

/** The quantity from this moment until the next step. */
export interface Step {
  readonly at: number
  readonly quantity: number
  /** Who changed it and why. */
  readonly note: string
  readonly mark: StepMark
}

export type StepGeometry = ReturnType<typeof stepGeometry>

const TOP = 12
const BOTTOM = 26
const RIGHT = 14
const LETTER = 7
const TIME_LABEL = 72

/** `steps` has at least one step, the earliest first. */
export function stepGeometry(
  steps: readonly Step[],
  until: number,
  { width, height }: { readonly width: number; readonly height: number },
  /** A quantity that must be in the chart, too. */
  threshold = 0,
) {
  const from = steps[0]?.at ?? until
  const span = Math.max(1, until - from)
  const ticks = quantityTicks(Math.max(threshold, ...steps.map(({ quantity }) => quantity)))
  const highest = ticks.at(-1) ?? 1
  const left = 14 + LETTER * Math.max(...ticks.map((tick) => tickLabel(tick).length))
  const right = Math.max(left + 1, width - RIGHT)
  const bottom = height - BOTTOM
  const x = (at: number) => left + ((at - from) / span) * (right - left)
  const y = (quantity: number) => bottom - (quantity / highest) * (bottom - TOP)
  const [first, ...rest] = steps.map(({ at, quantity }) => ({ x: round(x(at)), y: round(y(quantity)) }))
  const line = `M${first?.x ?? left} ${first?.y ?? bottom}${rest.map((to) => `H${to.x}V${to.y}`).join('')}H${round(right)}`
  return {
    left,
    right,
    top: TOP,
    bottom,
    x,
    y,
    /** Commands of an SVG path, as is `area`. */
    line,
    area: `${line}V${bottom}H${round(left)}Z`,
    timeTicks: timeTicks(from, from + span, Math.floor((right - left) / TIME_LABEL)),
    quantityTicks: ticks,
    /** The step that covers this position. */
    indexAt: (position: number) => {
      const at = from + ((position - left) / (right - left)) * span
      const index = steps.findLastIndex((step) => step.at <= at)
      return Math.max(0, index)
    },
  }
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
