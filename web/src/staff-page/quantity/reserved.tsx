import { wholeNumber } from '../ui/charts/quantity-axis.ts'

interface Props {
  readonly quantity: number
  readonly reserved: number
}

/** How many units are free and how many are reserved by open orders; nothing if none are reserved. */
export function Reserved({ quantity, reserved }: Props) {
  if (reserved === 0) return null
  const free = quantity - reserved
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
