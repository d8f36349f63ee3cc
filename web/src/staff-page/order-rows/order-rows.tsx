import type { Order } from '@petstore/client'
import { memo, type ReactNode, useEffect, useRef } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import type { OrderActions, OrderWork } from '../data/orders/order-actions.ts'
import type { OrderList } from '../data/orders/order-list.ts'
import { isOverdue, KIND_WORDS, kindOf, leftWords } from '../data/orders/order-words.ts'
import { agoWords, exactMomentWords, momentWords } from '../data/time-words.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { useNow } from '../ui/hooks.ts'
import { ListFrame } from '../ui/list-frame.tsx'
import { href } from '../ui/navigation.ts'
import './orders.css'

interface Props {
  readonly list: OrderList
  readonly showsPet: boolean
  readonly empty: ReactNode
}

export function OrderRows({ list, showsPet, empty }: Props) {
  const { rows } = list.get()
  const { stock, requests, orderActions, keyNames } = useSession()
  useStock()
  const works = useReadable(orderActions)
  const names = useReadable(keyNames)
  useEffect(() => {
    const keyIds = rows.flatMap(({ createdBy, closedBy }) => [createdBy, closedBy])
    void keyNames.load(keyIds.filter((id) => id !== undefined))
  }, [keyNames, rows])
  const now = useNow(1_000, requests.clock.now)
  const actions = useMayChange('orders') ? orderActions : undefined
  // Orders of the command line and of imports have no person.
  const nameOf = (keyId: string | undefined) => (keyId === undefined ? undefined : names.get(keyId))
  return (
    <ListFrame label="Orders" list={list} empty={empty}>
      {rows.map((order) => (
        <OrderRow
          key={String(order.id)}
          order={order}
          name={stock.lookUp(order.petId)?.name}
          createdBy={nameOf(order.createdBy)}
          closedBy={nameOf(order.closedBy)}
          work={works.get(order.id)}
          actions={actions}
          showsPet={showsPet}
          left={order.state === 'open' && order.expiresAt ? leftWords(Date.parse(order.expiresAt) - now) : ''}
          madeAgo={agoWords(Date.parse(order.createdAt), now)}
          isLate={isOverdue(order, now)}
        />
      ))}
    </ListFrame>
  )
}

export function orderRowId(orderId: bigint): string {
  return `order-${orderId}`
}

interface RowProps {
  readonly order: Order
  readonly name: string | undefined
  /** The name of the person who made the order. */
  readonly createdBy: string | undefined
  /** The name of the person who completed or cancelled it. */
  readonly closedBy: string | undefined
  readonly work: OrderWork | undefined
  /** `undefined` if the key may not change orders. */
  readonly actions: OrderActions | undefined
  /** False in the view of one pet. */
  readonly showsPet: boolean
  /** The time left in the hold, or ''. A row whose words stay the same is not rendered again each second. */
  readonly left: string
  readonly madeAgo: string
  readonly isLate: boolean
}

