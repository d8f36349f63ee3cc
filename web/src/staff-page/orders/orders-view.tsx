import { type KeyboardEvent, useMemo, useRef } from 'react'
import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import { type OrderListSnapshot, useOrderList } from '../data/orders/order-list.ts'
import {
  FIRST_ORDER_FILTER,
  type OrderFilter,
  type OrderKind,
  searchOrders,
} from '../data/orders/order-search.ts'
import { KIND_WORDS } from '../data/orders/order-words.ts'
import { OrderRows } from '../order-rows/order-rows.tsx'
import { useSession, useStock } from '../session/session-context.ts'
import { useDebounced, useSearchKey } from '../ui/hooks.ts'

const KINDS = Object.keys(KIND_WORDS) as readonly OrderKind[]
/** Whoever types is not searched for at every letter: a search is a request. */
const SEARCH_AFTER_MS = 250

/** The orders of the store: see what is waiting, complete it or cancel it. */
export function OrdersView() {
  const session = useSession()
  const { stock, orderCalls, orderNews, orderFilter } = session
  const filter = useReadable(orderFilter)
  const { hasNames } = useStock()
  const query = useDebounced(filter.query, SEARCH_AFTER_MS)
  const source = useMemo(
    () => searchOrders(orderCalls, { kind: filter.kind, query }, stock.get().rows),
    // Names are looked through once they are there, and not again with every change of the stock.
    [orderCalls, filter.kind, query, stock, hasNames],
  )
  const { list, orders } = useOrderList(source, orderNews)
  const search = useRef<HTMLInputElement>(null)
  const change = (changes: Partial<OrderFilter>) => orderFilter.set({ ...filter, ...changes })
  const settled = orders.orders.filter((order) => list.isSettled(order)).length
  const hideSettled = () => {
    list.hideSettled()
    search.current?.focus()
  }
  useSearchKey(search)
  return (
    <section className="view view--list orders" aria-label="Orders">
      <h1>Orders</h1>
      <div className="toolbar">
        <div className="toolbar__search">
          <Icon name="search" />
          <input
            ref={search}
            className="input"
            type="search"
            aria-label="Search by order id, pet id or pet name"
            placeholder="Search order, pet or name"
            aria-keyshortcuts="/"
            value={filter.query}
            onChange={({ currentTarget }) => change({ query: currentTarget.value })}
            onKeyDown={(event: KeyboardEvent) => {
              if (event.key === 'Escape') change({ query: '' })
            }}
          />
        </div>
        <fieldset className="segmented">
          <legend className="visually-hidden">State</legend>
          {KINDS.map((kind) => (
            <button
              key={kind}
              type="button"
              className="segmented__option"
              aria-pressed={filter.kind === kind}
              onClick={() => change({ kind })}
            >
              {KIND_WORDS[kind]}
            </button>
          ))}
        </fieldset>
      </div>
      <div className="orders__line">
        <p className="muted number" role="status">
          {countWords(orders, settled, filter.kind, query)}
        </p>
        {settled > 0 && (
          <button type="button" className="button button--small button--quiet" onClick={hideSettled}>
            Hide {settled === 1 ? 'the one' : `the ${settled}`} settled since
          </button>
        )}
      </div>
      <div className="card orders__card">
        <OrderRows list={list} orders={orders} hasPet />
        {orders.phase === 'ready' && orders.orders.length === 0 && (
          <Empty
            kind={filter.kind}
            isSearch={query.trim() !== ''}
            hasMore={orders.hasMore}
            onClear={() => orderFilter.set({ ...FIRST_ORDER_FILTER, kind: filter.kind })}
          />
        )}
      </div>
    </section>
  )
}

interface EmptyProps {
  readonly kind: OrderKind
  readonly isSearch: boolean
  readonly hasMore: boolean
  readonly onClear: () => void
}

function Empty({ kind, isSearch, hasMore, onClear }: EmptyProps) {
  if (!isSearch && !hasMore) {
    return (
      <div className="empty">
        <p className="empty__title">No {KIND_WORDS[kind].toLowerCase()} orders</p>
        <p>{EMPTY_WORDS[kind]}</p>
      </div>
    )
  }
  return (
    <div className="empty">
      <p className="empty__title">{hasMore ? 'Nothing found so far' : 'Nothing found'}</p>
      <p>
        No {KIND_WORDS[kind].toLowerCase()} order {hasMore ? 'that was looked at ' : ''}fits the search. An
        order is found by its id whatever its state.
      </p>
      {isSearch && (
        <button type="button" className="button" onClick={onClear}>
          Clear the search
        </button>
      )}
    </div>
  )
}

const EMPTY_WORDS: Readonly<Record<OrderKind, string>> = {
  open: 'Orders that somebody makes appear here at once.',
  held: 'A hold is an order that expires by itself unless it is completed before.',
  complete: 'What is completed is taken out of the stock, and listed here.',
  cancelled: 'What is cancelled reserves nothing any more, and is listed here.',
  expired: 'Holds that ended by themselves are listed here.',
}

function countWords(snapshot: OrderListSnapshot, settled: number, kind: OrderKind, query: string): string {
  const { phase, orders, hasMore, lookedAt } = snapshot
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  const count = orders.length - settled
  const number = count.toLocaleString('en')
  if (query.trim() !== '' || (kind === 'held' && hasMore)) {
    return hasMore ? `${number} found among the first ${lookedAt.toLocaleString('en')}` : `${number} found`
  }
  const noun = `${KIND_WORDS[kind].toLowerCase()} ${count === 1 ? 'order' : 'orders'}`
  return hasMore ? `The first ${number} ${noun}, oldest first` : `${number} ${noun}`
}
