import { MAX_LENGTHS } from '@petstore/client'
import { type FormEvent, useEffect, useId, useMemo, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { ORDERS_PER_PAGE, useOrderList } from '../data/orders/order-list.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { readQuantity } from '../quantity/typed-change.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { SelectField } from '../ui/select-field.tsx'
import { useAttempt } from '../ui/use-attempt.ts'
import { OrderRows } from './order-rows.tsx'

/** The open orders of one pet, and the form for another one. */
export function PetOrders({ petId }: { readonly petId: bigint }) {
  const { client, orderNews } = useSession()
  const mayChange = useMayChange('orders')
  const source = useMemo(
    () => ({
      petId,
      load: (cursor: string | undefined, signal: AbortSignal) =>
        client.orders.list({ state: 'open', petId, limit: ORDERS_PER_PAGE, cursor, signal }),
    }),
    [client, petId],
  )
  const { list } = useOrderList(source, orderNews)
  return (
    <section className="stack" aria-labelledby="orders-title">
      <h2 id="orders-title">Open orders</h2>
      <OrderRows list={list} showsPet={false} empty={<p className="empty">No open orders.</p>} />
      {mayChange && <OrderForm petId={petId} />}
    </section>
  )
}

/** In seconds; 0 is an order without a time limit. */
const HOLDS = [
  { value: 0, label: 'No time limit' },
  { value: 15 * 60, label: '15 minutes' },
  { value: 3_600, label: '1 hour' },
  { value: 86_400, label: '1 day' },
  { value: 7 * 86_400, label: '7 days' },
]

const EMPTY = { quantity: '1', hold: 0, customer: '', note: '' }

function OrderForm({ petId }: { readonly petId: bigint }) {
  const { orderActions } = useSession()
  const [draft, setDraft] = useState(EMPTY)
  const { failure, setFailure, isBusy, attempt } = useAttempt()
  const id = useId()
  const change = (changes: Partial<typeof EMPTY>) => setDraft({ ...draft, ...changes })
  const order = async () => {
    const quantity = readQuantity(draft.quantity) || undefined
    if (quantity === undefined) return setFailure('Enter a whole number of 1 or more.')
    await orderActions.order({
      petId,
      quantity,
      holdSeconds: draft.hold || undefined,
      customer: draft.customer.trim() || undefined,
      note: draft.note.trim() || undefined,
    })
    setDraft(EMPTY)
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    void attempt(order)
  }
  return (
    <form className="stack order-form" aria-labelledby={id} onSubmit={onSubmit}>
      <h3 id={id}>Reserve for a customer</h3>
      <div className="order-form__fields">
        <TextField
          label="How many"
          isNumber
          value={draft.quantity}
          onChange={(quantity) => change({ quantity })}
        />
        <SelectField
          label="For how long"
          options={HOLDS}
          value={draft.hold}
          onChange={(hold) => change({ hold })}
        />
        <TextField
          label="Customer"
          placeholder="Name or phone"
          maxLength={MAX_LENGTHS.NewOrder.customer}
          value={draft.customer}
          onChange={(customer) => change({ customer })}
        />
        <TextField
          label="Note"
          maxLength={MAX_LENGTHS.NewOrder.note}
          value={draft.note}
          onChange={(note) => change({ note })}
        />
        <Button type="submit" isBusy={isBusy}>
          Reserve
        </Button>
      </div>
      <p className="negative small" role="alert">
        {failure}
      </p>
    </form>
  )
}

/** Several events in a row cause one request. */
const REQUEST_AFTER_MS = 150

/**
 * The reserved units of the pet; `undefined` until they are known. The stock has them once all open orders are loaded.
 * Until then, and if there are too many orders, the service is asked about this pet.
 */
export function usePetReserved({ petId, reserved }: StockRow): number | undefined {
  const { client, saving, openOrders, feed } = useSession()
  const isKnown = useReadable(openOrders) === 'ready'
  const [answered, setAnswered] = useState<number>()
  useEffect(() => {
    if (isKnown) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const request = () => {
      client.inventory.availability(petId, { signal: saving.signal }).then(
        (availability) => setAnswered(availability.reserved),
        () => {},
      )
    }
    const leave = feed.orders.subscribe((notice) => {
      if (notice.type === 'change' && notice.change.petId !== petId) return
      clearTimeout(timer)
      timer = setTimeout(request, REQUEST_AFTER_MS)
    })
    request()
    return () => {
      leave()
      clearTimeout(timer)
    }
  }, [isKnown, client, saving, feed, petId])
  return isKnown ? reserved : answered
}
