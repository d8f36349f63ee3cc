import type { Order } from '@petstore/client'
import { useEffect, useMemo, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { type OrderListSnapshot, type OrderSource, useOrderList } from '../data/orders/order-list.ts'
import { type OrderFilter, type OrderKind, searchOrders } from '../data/orders/order-search.ts'
import { KIND_WORDS } from '../data/orders/order-words.ts'
import { OrderRows, orderRowId } from '../order-rows/order-rows.tsx'
import { useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { useDebounced } from '../ui/hooks.ts'
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
  const { stock, feed, client, orderNews, orderFilter } = useSession()
  const filter = useReadable(orderFilter)
  const { hasNames } = useStock()
  const query = useDebounced(filter.query, SEARCH_AFTER_MS).trim()
  const source = useMemo(
    () => searchOrders(client.orders, { kind: filter.kind, query }, stock, feed.read),
    // Names are searched once they are loaded, and not again at every change of the stock.
    [client, filter.kind, query, stock, feed, query !== '' && hasNames],
  )
  const { list, orders } = useOrderList(source, orderNews)
  const [arrived, setArrived] = useArrivedOrders(source)
  const search = useRef<HTMLInputElement>(null)
  const change = (changes: Partial<OrderFilter>) => orderFilter.set({ ...filter, ...changes })
  const settled = orders.rows.filter((order) => list.isSettled(order)).length
  const hideSettled = () => {
    list.hideSettled()
    search.current?.focus()
  }
  const show = ({ id }: Order) => {
    setArrived([])
    const row = document.getElementById(orderRowId(id))
    // The order may be on a page that is not loaded.
    if (row === null) change({ query: `#${id}` })
    else row.focus()
  }
  const [firstArrived] = arrived
  return (
    <section className="view view--list orders" aria-label="Orders">
      <h1>Orders</h1>
      <div className="toolbar">
        <SearchField
          label="Search by order, customer, or the pet’s name, id or barcode"
          placeholder="Search order, customer or pet"
          value={filter.query}
          onChange={(text) => change({ query: text })}
          field={search}
        />
        <SegmentedControl
          label="State"
          options={KINDS}
          value={filter.kind}
          onChange={(kind) => change({ kind })}
        />
      </div>
      <div className="cluster small orders__status">
        <p className="muted number" role="status">
          {countWords(orders, settled, filter.kind, query)}
        </p>
        <span className="visually-hidden" role="status">
          {arrivalWords(arrived.at(-1))}
        </span>
        {firstArrived !== undefined && (
          <Button size="small" onClick={() => show(firstArrived)}>
            Show {arrived.length === 1 ? '1 new order' : `${arrived.length.toLocaleString('en')} new orders`}
          </Button>
        )}
        {settled > 0 && (
          <Button size="small" tone="quiet" onClick={hideSettled}>
            Hide {settled === 1 ? 'the order' : `the ${settled} orders`} closed since
          </Button>
        )}
      </div>
      <OrderRows
        list={list}
        showsPet
        empty={
          <NoOrders
            kind={filter.kind}
            isSearch={query !== ''}
            hasMore={orders.next !== undefined}
            onClear={() => change({ query: '' })}
          />
        }
      />
    </section>
  )
}

/** The orders that were made since the list was opened. The list shows the oldest first, so they are below. */
function useArrivedOrders(source: OrderSource) {
  const { feed } = useSession()
  const [arrived, setArrived] = useState<readonly Order[]>([])
  useEffect(() => {
    setArrived([])
    return feed.events.subscribe((notice) => {
      if (notice.type !== 'change' || notice.change.type !== 'order') return
      const { change, order } = notice.change
      if (change === 'created') setArrived((before) => (source.fits(order) ? [...before, order] : before))
      else if (order.state !== 'open') setArrived((before) => before.filter(({ id }) => id !== order.id))
    })
  }, [feed, source])
  return [arrived, setArrived] as const
}

function arrivalWords(order: Order | undefined): string {
  if (order === undefined) return ''
  return `Order ${order.id}${order.customer === undefined ? '' : ` for ${order.customer}`} arrived.`
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
      <p>No order has this number or customer, and no {kindWords} order is for such a pet.</p>
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

function countWords(orders: OrderListSnapshot, settled: number, kind: OrderKind, query: string): string {
  const { phase, rows, next, examined } = orders
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  const count = rows.length - settled
  const number = count.toLocaleString('en')
  const hasMore = next !== undefined
  if (query !== '' || (kind === 'held' && hasMore)) {
    return hasMore ? `${number} found among the first ${examined.toLocaleString('en')}` : `${number} found`
  }
  const noun = `${KIND_WORDS[kind].toLowerCase()} ${count === 1 ? 'order' : 'orders'}`
  return hasMore ? `The first ${number} ${noun}, oldest first` : `${number} ${noun}`
}
