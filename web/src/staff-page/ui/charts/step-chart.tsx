import { type PointerEvent, useLayoutEffect, useMemo, useRef, useState } from 'preact/compat'
import { momentWords } from '../../data/time-words.ts'
import { tickLabel, wholeNumber } from './quantity-axis.ts'
import { type Step, type StepGeometry, type StepMark, stepGeometry } from './step-geometry.ts'
import './charts.css'

const HEIGHT = 240
/** By how many steps a key moves. */
const KEY_MOVES: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowUp: 1,
  ArrowLeft: -1,
  ArrowDown: -1,
  PageUp: 10,
  PageDown: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}
/** More marks than this would overlap. */
export const MAX_MARKS = 60

interface Props {
  /** Names the quantity for screen readers. */
  readonly name: string
  /** At least one, the earliest first. */
  readonly steps: readonly Step[]
  /** The end of the time axis: now. */
  readonly until: number
  /** Drawn as a dashed line. */
  readonly threshold?: number | undefined
}

/** A quantity over time. The pointer and the arrow keys move from step to step; for screen readers it is a slider. */
export function StepChart({ name, steps, until, threshold }: Props) {
  const { ref, width } = useElementWidth()
  const [chosen, setChosen] = useState<number>()
  const geometry = useMemo(
    () => (width === 0 ? undefined : stepGeometry(steps, until, { width, height: HEIGHT }, threshold)),
    [steps, until, width, threshold],
  )
  const last = steps.length - 1
  const index = Math.min(chosen ?? last, last)
  const step = steps[index]
  if (step === undefined) return null

  const followPointer = (event: PointerEvent<HTMLDivElement>) => {
    const { left } = event.currentTarget.getBoundingClientRect()
    setChosen(geometry?.indexAt(event.clientX - left))
  }
  const followKeys = (event: KeyboardEvent) => {
    const move = KEY_MOVES[event.key]
    if (move === undefined && event.key !== 'Escape') return
    event.preventDefault()
    setChosen(move === undefined ? undefined : Math.min(last, Math.max(0, index + move)))
  }
  return (
    <div
      className="step-chart"
      ref={ref}
      role="slider"
      tabIndex={0}
      aria-label={`${name}. The arrow keys move from change to change.`}
      aria-orientation="horizontal"
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={index}
      aria-valuetext={`${wholeNumber(step.quantity)} from ${momentWords(step.at)}, ${step.note}`}
      onPointerMove={followPointer}
      onPointerDown={followPointer}
      onPointerLeave={() => setChosen(undefined)}
      onBlur={() => setChosen(undefined)}
      onKeyDown={followKeys}
    >
      {geometry !== undefined && (
        <svg width={width} height={HEIGHT} aria-hidden="true">
          <Axes geometry={geometry} />
          <path className="step-chart__area" d={geometry.area} />
          <path className="step-chart__line" d={geometry.line} />
          {threshold !== undefined && (
            <line
              className="step-chart__threshold"
              x1={geometry.left}
              x2={geometry.right}
              y1={geometry.y(threshold)}
              y2={geometry.y(threshold)}
            />
          )}
          {steps.length <= MAX_MARKS + 1 &&
            steps
              .slice(1)
              .map(({ at, quantity, mark }) => (
                <ChartMark
                  key={`${at} ${quantity}`}
                  mark={mark}
                  x={geometry.x(at)}
                  y={geometry.y(quantity)}
                />
              ))}
          {chosen !== undefined && <Marker step={step} geometry={geometry} />}
        </svg>
      )}
      {geometry !== undefined && chosen !== undefined && (
        <ReadOut step={step} x={geometry.x(step.at)} width={width} />
      )}
    </div>
  )
}

/** The width of an element in pixels. A chart that is drawn to it keeps the size of its text. */
function useElementWidth() {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    setWidth(element.clientWidth)
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}

function Axes({ geometry }: { readonly geometry: StepGeometry }) {
  const { left, right, bottom, x, y } = geometry
  return (
    <>
      {geometry.quantityTicks.map((tick) => (
        <g key={tick}>
          <line
            className={tick === 0 ? 'step-chart__base' : 'step-chart__grid'}
            x1={left}
            x2={right}
            y1={y(tick)}
            y2={y(tick)}
          />
          <text className="step-chart__label" x={left - 8} y={y(tick)} dy="0.32em" textAnchor="end">
            {tickLabel(tick)}
          </text>
        </g>
      ))}
      {geometry.timeTicks.map(({ at, label }) => (
        <g key={at}>
          <line className="step-chart__base" x1={x(at)} x2={x(at)} y1={bottom} y2={bottom + 4} />
          <text
            className="step-chart__label"
            x={x(at)}
            y={bottom + 18}
            textAnchor={anchorAt(x(at), geometry)}
          >
            {label}
          </text>
        </g>
      ))}
    </>
  )
}

/** A centred label would be cut off at the edges. */
function anchorAt(x: number, { left, right }: StepGeometry): 'start' | 'middle' | 'end' {
  if (x < left + 24) return 'start'
  return x > right - 24 ? 'end' : 'middle'
}

const MARK_PATHS: Readonly<Record<StepMark, string>> = {
  in: 'M-5 4h10l-5 -9z',
  out: 'M-5 -4h10l-5 9z',
  lost: 'M-4 -4l8 8m0 -8l-8 8',
  counted: 'M0 -6l6 6l-6 6l-6 -6z',
  other: 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0',
}

interface ChartMarkProps {
  readonly mark: StepMark
  readonly x: number
  readonly y: number
}

/** The mark of a change. The shapes differ too, not only the colours. */
export function ChartMark({ mark, x, y }: ChartMarkProps) {
  const className = `step-chart__mark step-chart__mark--${mark}`
  return <path className={className} d={MARK_PATHS[mark]} transform={`translate(${x} ${y})`} />
}

function Marker({ step, geometry }: { readonly step: Step; readonly geometry: StepGeometry }) {
  const x = geometry.x(step.at)
  return (
    <>
      <line className="step-chart__marker" x1={x} x2={x} y1={geometry.top} y2={geometry.bottom} />
      <circle className="step-chart__chosen" cx={x} cy={geometry.y(step.quantity)} r={5} />
    </>
  )
}

/** Beside the marker, on the side that has room. */
function ReadOut({ step, x, width }: { readonly step: Step; readonly x: number; readonly width: number }) {
  const place = x > width / 2 ? { right: width - x + 10 } : { left: x + 10 }
  return (
    <div className="step-chart__readout popup" style={place} aria-hidden="true">
      <strong className="number">{wholeNumber(step.quantity)}</strong>
      <span>{momentWords(step.at)}</span>
      <span className="muted">{step.note}</span>
    </div>
  )
}
