import { agoWords, exactMomentWords, momentWords } from '../data/time-words.ts'
import { wholeNumber } from './charts/quantity-axis.ts'
import './changes.css'

export function Moment({ at, now }: { readonly at: number; readonly now: number }) {
  return (
    <time className="moment" dateTime={new Date(at).toISOString()} title={exactMomentWords(at)}>
      <span className="moment__ago">{agoWords(at, now)}</span>
      <span className="moment__local muted number">{momentWords(at)}</span>
    </time>
  )
}

/** Quantities from here on may wrap. */
const LONG = 1_000_000
const PILL = 'badge badge--plain quantity-change__difference'

/** The quantity before and after a change, and the difference. Screen readers hear "to" instead of the arrow. */
export function QuantityChange({ before, after }: { readonly before: number; readonly after: number }) {
  const difference = after - before
  const isLong = Math.max(before, after) >= LONG
  return (
    <span className={`quantity-change number ${isLong ? 'quantity-change--long' : ''}`}>
      <span className="muted">{wholeNumber(before)}</span>
      <span aria-hidden="true" className="muted">
        →
      </span>
      <span className="visually-hidden"> to </span>
      <span className="quantity-change__to">{wholeNumber(after)}</span>{' '}
      <span className={difference > 0 ? `${PILL} badge--positive` : PILL}>{signed(difference)}</span>
    </span>
  )
}

export function signed(difference: number): string {
  const size = wholeNumber(Math.abs(difference))
  if (difference === 0) return '±0'
  return difference > 0 ? `+${size}` : `−${size}`
}
