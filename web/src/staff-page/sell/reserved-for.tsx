import type { Order } from '@petstore/client'
import { useEffect, useState } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'
import { showToast } from '../data/toasts.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { ask } from '../ui/confirm.tsx'

interface Props {
  readonly petId: bigint
  readonly missing: number
}

/** For whom a pet is reserved, with an offer to take the units from that order. */
export function ReservedFor({ petId, missing }: Props) {
  const { client } = useSession()
  const mayOrder = useMayChange('orders')
  const [orders, setOrders] = useState<readonly Order[]>([])
  useEffect(() => {
    const ending = new AbortController()
    const load = async () => {
      const page = await client.orders.list({ petId, state: 'open', signal: ending.signal })
      setOrders(page.items)
    }
    load().catch(() => {})
    return () => ending.abort()
  }, [client, petId])
  const take = async (order: Order) => {
    const isSure = await ask({
      title: `Cancel the order of ${nameOf(order)}?`,
      text: [
        `Order ${order.id} reserves ${order.quantity.toLocaleString('en')}. It will be cancelled, and its units can be sold.`,
        'Nobody is informed. Tell the customer.',
      ],
      yes: 'Cancel the order',
      no: 'Keep it',
    })
    if (!isSure) return
    try {
      await client.orders.cancel(order.id)
      setOrders(orders.filter(({ id }) => id !== order.id))
      showToast({ name: 'order', text: `Order ${order.id} is cancelled. Sell again.` })
    } catch (error) {
      showToast({ name: 'order', tone: 'negative', text: failureWords(error) })
    }
  }
  if (missing <= 0 || orders.length === 0) return null
  return (
    <ul className="sell-line__orders">
      {orders.map((order) => (
        <li key={String(order.id)} className="cluster">
          <span>
            {order.quantity.toLocaleString('en')} reserved for {nameOf(order)}
          </span>
          {mayOrder && (
            <Button size="small" onClick={() => void take(order)}>
              Take from this order…
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

function nameOf({ customer, id }: Order): string {
  return customer ?? `order ${id}`
}
