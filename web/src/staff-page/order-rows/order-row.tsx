import type { Order } from '@petstore/client'
import { type KeyboardEvent, memo, type ReactNode, useRef } from 'react'
import type { OrderActions, OrderWork } from '../data/orders/order-actions.ts'
import { KIND_WORDS, kindOf, leftWords } from '../data/orders/order-words.ts'
import { agoWords, exactMomentWords, momentWords } from '../data/time-words.ts'
import { href } from '../ui/navigation.ts'

export interface OrderRowProps {
  readonly order: Order
  readonly name: string | undefined
  /** It stays for a while though it does not belong here any more. */
  readonly isSettled: boolean
  readonly work: OrderWork | undefined
  /** How long its hold still lasts, in words. */
  readonly left: string | undefined
  readonly madeAgo: string
  /** Without them it can only be looked at. */
  readonly actions: OrderActions | undefined
  /** Where the pet is known from around it, it is not named again. */
  readonly hasPet: boolean
}

/** What of a row depends on the time: so that the others are not drawn again each second. */
export function timesOf(order: Order, now: number): Pick<OrderRowProps, 'left' | 'madeAgo'> {
  const isHeld = order.state === 'open' && order.expiresAt !== undefined
  return {
    left: isHeld ? leftWords(Date.parse(order.expiresAt) - now) : undefined,
    madeAgo: agoWords(Date.parse(order.createdAt), now),
  }
}

export const OrderRow = memo(function OrderRow(props: OrderRowProps) {
  const { order, name, isSettled, work, left, madeAgo, actions, hasPet } = props
  const { id, petId, quantity, shipDate, createdAt, expiresAt } = order
  const kind = kindOf(order)
  const row = useRef<HTMLLIElement>(null)
  const classes = ['order']
  if (isSettled) classes.push('order--settled')
  if (!hasPet) classes.push('order--of-pet')
  return (
    <li ref={row} className={classes.join(' ')} tabIndex={-1} aria-label={`Order ${id}`}>
      {hasPet && (
        <a className="order__pet" href={href({ view: 'pet', petId })}>
          {name ?? `Pet ${petId}`}
        </a>
      )}
      <span className="order__quantity number">
        <span aria-hidden="true">× </span>
        {quantity.toLocaleString('en')}
        <span className="visually-hidden"> ordered</span>
      </span>
      <span className="order__id number">
        <span className="visually-hidden">Order </span>
        <span aria-hidden="true">#</span>
        {String(id)}
      </span>
      <span className="order__state">
        <span className={`badge badge--${TONES[kind]}`}>{KIND_WORDS[kind]}</span>
        {left !== undefined && expiresAt !== undefined && (
          <time
            className="order__left number"
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
        </time>
        {shipDate !== undefined && (
          <time dateTime={shipDate} title={exactMomentWords(Date.parse(shipDate))}>
            {order.complete ? 'Shipped' : 'Ships'} {momentWords(Date.parse(shipDate))}
          </time>
        )}
      </span>
      <span className="order__actions">
        {actions !== undefined && (
          <Actions order={order} work={work} actions={actions} onBegun={() => row.current?.focus()} />
        )}
      </span>
      {work?.kind === 'failed' && (
        <span className="order__note order__note--failed">
          {work.reason}
          <button
            type="button"
            className="button button--small"
            onClick={() => {
              row.current?.focus()
              actions?.dismiss(id)
            }}
          >
            Close
          </button>
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

interface ActionsProps {
  readonly order: Order
  readonly work: OrderWork | undefined
  readonly actions: OrderActions
  /** The button that was pressed goes, and the focus with it. */
  readonly onBegun: () => void
}

function Actions({ order, work, actions, onBegun }: ActionsProps) {
  const { id } = order
  const begin = (act: (order: Order) => unknown) => () => {
    onBegun()
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
  if (work?.kind === 'ordered again')
    return <span className="muted">Ordered again as #{String(work.as)}</span>
  if (order.state === 'open' && work?.kind === 'asking') {
    const leave = () => {
      onBegun()
      actions.dismiss(id)
    }
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') leave()
    }
    return (
      // biome-ignore lint/a11y/noStaticElementInteractions: Escape does what one of the buttons does
      <span className="order__question" onKeyDown={onKey}>
        <span id={`order-question-${id}`}>Take {order.quantity.toLocaleString('en')} out of the stock?</span>
        <button
          ref={focused}
          type="button"
          className="button button--small button--primary"
          aria-label={`Yes, complete order ${id}`}
          aria-describedby={`order-question-${id}`}
          onClick={begin((one) => actions.complete(one))}
        >
          Yes, complete
        </button>
        <Button label={`Not yet: order ${id} stays open`} onClick={leave}>
          Not yet
        </Button>
      </span>
    )
  }
  if (order.state === 'open') {
    return (
      <>
        <Button label={`Complete order ${id}`} onClick={() => actions.ask(id)}>
          Complete
        </Button>
        <Button label={`Cancel order ${id}`} onClick={begin((one) => actions.cancel(one))}>
          Cancel
        </Button>
      </>
    )
  }
  if (order.state === 'complete') return null
  return (
    <Button label={`Order again what order ${id} was for`} onClick={begin((one) => actions.orderAgain(one))}>
      Order again
    </Button>
  )
}

interface ButtonProps {
  readonly label: string
  readonly onClick: () => void
  readonly children: ReactNode
}

function Button({ label, onClick, children }: ButtonProps) {
  return (
    <button type="button" className="button button--small" aria-label={label} onClick={onClick}>
      {children}
    </button>
  )
}

function focused(button: HTMLButtonElement | null): void {
  button?.focus()
}
