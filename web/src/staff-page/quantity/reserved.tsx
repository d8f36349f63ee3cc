import { freeUnits } from '../data/stock/free-units.ts'
import { wholeNumber } from '../ui/charts/quantity-axis.ts'

interface Props {
  readonly quantity: number
  readonly reserved: number
}

/** How many units are free and how many are reserved by open orders; nothing if none are reserved. */
export function Reserved(units: Props) {
  const { reserved } = units
  if (reserved === 0) return null
  const free = freeUnits(units)
  if (free >= 0) {
    return (
      <span className="reserved muted number">{`${wholeNumber(free)} free, ${wholeNumber(reserved)} reserved`}</span>
    )
  }
  return (
    <span className="reserved reserved--short number">
      <span aria-hidden="true">▾ </span>
      {`${wholeNumber(reserved)} reserved, ${wholeNumber(-free)} too many`}
    </span>
  )
}
