import { useMemo, useRef } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { type OrderListSnapshot, useOrderList } from '../data/orders/order-list.ts'
import { type OrderFilter, type OrderKind, searchOrders } from '../data/orders/order-search.ts'
import { KIND_WORDS } from '../data/orders/order-words.ts'
import { OrderRows } from '../order-rows/order-rows.tsx'
import { PetFilter } from '../scanner/pet-filter.tsx'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { useDebounced, useLostFocus } from '../ui/hooks.ts'
import { Empty } from '../ui/list-frame.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { SegmentedControl } from '../ui/segmented-control.tsx'

// The cast is safe: `KIND_WORDS` has every kind and nothing else.
const KINDS = (Object.keys(KIND_WORDS) as readonly OrderKind[]).map((value) => ({
  value,
  label: KIND_WORDS[value],
}))
const SEARCH_AFTER_MS = 250

/** All orders: what is waiting, to complete or to cancel. */
export function OrdersView() {
  const { client, orderNews, orderFilter } = useSession()
  const filter = useReadable(orderFilter)
  const { kind, petId } = filter
  const query = useDebounced(filter.query, SEARCH_AFTER_MS).trim()
  const source = useMemo(
    () => searchOrders(client.orders, { kind, query, petId }),
    [client, kind, query, petId],
  )
  const { list, orders } = useOrderList(source, orderNews)
  const section = useRef<HTMLElement>(null)
  // A row that was completed or cancelled leaves the list.
  useLostFocus(section, orders.rows.length)
  const change = (changes: Partial<OrderFilter>) => orderFilter.set({ ...filter, ...changes })
  const isSearch = query !== '' || petId !== undefined
  return (
    <section ref={section} className="view view--list orders" aria-label="Orders" tabIndex={-1}>
      <h1>Orders</h1>
      <div className="toolbar">
        <SearchField
          label="Search by order number or customer"
          placeholder="Order number or customer"
          value={filter.query}
          onChange={(text) => change({ query: text })}
        />
        <PetFilter petId={petId} onPick={(picked) => change({ petId: picked })} />
        <SegmentedControl
          label="State"
          options={KINDS}
          value={kind}
          onChange={(chosen) => change({ kind: chosen })}
        />
      </div>
      <p className="muted small number" role="status">
        {countWords(orders, kind, isSearch)}
      </p>
      <OrderRows
        list={list}
        showsPet
        empty={
          <NoOrders
            kind={kind}
            isSearch={isSearch}
            hasMore={orders.next !== undefined}
            onClear={() => change({ query: '', petId: undefined })}
          />
        }
      />
    </section>
  )
}

interface NoOrdersProps {
  readonly kind: OrderKind
  readonly isSearch: boolean
  readonly hasMore: boolean
  readonly onClear: () => void
}

function NoOrders({ kind, isSearch, hasMore, onClear }: NoOrdersProps) {
  const kindWords = KIND_WORDS[kind].toLowerCase()
  if (!isSearch && !hasMore) {
    return (
      <Empty title={`No ${kindWords} orders`}>
        <p>{EMPTY_WORDS[kind]}</p>
      </Empty>
    )
  }
  return (
    <Empty title={hasMore ? 'Nothing found so far' : 'Nothing found'}>
      <p>No {kindWords} order matches. Orders in other states may.</p>
      {isSearch && <Button onClick={onClear}>Clear the search</Button>}
    </Empty>
  )
}

const EMPTY_WORDS: Readonly<Record<OrderKind, string>> = {
  open: 'New orders appear here at once.',
  held: 'A hold is an order that ends by itself unless it is completed before.',
  complete: 'Completed orders have left the stock.',
  cancelled: 'Cancelled orders reserve nothing any more.',
  expired: 'Holds that ended by themselves are listed here.',
}

function countWords({ phase, rows, next }: OrderListSnapshot, kind: OrderKind, isSearch: boolean): string {
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  const count = rows.length.toLocaleString('en')
  if (isSearch && next === undefined) return `${count} found`
  const noun = `${KIND_WORDS[kind].toLowerCase()} ${rows.length === 1 ? 'order' : 'orders'}`
  return next === undefined ? `${count} ${noun}` : `The first ${count} ${noun}, oldest first`
}
