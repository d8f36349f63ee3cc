import { isPetstoreError, type Order } from '@petstore/client'
import { useEffect, useState } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'
import { KIND_WORDS } from '../data/orders/order-words.ts'
import {
  canBeHandedOver,
  findReserved,
  groupReservations,
  type Reservation,
} from '../data/orders/reservations.ts'
import { momentWords } from '../data/time-words.ts'
import { showToast } from '../data/toasts.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { useDebounced, useNow } from '../ui/hooks.ts'

const SEARCH_AFTER_MS = 250

/** Hands over everything that was reserved for a customer at one moment. */
export function PickUpDialog({ onClose }: { readonly onClose: () => void }) {
  const { client, stock, feed, requests } = useSession()
  const [text, setText] = useState('')
  const [orders, setOrders] = useState<readonly Order[]>([])
  const [failure, setFailure] = useState<string>()
  const [isWorking, setWorking] = useState(false)
  const now = useNow(1_000, requests.clock.now)
  const query = useDebounced(text, SEARCH_AFTER_MS).trim()
  useEffect(() => {
    setOrders([])
    setFailure(undefined)
    if (query === '') return undefined
    const ending = new AbortController()
    findReserved(client.orders, query, ending.signal)
      .then(setOrders)
      .catch((error: unknown) => {
        if (!ending.signal.aborted) setFailure(failureWords(error))
      })
    return () => ending.abort()
  }, [client, query])
  const update = (changed: Order) =>
    setOrders((before) => before.map((order) => (order.id === changed.id ? changed : order)))
  useEffect(
    () =>
      feed.orders.subscribe((notice) => {
        if (notice.type === 'change') update(notice.change)
      }),
    [feed],
  )

  const handOver = async (customer: string, group: readonly Order[], close: () => void) => {
    setWorking(true)
    const failures: string[] = []
    for (const { id } of group) {
      try {
        update(await client.orders.complete(id))
      } catch (error) {
        failures.push(`Order ${id}: ${failureWords(error)}`)
        // Somebody closed it in the meantime.
        if (isPetstoreError(error, 'order_closed')) await client.orders.get(id).then(update, () => {})
      }
    }
    setWorking(false)
    if (failures.length === 0) {
      showToast({ name: 'sale', text: `Handed over ${ordersWords(group.length)} of ${customer}.` })
      return close()
    }
    setFailure(failures.join(' '))
  }
  const reservations = groupReservations(orders)
  return (
    <Dialog title="Pick up" closeLabel="Close" onClose={onClose}>
      {(close) => (
        <>
          <TextField
            label="Customer, telephone or order number"
            value={text}
            maxLength={200}
            onChange={setText}
            autoFocus
          />
          <p className="negative small" role="alert">
            {failure}
          </p>
          <div className="stack" role="status">
            {query !== '' && orders.length === 0 && failure === undefined && (
              <p className="muted">Nothing is reserved for “{query}”.</p>
            )}
            {hasNamesakes(reservations) && (
              <p>Several reservations have the same name. Compare the time and the note with the customer.</p>
            )}
          </div>
          <ul className="stack" aria-label="Reservations">
            {reservations.map((reservation) => {
              const { customer, createdAt } = reservation
              const open = reservation.orders.filter((order) => canBeHandedOver(order, now))
              return (
                <li key={String(reservation.orders[0]?.id)} className="stack panel">
                  <strong>{customer === '' ? 'No customer' : customer}</strong>
                  <span className="muted small">Reserved {momentWords(Date.parse(createdAt))}</span>
                  <ul>
                    {reservation.orders.map((order) => (
                      <li key={String(order.id)}>
                        {order.quantity} × {stock.nameOf(order.petId)}
                        <span className="muted">
                          {' '}
                          · order {String(order.id)}
                          {order.note !== undefined && ` · ${order.note}`}
                        </span>
                        {!open.includes(order) && <span className="badge">{closedWords(order)}</span>}
                      </li>
                    ))}
                  </ul>
                  {open.length > 0 && (
                    <Button
                      tone="primary"
                      isBusy={isWorking}
                      onClick={() => void handOver(customer, open, close)}
                    >
                      Hand over {ordersWords(open.length)}
                    </Button>
                  )}
                </li>
              )
            })}
          </ul>
        </>
      )}
    </Dialog>
  )
}

function ordersWords(count: number): string {
  return count === 1 ? '1 order' : `all ${count} orders`
}

function hasNamesakes(reservations: readonly Reservation[]): boolean {
  return new Set(reservations.map(({ customer }) => customer)).size < reservations.length
}

/** An open order that cannot be handed over is a hold that has just ended. */
function closedWords({ state }: Order): string {
  return KIND_WORDS[state === 'open' ? 'expired' : state]
}
