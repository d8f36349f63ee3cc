import { useMemo, useState } from 'preact/compat'
import { useLiveList } from '../data/live-list.ts'
import { OPEN_ORDERS, type OrderSource, orderSource } from '../data/orders/order-search.ts'
import { OrderRows } from '../order-rows/order-rows.tsx'
import { useSession } from '../session/session-context.ts'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { useDebounced } from '../ui/hooks.ts'

const SEARCH_AFTER_MS = 250

/** Hands over what was reserved for a customer, also after the hold has expired. */
export function PickUpDialog({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('')
  const query = useDebounced(text, SEARCH_AFTER_MS).trim()
  return (
    <Dialog title="Pick up" closeLabel="Close" onClose={onClose}>
      <TextField
        label="Customer, telephone, order number or reference"
        value={text}
        maxLength={200}
        onChange={setText}
        autoFocus
      />
      {query !== '' && <Reservations query={query} />}
    </Dialog>
  )
}

function Reservations({ query }: { readonly query: string }) {
  const { client, feed } = useSession()
  const source = useMemo((): OrderSource => {
    const reads = { client, events: feed.orders }
    const open = orderSource(reads, { ...OPEN_ORDERS, query })
    const expired = orderSource(reads, { ...OPEN_ORDERS, state: 'expired', query })
    return {
      ...open,
      load: async (_, signal) => {
        const lists = await Promise.all([open, expired].map(({ load }) => load(undefined, signal)))
        // An order that is found by its number is in both lists.
        return {
          items: [...new Map(lists.flatMap(({ items }) => items).map((order) => [order.id, order])).values()],
        }
      },
    }
  }, [client, feed, query])
  const list = useLiveList(source)
  return <OrderRows list={list} empty={<p className="empty">Nothing is reserved for “{query}”.</p>} />
}
