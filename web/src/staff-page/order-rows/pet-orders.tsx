import { useMemo, useState } from 'preact/compat'
import { useLiveList } from '../data/live-list.ts'
import { OPEN_ORDERS, orderSource } from '../data/orders/order-search.ts'
import { useMayChange, useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { OrderDialog } from './order-dialog.tsx'
import { OrderRows } from './order-rows.tsx'

/** The open orders of one pet, and the form for another one. */
export function PetOrders({ petId }: { readonly petId: bigint }) {
  const { client, feed } = useSession()
  const mayChange = useMayChange('orders')
  const [isReserving, setReserving] = useState(false)
  const list = useLiveList(
    useMemo(
      () => orderSource({ client, events: feed.orders }, { ...OPEN_ORDERS, petId }),
      [client, feed, petId],
    ),
  )
  return (
    <section className="stack" aria-labelledby="orders-title">
      <div className="cluster">
        <h2 id="orders-title">Open orders</h2>
        {mayChange && (
          <Button size="small" onClick={() => setReserving(true)}>
            Reserve for a customer…
          </Button>
        )}
      </div>
      <OrderRows list={list} empty={<p className="empty">No open orders.</p>} />
      {isReserving && <OrderDialog lines={[{ petId, quantity: 1 }]} onClose={() => setReserving(false)} />}
    </section>
  )
}
