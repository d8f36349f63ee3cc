import type { Order } from '@petstore/client'
import { memo, useRef } from 'preact/compat'
import type { OrderActions, OrderWork } from '../data/orders/order-actions.ts'
import { isOverdue, KIND_WORDS, kindOf, leftWords } from '../data/orders/order-words.ts'
import { agoWords, exactMomentWords, momentWords } from '../data/time-words.ts'
import { Button } from '../ui/button.tsx'
import { href } from '../ui/navigation.ts'

export interface OrderRowProps extends OrderTimes {
  readonly order: Order
  readonly name: string | undefined
  /** The name of the person who made the order. */
  readonly createdBy: string | undefined
  /** The name of the person who completed or cancelled it. */
  readonly closedBy: string | undefined
  /** It no longer belongs to the list, and stays until the user hides it. */
  readonly isSettled: boolean
  readonly work: OrderWork | undefined
  /** `undefined` if the key may not change orders. */
  readonly actions: OrderActions | undefined
  /** False in the view of one pet. */
  readonly showsPet: boolean
}

/** The parts of a row that depend on the time. Rows whose times stay the same are not rendered again each second. */
interface OrderTimes {
  /** The time left in the hold. */
  readonly left: string | undefined
  readonly madeAgo: string
  readonly isLate: boolean
}

export function timesOf(order: Order, now: number): OrderTimes {
  const isHeld = order.state === 'open' && order.expiresAt !== undefined
  return {
    left: isHeld ? leftWords(Date.parse(order.expiresAt) - now) : undefined,
    madeAgo: agoWords(Date.parse(order.createdAt), now),
    isLate: isOverdue(order, now),
  }
}

export function orderRowId(orderId: bigint): string {
  return `order-${orderId}`
}

export const OrderRow = memo(function OrderRow(props: OrderRowProps) {
  const { order, name, createdBy, closedBy, isSettled, work, left, madeAgo, isLate, actions, showsPet } =
    props
  const { id, petId, quantity, shipDate, createdAt, closedAt, expiresAt, customer, note } = order
  const kind = kindOf(order)
  const row = useRef<HTMLLIElement>(null)
  const focusRow = () => row.current?.focus()
  const classes = ['list-row', 'order']
  if (isSettled) classes.push('order--settled')
  if (!showsPet) classes.push('order--of-pet')
  return (
    <li ref={row} id={orderRowId(id)} className={classes.join(' ')} tabIndex={-1} aria-label={`Order ${id}`}>
      {showsPet && (
        <a className="order__pet list-row__name" href={href({ view: 'pet', petId })}>
          {name ?? `Pet ${petId}`}
        </a>
      )}
      <span className="order__quantity number">
        <span aria-hidden="true">× </span>
        {quantity.toLocaleString('en')}
        <span className="visually-hidden"> ordered</span>
      </span>
      <span className="order__id number muted">
        <span className="visually-hidden">Order </span>
        <span aria-hidden="true">#</span>
        {String(id)}
      </span>
      <span className="order__state cluster">
        <span className={`badge badge--${isLate ? 'negative' : TONES[kind]}`}>
          {isLate ? 'Overdue' : KIND_WORDS[kind]}
        </span>
        {left !== undefined && expiresAt !== undefined && (
          <time
            className="small order__left number"
            dateTime={expiresAt}
            title={`Until ${exactMomentWords(Date.parse(expiresAt))}`}
          >
            {left === '0:00' ? 'ending' : `${left} left`}
          </time>
        )}
      </span>
      <span className="order__times">
        <time dateTime={createdAt} title={exactMomentWords(Date.parse(createdAt))}>
          Made {madeAgo}
          {byWords(createdBy)}
        </time>
        {closedAt !== undefined && closedBy !== undefined && (
          <time dateTime={closedAt} title={exactMomentWords(Date.parse(closedAt))}>
            {order.complete ? 'Completed' : 'Cancelled'} {momentWords(Date.parse(closedAt))}
            {byWords(closedBy)}
          </time>
        )}
        {shipDate !== undefined && (
          <time
            className={isLate ? 'negative' : undefined}
            dateTime={shipDate}
            title={exactMomentWords(Date.parse(shipDate))}
          >
            {shipWords(order, isLate)} {momentWords(Date.parse(shipDate))}
          </time>
        )}
      </span>
      <span className="small order__actions cluster cluster--end">
        {actions !== undefined && <Actions order={order} work={work} actions={actions} onBegin={focusRow} />}
      </span>
      {(customer !== undefined || note !== undefined) && (
        <span className="cluster order__for muted small">
          {customer !== undefined && <strong>{customer}</strong>}
          {note !== undefined && <span className="order__note">{note}</span>}
        </span>
      )}
      {actions !== undefined && order.state === 'open' && work?.kind === 'asking' && (
        <Question order={order} actions={actions} onAnswer={focusRow} />
      )}
      {work?.kind === 'failed' && (
        <span className="small order__below negative cluster">
          {work.reason}
          <Button
            size="small"
            onClick={() => {
              focusRow()
              actions?.dismiss(id)
            }}
          >
            Close
          </Button>
        </span>
      )}
    </li>
  )
})

