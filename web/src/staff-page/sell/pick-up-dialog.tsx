import { isPetstoreError, type Order } from '@petstore/client'
import { useEffect, useState } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'
import { showToast } from '../data/toasts.ts'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { useDebounced } from '../ui/hooks.ts'

const MAX_ORDERS = 100
const SEARCH_AFTER_MS = 250

/** Hands over everything that is reserved for a customer. */
export function PickUpDialog({ onClose }: { readonly onClose: () => void }) {
  const { client, stock } = useSession()
  const [name, setName] = useState('')
  const [orders, setOrders] = useState<readonly Order[]>([])
  const [failure, setFailure] = useState<string>()
  const [isWorking, setWorking] = useState(false)
  const customer = useDebounced(name, SEARCH_AFTER_MS).trim()
  useEffect(() => {
    setOrders([])
    setFailure(undefined)
    if (customer === '') return undefined
    const ending = new AbortController()
    client.orders
      .list({ customer, state: 'open', limit: MAX_ORDERS, signal: ending.signal })
      .then(({ items }) => setOrders(items))
      .catch((error: unknown) => {
        if (!ending.signal.aborted) setFailure(failureWords(error))
      })
    return () => ending.abort()
  }, [client, customer])

  const customers = byCustomer(orders)
  const handOver = async (group: readonly Order[], close: () => void) => {
    setWorking(true)
    const open: Order[] = []
    const failures: string[] = []
    for (const order of group) {
      try {
        await client.orders.complete(order.id)
      } catch (error) {
        // Somebody closed it meanwhile, or it expired: it is not open any more.
        if (!isPetstoreError(error, 'order_closed')) open.push(order)
        failures.push(`Order ${order.id}: ${failureWords(error)}`)
      }
    }
    setWorking(false)
    if (failures.length === 0) {
      showToast({ name: 'sale', text: `Handed over ${ordersWords(group.length)} of ${group[0]?.customer}.` })
      return close()
    }
    setOrders([...orders.filter((order) => !group.includes(order)), ...open])
    setFailure(failures.join(' '))
  }
  return (
    <Dialog title="Pick up" closeLabel="Close" onClose={onClose}>
      {(close) => (
        <>
          <TextField label="Customer" value={name} maxLength={200} onChange={setName} autoFocus />
          <p className="negative small" role="alert">
            {failure}
          </p>
          <div className="stack" role="status">
            {customer !== '' && orders.length === 0 && failure === undefined && (
              <p className="muted">Nothing is reserved for “{customer}”.</p>
            )}
          </div>
          <ul className="stack" aria-label="Customers">
            {[...customers].map(([each, group]) => (
              <li key={each} className="stack panel">
                <strong>{each}</strong>
                <ul>
                  {group.map(({ id, petId, quantity, note }) => (
                    <li key={String(id)}>
                      {quantity} × {stock.nameOf(petId)}
                      {note !== undefined && <span className="muted"> · {note}</span>}
                    </li>
                  ))}
                </ul>
                <Button tone="primary" isBusy={isWorking} onClick={() => void handOver(group, close)}>
                  Hand over {ordersWords(group.length)}
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  )
}

function ordersWords(count: number): string {
  return count === 1 ? '1 order' : `all ${count} orders`
}

function byCustomer(orders: readonly Order[]): ReadonlyMap<string, readonly Order[]> {
  const customers = new Map<string, Order[]>()
  for (const order of orders) {
    const name = order.customer ?? ''
    customers.set(name, [...(customers.get(name) ?? []), order])
  }
  return customers
}
