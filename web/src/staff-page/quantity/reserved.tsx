import { wholeNumber } from '../ui/charts/quantity-axis.ts'

interface Props {
  readonly quantity: number
  readonly reserved: number
}

/** What open orders leave of a pet; nothing where there are none. Marked where more is reserved than there is. */
export function Reserved({ quantity, reserved }: Props) {
  if (reserved === 0) return null
  const available = quantity - reserved
  if (available >= 0) {
    const words = `${wholeNumber(reserved)} reserved, ${wholeNumber(available)} available`
    return (
      <span className="reserved muted number" title={words}>
        {words}
      </span>
    )
  }
  const words = `${wholeNumber(reserved)} reserved, ${wholeNumber(-available)} too many`
  return (
    <span
      className="reserved reserved--short number"
      title={`${words}: there are only ${wholeNumber(quantity)}`}
    >
      <span aria-hidden="true">▾ </span>
      {words}
    </span>
  )
}
