import { useReadable } from '../data/observable.ts'
import type { OrderList, OrderListSnapshot } from '../data/orders/order-list.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { useNow } from '../ui/hooks.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { OrderRow, timesOf } from './order-row.tsx'
import './orders.css'

interface Props {
  readonly list: OrderList
  readonly orders: OrderListSnapshot
  readonly hasPet: boolean
}

/** The orders of a list, what can be done with them, and how to get at more of them. */
export function OrderRows({ list, orders: { orders, phase, failure, hasMore, isLoading }, hasPet }: Props) {
  const { stock, requests, orderActions } = useSession()
  useStock()
  const works = useReadable(orderActions)
  const now = useNow(1_000, requests.clock.now)
  const actions = useMayChange('orders') ? orderActions : undefined
  return (
    <>
      {failure !== undefined && (
        <RetryNotice tone="caution" onRetry={() => void list.reload()}>
          {failure}
        </RetryNotice>
      )}
      {phase === 'loading' && orders.length === 0 && (
        <div className="list__loading" role="status" aria-label="Loading the orders">
          <span className="skeleton" />
          <span className="skeleton" />
          <span className="skeleton" />
        </div>
      )}
      {orders.length > 0 && (
        <ol className="orders__list" aria-label="Orders">
          {orders.map((order) => (
            <OrderRow
              key={String(order.id)}
              order={order}
              name={stock.find(order.petId)?.name}
              isSettled={list.isSettled(order)}
              work={works.get(order.id)}
              actions={actions}
              hasPet={hasPet}
              {...timesOf(order, now)}
            />
          ))}
        </ol>
      )}
      {hasMore && phase === 'ready' && failure === undefined && (
        <button
          type="button"
          className="button list__more"
          aria-disabled={isLoading}
          onClick={() => void list.loadMore()}
        >
          {isLoading ? 'Loading …' : 'Load more'}
        </button>
      )}
    </>
  )
}
