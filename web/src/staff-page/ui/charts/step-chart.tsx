import { type KeyboardEvent, type PointerEvent, useMemo, useState } from 'react'
import { momentWords } from '../../data/time-words.ts'
import { useElementWidth } from './element-width.ts'
import { tickLabel, wholeNumber } from './quantity-axis.ts'
import { type Step, type StepGeometry, stepGeometry } from './step-geometry.ts'
import './charts.css'

const HEIGHT = 240
const PAGE = 10
/** More dots would run into each other. */
const MAX_DOTS = 60

interface Props {
  /** The name of the quantity, for screen readers. */
  readonly name: string
  /** At least one, the earliest first. */
  readonly steps: readonly Step[]
  /** The end of the chart: now. */
  readonly until: number
}

/**
 * A quantity over time. The pointer and the arrow keys go from step to step. For screen readers the chart is a slider
 * over the steps.
 */
export function StepChart({ name, steps, until }: Props) {
  const { ref, width } = useElementWidth()
  const [chosen, setChosen] = useState<number>()
  const geometry = useMemo(
    () => (width === 0 ? undefined : stepGeometry(steps, until, { width, height: HEIGHT })),
    [steps, until, width],
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
    const to = indexAfterKey(event.key, index, last)
    if (to === undefined) return
    event.preventDefault()
    setChosen(to === 'none' ? undefined : to)
  }
  return (
    <div
      className="step-chart"
      ref={ref}
      role="slider"
      tabIndex={0}
      aria-label={`${name}: each step of it, by the arrow keys`}
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
          {steps.length <= MAX_DOTS && <Dots path={geometry.dots} />}
          {chosen !== undefined && <Marker step={step} geometry={geometry} />}
        </svg>
      )}
      {geometry !== undefined && chosen !== undefined && (
        <ReadOut step={step} x={geometry.x(step.at)} width={width} />
      )}
    </div>
  )
}

function indexAfterKey(key: string, index: number, last: number): number | 'none' | undefined {
  const within = (to: number) => Math.min(last, Math.max(0, to))
  if (key === 'ArrowRight' || key === 'ArrowUp') return within(index + 1)
  if (key === 'ArrowLeft' || key === 'ArrowDown') return within(index - 1)
  if (key === 'PageUp') return within(index + PAGE)
  if (key === 'PageDown') return within(index - PAGE)
  if (key === 'Home') return 0
  if (key === 'End') return last
  return key === 'Escape' ? 'none' : undefined
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

function Dots({ path }: { readonly path: string }) {
  return (
    <>
      <path className="step-chart__dots" d={path} />
      <path className="step-chart__dots step-chart__dots--inside" d={path} />
    </>
  )
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
    <div className="step-chart__readout" style={place} aria-hidden="true">
      <strong className="number">{wholeNumber(step.quantity)}</strong>
      <span>{momentWords(step.at)}</span>
      <span className="muted">{step.note}</span>
    </div>
  )
}
