import { type FormEvent, useId, useState } from 'preact/compat'
import type { StockRow } from '../data/stock/stock-model.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Field, TextField } from '../ui/field.tsx'

/** In seconds; 0 is an order without a time limit. */
const HOLDS: readonly (readonly [seconds: number, words: string])[] = [
  [0, 'No time limit'],
  [15 * 60, '15 minutes'],
  [3_600, '1 hour'],
  [86_400, '1 day'],
  [7 * 86_400, '7 days'],
]
const MAX_CUSTOMER_LENGTH = 200
const MAX_NOTE_LENGTH = 1_000

const EMPTY = { quantity: '1', hold: 0, customer: '', note: '' }

/** Reserves units of a pet for a customer. */
export function OrderForm({ row: { petId } }: { readonly row: StockRow }) {
  const { orderActions } = useSession()
  const [draft, setDraft] = useState(EMPTY)
  const [isOrdering, setOrdering] = useState(false)
  const [failure, setFailure] = useState<string>()
  const id = useId()
  const quantity = readQuantity(draft.quantity)
  const isQuantityValid = quantity !== undefined && quantity > 0
  const change = (changes: Partial<typeof EMPTY>) => setDraft({ ...draft, ...changes })
  const order = async () => {
    if (!isQuantityValid) {
      setFailure('Enter a whole number of 1 or more.')
      return
    }
    setFailure(undefined)
    setOrdering(true)
    try {
      await orderActions.order({
        petId,
        quantity,
        holdSeconds: draft.hold === 0 ? undefined : draft.hold,
        customer: draft.customer.trim() || undefined,
        note: draft.note.trim() || undefined,
      })
      setDraft(EMPTY)
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
    <form className="stack order-form" aria-labelledby={id} onSubmit={onSubmit}>
      <h3 id={id}>Reserve for a customer</h3>
      <div className="order-form__fields">
        <TextField
          label="How many"
          isNumber
          value={draft.quantity}
          onChange={(text) => change({ quantity: text })}
        />
        <Field label="For how long">
          {(control) => (
            <select
              {...control}
              className="select"
              value={draft.hold}
              onChange={({ currentTarget }) => change({ hold: Number(currentTarget.value) })}
            >
              {HOLDS.map(([seconds, words]) => (
                <option key={seconds} value={seconds}>
                  {words}
                </option>
              ))}
            </select>
          )}
        </Field>
        <TextField
          label="Customer"
          placeholder="Name or phone"
          maxLength={MAX_CUSTOMER_LENGTH}
          value={draft.customer}
          onChange={(customer) => change({ customer })}
        />
        <TextField
          label="Note"
          maxLength={MAX_NOTE_LENGTH}
          value={draft.note}
          onChange={(note) => change({ note })}
        />
        <Button type="submit" isBusy={isOrdering}>
          Reserve
        </Button>
      </div>
      <p className="negative small" role="alert">
        {failure}
      </p>
    </form>
  )
}
