import { useCallback, useEffect, useMemo, useState } from 'react'
import { useReadable } from '../data/observable.ts'
import { ORDERS_TO_A_PAGE, useOrderList } from '../data/orders/order-list.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { OrderForm } from './order-form.tsx'
import { OrderRows } from './order-rows.tsx'

/** The open orders of one pet, and how to make another one. */
export function PetOrders({ row }: { readonly row: StockRow }) {
  const { petId } = row
  const { orderCalls, orderNews } = useSession()
  const mayChange = useMayChange('orders')
  const source = useMemo(
    () => ({
      read: (signal: AbortSignal) =>
        orderCalls.list({ state: 'open', petId, pageSize: ORDERS_TO_A_PAGE + 1 }, signal),
      fits: (order: { readonly petId: bigint; readonly state: string }) =>
        order.petId === petId && order.state === 'open',
    }),
    [orderCalls, petId],
  )
  const { list, orders } = useOrderList(source, orderNews)
  return (
    <section className="card" aria-labelledby="orders-title">
      <div className="card__header">
        <h2 id="orders-title">Open orders</h2>
      </div>
      <div className="card__body pet-orders">
        {mayChange && <OrderForm row={row} />}
        <div>
          <OrderRows list={list} orders={orders} hasPet={false} />
          {orders.phase === 'ready' && orders.orders.length === 0 && (
            <p className="muted">Nobody has ordered it at the moment.</p>
          )}
        </div>
      </div>
    </section>
  )
}

/** Several events in a row are followed by one question. */
const ASK_AFTER_MS = 150

/**
 * What is reserved of the pet; `undefined` until that is known. The stock knows it once all open orders are read;
 * until then, and where there are too many of them, the service is asked about this one pet.
 */
export function usePetReserved({ petId, reserved }: StockRow): number | undefined {
  const { orderCalls, openOrders, feed } = useSession()
  const isKnown = useReadable(openOrders) === 'ready'
  const [answered, setAnswered] = useState<number>()
  const ask = useCallback(
    () =>
      orderCalls.availability(petId).then(
        (told) => setAnswered(told.reserved),
        () => {},
      ),
    [orderCalls, petId],
  )
  useEffect(() => {
    if (isKnown) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const leave = feed.orders.subscribe((notice) => {
      if (notice.type === 'change' && notice.change.petId !== petId) return
      clearTimeout(timer)
      timer = setTimeout(() => void ask(), ASK_AFTER_MS)
    })
    void ask()
    return () => {
      leave()
      clearTimeout(timer)
    }
  }, [isKnown, ask, feed, petId])
  return isKnown ? reserved : answered
}
