import { type FormEvent, useId, useState } from 'react'
import type { StockRow } from '../data/stock/stock-model.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { useSession } from '../session/session-context.ts'

/** In seconds; 0 is an order without an end. */
const HOLDS: readonly (readonly [seconds: number, words: string])[] = [
  [0, 'Until it is completed'],
  [15 * 60, 'Hold for 15 minutes'],
  [3_600, 'Hold for 1 hour'],
  [86_400, 'Hold for 1 day'],
  [7 * 86_400, 'Hold for 7 days'],
]

/** Reserves some of a pet. */
export function OrderForm({ row: { petId } }: { readonly row: StockRow }) {
  const { orderActions } = useSession()
  const [text, setText] = useState('1')
  const [hold, setHold] = useState(0)
  const [isOrdering, setOrdering] = useState(false)
  const [failure, setFailure] = useState<string>()
  const id = useId()
  const quantity = readQuantity(text)
  const order = async () => {
    if (quantity === undefined || quantity === 0) {
      setFailure('Enter a whole number of 1 or more.')
      return
    }
    setFailure(undefined)
    setOrdering(true)
    try {
      await orderActions.order({ petId, quantity, ...(hold === 0 ? {} : { holdSeconds: hold }) })
      setText('1')
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error))
    }
    setOrdering(false)
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (!isOrdering) void order()
  }
  return (
    <form className="order-form" onSubmit={onSubmit}>
      <label htmlFor={`${id}-quantity`} className="visually-hidden">
        How many to order
      </label>
      <input
        id={`${id}-quantity`}
        className="input number order-form__quantity"
        inputMode="numeric"
        autoComplete="off"
        value={text}
        aria-invalid={failure !== undefined && (quantity === undefined || quantity === 0)}
        aria-describedby={`${id}-failure`}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <label htmlFor={`${id}-hold`} className="visually-hidden">
        For how long
      </label>
      <select
        id={`${id}-hold`}
        className="select order-form__hold"
        value={hold}
        onChange={({ currentTarget }) => setHold(Number(currentTarget.value))}
      >
        {HOLDS.map(([seconds, words]) => (
          <option key={seconds} value={seconds}>
            {words}
          </option>
        ))}
      </select>
      <button type="submit" className="button" aria-disabled={isOrdering}>
        {isOrdering ? 'Ordering' : 'Order'}
      </button>
      <span id={`${id}-failure`} className="field__error" role="alert">
        {failure}
      </span>
    </form>
  )
}
