import type { Order } from '@petstore/client'
import { useCallback, useEffect, useMemo, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { ORDERS_PER_PAGE, useOrderList } from '../data/orders/order-list.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { OrderForm } from './order-form.tsx'
import { OrderRows } from './order-rows.tsx'

/** The open orders of one pet, and the form for another one. */
export function PetOrders({ row }: { readonly row: StockRow }) {
  const { petId } = row
  const { client, orderNews } = useSession()
  const mayChange = useMayChange('orders')
  const source = useMemo(
    () => ({
      read: (signal: AbortSignal) =>
        client.orders.list({ state: 'open', petId, limit: ORDERS_PER_PAGE + 1, signal }),
      fits: (order: Order) => order.petId === petId && order.state === 'open',
    }),
    [client, petId],
  )
  const { list, orders } = useOrderList(source, orderNews)
  return (
    <section className="stack" aria-labelledby="orders-title">
      <h2 id="orders-title">Open orders</h2>
      <OrderRows
        list={list}
        orders={orders}
        showsPet={false}
        empty={<p className="empty">No open orders.</p>}
      />
      {mayChange && <OrderForm row={row} />}
    </section>
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
  const request = useCallback(
    () =>
      client.inventory.availability(petId, { signal: saving.signal }).then(
        (availability) => setAnswered(availability.reserved),
        () => {},
      ),
    [client, saving, petId],
  )
  useEffect(() => {
    if (isKnown) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const leave = feed.orders.subscribe((notice) => {
      if (notice.type === 'change' && notice.change.petId !== petId) return
      clearTimeout(timer)
      timer = setTimeout(() => void request(), REQUEST_AFTER_MS)
    })
    void request()
    return () => {
      leave()
      clearTimeout(timer)
    }
  }, [isKnown, request, feed, petId])
  return isKnown ? reserved : answered
}