const TONES = {
  open: 'accent',
  held: 'caution',
  complete: 'positive',
  cancelled: 'neutral',
  expired: 'neutral',
} as const

function byWords(name: string | undefined): string {
  return name === undefined ? '' : ` by ${name}`
}

function shipWords({ complete }: Order, isLate: boolean): string {
  if (isLate) return 'Was due'
  return complete ? 'Shipped' : 'Ships'
}

interface ActionsProps {
  readonly order: Order
  readonly work: OrderWork | undefined
  readonly actions: OrderActions
  /** The pressed button disappears, so the row takes the focus. */
  readonly onBegin: () => void
}

function Actions({ order, work, actions, onBegin }: ActionsProps) {
  const { id, state } = order
  const begin = (act: (order: Order) => unknown) => () => {
    onBegin()
    void act(order)
  }
  if (work?.kind === 'working') {
    return (
      <span className="row-state muted">
        <span className="spinner" aria-hidden="true" />
        {work.words}
      </span>
    )
  }
  if (work?.kind === 'ordered again') {
    return <span className="muted">Ordered again as #{String(work.as)}</span>
  }
  if (state === 'complete') return null
  if (state !== 'open') {
    return (
      <Button
        size="small"
        aria-label={`Order again what order ${id} was for`}
        onClick={begin((again) => actions.orderAgain(again))}
      >
        Order again
      </Button>
    )
  }
  return (
    <>
      <Button
        size="small"
        aria-label={`Complete order ${id}`}
        aria-expanded={work?.kind === 'asking'}
        onClick={() => actions.ask(id)}
      >
        Complete
      </Button>
      <Button
        size="small"
        aria-label={`Cancel order ${id}`}
        onClick={begin((cancelled) => actions.cancel(cancelled))}
      >
        Cancel
      </Button>
    </>
  )
}

interface QuestionProps {
  readonly order: Order
  readonly actions: OrderActions
  readonly onAnswer: () => void
}

/** Asks in a line of its own, so that the columns of the row stay in place. */
function Question({ order, actions, onAnswer }: QuestionProps) {
  const { id, quantity } = order
  const leave = () => {
    onAnswer()
    actions.dismiss(id)
  }
  const onKey = ({ key }: KeyboardEvent) => {
    if (key === 'Escape') leave()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape is a shortcut for one of the buttons
    <span className="small order__below cluster cluster--end" onKeyDown={onKey}>
      <span id={`order-question-${id}`}>Take {quantity.toLocaleString('en')} out of the stock?</span>
      <Button
        ref={focus}
        size="small"
        tone="primary"
        aria-label={`Yes, complete order ${id}`}
        aria-describedby={`order-question-${id}`}
        onClick={() => {
          onAnswer()
          void actions.complete(order)
        }}
      >
        Yes, complete
      </Button>
      <Button size="small" aria-label={`Not yet: order ${id} stays open`} onClick={leave}>
        Not yet
      </Button>
    </span>
  )
}

function focus(button: HTMLButtonElement | null): void {
  button?.focus()
}