const OrderRow = memo(function OrderRow(props: RowProps) {
  const { order, name, createdBy, closedBy, work, left, madeAgo, isLate, actions, showsPet } = props
  const { id, petId, quantity, complete, shipDate, createdAt, closedAt, expiresAt, customer, note } = order
  const kind = kindOf(order)
  const shipWords = complete ? 'Shipped' : 'Ships'
  const row = useRef<HTMLLIElement>(null)
  /** The pressed button disappears, so the row takes the focus. */
  const focusRowAnd = (act: () => unknown) => () => {
    row.current?.focus()
    void act()
  }
  const classes = ['list-row', 'order']
  if (!showsPet) classes.push('order--of-pet')
  const actionProps = actions && { order, work, actions, focusRowAnd }
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
        {left !== '' && expiresAt !== undefined && (
          <Time at={expiresAt} className="small order__left number" title="Until ">
            {left === '0:00' ? 'ending' : `${left} left`}
          </Time>
        )}
      </span>
      <span className="order__times">
        <Time at={createdAt}>
          Made {madeAgo}
          {byWords(createdBy)}
        </Time>
        {closedAt !== undefined && closedBy !== undefined && (
          <Time at={closedAt}>
            {complete ? 'Completed' : 'Cancelled'} {momentWords(Date.parse(closedAt))}
            {byWords(closedBy)}
          </Time>
        )}
        {shipDate !== undefined && (
          <Time at={shipDate} className={isLate ? 'negative' : undefined}>
            {isLate ? 'Was due' : shipWords} {momentWords(Date.parse(shipDate))}
          </Time>
        )}
      </span>
      <span className="small order__actions cluster cluster--end">
        {actionProps && <Actions {...actionProps} />}
      </span>
      {(customer !== undefined || note !== undefined) && (
        <span className="cluster order__for muted small">
          {customer !== undefined && <strong>{customer}</strong>}
          {note !== undefined && <span className="order__note">{note}</span>}
        </span>
      )}
      {actionProps && order.state === 'open' && work?.kind === 'asking' && (
        <Question key={work.about} {...actionProps} about={work.about} />
      )}
      {work?.kind === 'failed' && (
        <span className="small order__below negative cluster">
          {work.reason}
          <Button size="small" onClick={focusRowAnd(() => actions?.dismiss(id))}>
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

interface TimeProps {
  readonly at: string
  readonly className?: string | undefined
  /** Precedes the exact time. */
  readonly title?: string
  readonly children: ReactNode
}

function Time({ at, className, title = '', children }: TimeProps) {
  return (
    <time className={className} dateTime={at} title={`${title}${exactMomentWords(Date.parse(at))}`}>
      {children}
    </time>
  )
}

interface ActionsProps {
  readonly order: Order
  readonly work: OrderWork | undefined
  readonly actions: OrderActions
  readonly focusRowAnd: (act: () => unknown) => () => void
}

function Actions({ order, work, actions }: Omit<ActionsProps, 'focusRowAnd'>) {
  const { id, state } = order
  if (work?.kind === 'working') {
    return (
      <span className="row-state muted">
        <span className="spinner" aria-hidden="true" />
        {work.words}
      </span>
    )
  }
  if (state !== 'open') return null
  return (['complete', 'cancel'] as const).map((about) => (
    <Button
      key={about}
      size="small"
      aria-label={`${ASK_WORDS[about].button} order ${id}`}
      aria-expanded={work?.kind === 'asking' && work.about === about}
      onClick={() => actions.ask(id, about)}
    >
      {ASK_WORDS[about].button}
    </Button>
  ))
}

const ASK_WORDS = {
  complete: { button: 'Complete', no: 'Not yet' },
  cancel: { button: 'Cancel', no: 'Keep it' },
} as const

interface QuestionProps extends ActionsProps {
  readonly about: 'complete' | 'cancel'
}

/** Asks in a line of its own, so that the columns of the row stay in place. */
function Question({ order, about, actions, focusRowAnd }: QuestionProps) {
  const { id, quantity } = order
  const { button, no } = ASK_WORDS[about]
  const yes = `Yes, ${button.toLowerCase()}`
  const units = quantity.toLocaleString('en')
  const leave = focusRowAnd(() => actions.dismiss(id))
  const onKey = ({ key }: KeyboardEvent) => {
    if (key === 'Escape') leave()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape is a shortcut for one of the buttons
    <span className="small order__below cluster cluster--end" onKeyDown={onKey}>
      <span id={`order-question-${id}`}>
        {about === 'complete' ? `Take ${units} out of the stock?` : `Reserve ${units} no longer?`}
      </span>
      <Button
        ref={focus}
        size="small"
        tone="primary"
        aria-label={`${yes} order ${id}`}
        aria-describedby={`order-question-${id}`}
        onClick={focusRowAnd(() => actions[about](order))}
      >
        {yes}
      </Button>
      <Button size="small" aria-label={`${no}: order ${id} stays open`} onClick={leave}>
        {no}
      </Button>
    </span>
  )
}

function focus(button: HTMLButtonElement | null): void {
  button?.focus()
}
