import { type ReactNode, useEffect } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import type { OrderList, OrderListSnapshot } from '../data/orders/order-list.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { useNow } from '../ui/hooks.ts'
import { ListFrame } from '../ui/list-frame.tsx'
import { OrderRow, timesOf } from './order-row.tsx'
import './orders.css'

interface Props {
  readonly list: OrderList
  readonly orders: OrderListSnapshot
  readonly showsPet: boolean
  readonly empty: ReactNode
}

/** The orders of a list, with their actions. */
export function OrderRows({ list, orders, showsPet, empty }: Props) {
  const { rows, phase, failure, next, isLoadingMore } = orders
  const { stock, requests, orderActions, keyNames } = useSession()
  useStock()
  const works = useReadable(orderActions)
  const names = useReadable(keyNames)
  useEffect(() => {
    const keyIds = rows.flatMap(({ createdBy, closedBy }) => [createdBy, closedBy])
    void keyNames.load(keyIds.filter((id) => id !== undefined))
  }, [keyNames, rows])
  const now = useNow(1_000, requests.clock.now)
  const actions = useMayChange('orders') ? orderActions : undefined
  // Orders of the command line and of imports have no person.
  const nameOf = (keyId: string | undefined) => (keyId === undefined ? undefined : names.get(keyId))
  return (
    <ListFrame
      label="Orders"
      phase={phase}
      failure={failure}
      isEmpty={rows.length === 0}
      hasMore={next !== undefined}
      isLoadingMore={isLoadingMore}
      onRetry={() => void list.reload()}
      onLoadMore={() => void list.loadMore()}
      empty={empty}
    >
      {rows.map((order) => (
        <OrderRow
          key={String(order.id)}
          order={order}
          name={stock.lookUp(order.petId)?.name}
          createdBy={nameOf(order.createdBy)}
          closedBy={nameOf(order.closedBy)}
          isSettled={list.isSettled(order)}
          work={works.get(order.id)}
          actions={actions}
          showsPet={showsPet}
          {...timesOf(order, now)}
        />
      ))}
    </ListFrame>
  )
}
