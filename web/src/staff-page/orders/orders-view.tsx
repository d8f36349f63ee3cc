import { type Order, type OrderState, VALUES } from '@petstore/client'
import { useMemo, useRef } from 'preact/compat'
import { type ListSnapshot, useLiveList } from '../data/live-list.ts'
import { useReadable } from '../data/observable.ts'
import { OPEN_ORDERS, type OrderFilter, orderSource } from '../data/orders/order-search.ts'
import { isPending, KIND_WORDS } from '../data/orders/order-words.ts'
import { OrderRows } from '../order-rows/order-rows.tsx'
import { PetFilter } from '../scanner/pet-filter.tsx'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { useDebounced, useLostFocus } from '../ui/hooks.ts'
import { Empty } from '../ui/list-frame.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { SegmentedControl } from '../ui/segmented-control.tsx'

const STATES = VALUES.OrderState.map((value) => ({ value, label: KIND_WORDS[value] }))
const SEARCH_AFTER_MS = 250

/** All orders: what is waiting, to complete or to cancel. */
export function OrdersView() {
  const { client, feed, orderFilter } = useSession()
  const filter = useReadable(orderFilter)
  const { state, petId, from, to } = filter
  const query = useDebounced(filter.query, SEARCH_AFTER_MS).trim()
  const list = useLiveList(
    useMemo(
      () => orderSource({ client, events: feed.orders }, { state, query, petId, from, to }),
      [client, feed, state, query, petId, from, to],
    ),
  )
  const orders = list.get()
  const section = useRef<HTMLElement>(null)
  // A row that was completed or cancelled leaves the list.
  useLostFocus(section, orders.rows.length)
  const change = (changes: Partial<OrderFilter>) => orderFilter.set({ ...filter, ...changes })
  const isSearch = query !== '' || petId !== undefined || from !== '' || to !== ''
  return (
    <section ref={section} className="view view--list orders" aria-label="Orders" tabIndex={-1}>
      <h1>Orders</h1>
      <div className="toolbar">
        <SearchField
          label="Search by order number, customer or reference"
          placeholder="Number, customer or reference"
          value={filter.query}
          onChange={(text) => change({ query: text })}
        />
        <PetFilter petId={petId} onPick={(picked) => change({ petId: picked })} />
        <SegmentedControl
          label="State"
          options={STATES}
          value={state}
          onChange={(chosen) => change({ state: chosen, from: '', to: '' })}
        />
        {!isPending({ state }) && (
          <>
            <TextField
              label="From"
              type="date"
              isNumber
              value={from}
              onChange={(day) => change({ from: day })}
            />
            <TextField label="To" type="date" isNumber value={to} onChange={(day) => change({ to: day })} />
          </>
        )}
      </div>
      <p className="muted small number" role="status">
        {countWords(orders, state, isSearch)}
      </p>
      <OrderRows
        list={list}
        empty={
          <NoOrders
            state={state}
            isSearch={isSearch}
            onClear={() => orderFilter.set({ ...OPEN_ORDERS, state })}
          />
        }
      />
    </section>
  )
}

interface NoOrdersProps {
  readonly state: OrderState
  readonly isSearch: boolean
  readonly onClear: () => void
}

function NoOrders({ state, isSearch, onClear }: NoOrdersProps) {
  const stateWords = KIND_WORDS[state].toLowerCase()
  if (!isSearch) {
    return (
      <Empty title={`No ${stateWords} orders`}>
        <p>{EMPTY_WORDS[state]}</p>
      </Empty>
    )
  }
  return (
    <Empty title="Nothing found">
      <p>No {stateWords} order matches. Orders in other states may.</p>
      <Button onClick={onClear}>Clear the search</Button>
    </Empty>
  )
}

const EMPTY_WORDS: Readonly<Record<OrderState, string>> = {
  open: 'New orders appear here at once.',
  complete: 'Completed orders have left the stock.',
  cancelled: 'Cancelled orders reserve nothing any more.',
  expired: 'Holds that ended by themselves are listed here.',
}

function countWords(
  { phase, rows, next }: ListSnapshot<Order>,
  state: OrderState,
  isSearch: boolean,
): string {
  if (phase !== 'ready') return phase === 'loading' ? 'Loading' : ''
  const count = rows.length.toLocaleString('en')
  if (isSearch && next === undefined) return `${count} found`
  const noun = `${KIND_WORDS[state].toLowerCase()} ${rows.length === 1 ? 'order' : 'orders'}`
  return next === undefined ? `${count} ${noun}` : `The first ${count} ${noun}, oldest first`
}
