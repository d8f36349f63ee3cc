import { wholeNumber } from './charts/quantity-axis.ts'
import './changes.css'

/** From here on it may take more than one line. */
const LONG = 1_000_000
const PILL = 'quantity-change__difference'

/** From what to what, and by how much: an arrow for the eye, words for the ear. */
export function QuantityChange({ before, after }: { readonly before: number; readonly after: number }) {
  const difference = after - before
  const isLong = Math.max(before, after) >= LONG
  return (
    <span className={`quantity-change number ${isLong ? 'quantity-change--long' : ''}`}>
      <span className="quantity-change__from">{wholeNumber(before)}</span>
      <span aria-hidden="true" className="quantity-change__arrow">
        →
      </span>
      <span className="visually-hidden"> to </span>
      <span className="quantity-change__to">{wholeNumber(after)}</span>{' '}
      <span className={difference > 0 ? `${PILL} ${PILL}--up` : PILL}>{signed(difference)}</span>
    </span>
  )
}

function signed(difference: number): string {
  const size = wholeNumber(Math.abs(difference))
  if (difference === 0) return '±0'
  return difference > 0 ? `+${size}` : `−${size}`
}
