import type { Order, OrderState } from '@petstore/client'
import { memo, type ReactNode, useEffect, useRef, useState } from 'preact/compat'
import { AdjustmentDialog } from '../adjustment/adjustment-dialog.tsx'
import { useReadable } from '../data/observable.ts'
import type { OrderActions, OrderWork } from '../data/orders/order-actions.ts'
import type { OrderList } from '../data/orders/order-search.ts'
import { isOverdue, isPending, KIND_WORDS, kindOf, leftWords } from '../data/orders/order-words.ts'
import { agoWords, exactMomentWords, momentWords } from '../data/time-words.ts'
import { useMayChange, useSession, useStock } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { useNow } from '../ui/hooks.ts'
import { ListFrame } from '../ui/list-frame.tsx'
import { href } from '../ui/navigation.ts'
import { OrderDialog } from './order-dialog.tsx'
import './orders.css'

interface Props {
  readonly list: OrderList
  readonly empty: ReactNode
}

/** A form about one order. */
interface OpenForm {
  readonly type: 'change' | 'return'
  readonly order: Order
}

export function OrderRows({ list, empty }: Props) {
  const { rows } = list.get()
  const { requests, orderActions, keyNames } = useSession()
  const [form, setForm] = useState<OpenForm>()
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
  const closeForm = () => setForm(undefined)
  return (
    <>
      <ListFrame label="Orders" list={list} empty={empty}>
        {rows.map((order) => (
          <OrderRow
            key={String(order.id)}
            order={order}
            createdBy={nameOf(order.createdBy)}
            closedBy={nameOf(order.closedBy)}
            work={works.get(order.id)}
            actions={actions}
            onForm={setForm}
            left={isPending(order) && order.expiresAt ? leftWords(Date.parse(order.expiresAt) - now) : ''}
            madeAgo={agoWords(Date.parse(order.createdAt), now)}
            isLate={isOverdue(order, now)}
          />
        ))}
      </ListFrame>
      {form?.type === 'change' && (
        <OrderDialog order={form.order} lines={form.order.lines} onClose={closeForm} />
      )}
      {form?.type === 'return' && form.order.adjustmentId !== undefined && (
        <AdjustmentDialog
          adjustmentId={form.order.adjustmentId}
          isReturn
          onClose={() => {
            closeForm()
            // No event says that units of an order came back.
            void list.reload()
          }}
        />
      )}
    </>
  )
}

interface RowProps {
  readonly order: Order
  /** The name of the person who made the order. */
  readonly createdBy: string | undefined
  /** The name of the person who completed or cancelled it. */
  readonly closedBy: string | undefined
  readonly work: OrderWork | undefined
  /** `undefined` if the key may not change orders. */
  readonly actions: OrderActions | undefined
  readonly onForm: (form: OpenForm) => void
  /** The time left in the hold, or ''. A row whose words stay the same is not rendered again each second. */
  readonly left: string
  readonly madeAgo: string
  readonly isLate: boolean
}

const OrderRow = memo(function OrderRow(props: RowProps) {
  const { order, createdBy, closedBy, work, left, madeAgo, isLate, actions, onForm } = props
  const { id, lines, complete, shipDate, createdAt, closedAt, expiresAt, customer, note, reference } = order
  const kind = kindOf(order)
  const shipWords = complete ? 'Shipped' : 'Ships'
  const row = useRef<HTMLLIElement>(null)
  /** The pressed button disappears, so the row takes the focus. */
  const focusRowAnd = (act: () => unknown) => () => {
    row.current?.focus()
    void act()
  }
  const actionProps = actions && { order, work, actions, focusRowAnd }
  return (
    <li ref={row} className="list-row order" tabIndex={-1} aria-label={`Order ${id}`}>
      <ul className="order__lines">
        {lines.map((line) => (
          <OrderLine key={String(line.petId)} {...line} />
        ))}
      </ul>
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
        {actionProps && <Actions {...actionProps} onForm={onForm} />}
      </span>
      {(customer ?? note ?? reference) !== undefined && (
        <span className="cluster order__for muted small">
          {customer !== undefined && <strong>{customer}</strong>}
          {reference !== undefined && <span>{reference}</span>}
          {note !== undefined && <span className="order__note">{note}</span>}
        </span>
      )}
      {actionProps && work?.kind === 'asking' && (
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

function OrderLine({ petId, quantity, returned }: Order['lines'][number]) {
  const { stock } = useSession()
  useStock()
  return (
    <li>
      <strong className="number">{quantity.toLocaleString('en')}</strong> ×{' '}
      <a className="list-row__name" href={href({ view: 'pet', petId })}>
        {stock.nameOf(petId)}
      </a>
      {returned > 0 && <span className="muted small">, {returned.toLocaleString('en')} returned</span>}
    </li>
  )
}

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

interface ActionButtonsProps extends Omit<ActionsProps, 'focusRowAnd'> {
  readonly onForm: (form: OpenForm) => void
}

function Actions({ order, work, actions, onForm }: ActionButtonsProps) {
  const mayReturn = useMayChange('stock') && order.lines.some(({ quantity, returned }) => returned < quantity)
  const { id, state } = order
  if (work?.kind === 'working') {
    return (
      <span className="row-state muted">
        <span className="spinner" aria-hidden="true" />
        {work.words}
      </span>
    )
  }
  const formButton = (type: OpenForm['type'], words: string) => (
    <Button size="small" aria-label={`${words} order ${id}`} onClick={() => onForm({ type, order })}>
      {words}…
    </Button>
  )
  if (state === 'complete' && order.adjustmentId !== undefined && mayReturn) {
    return formButton('return', 'Return')
  }
  return (
    <>
      {ASKED[state].map((about) => (
        <Button
          key={about}
          size="small"
          aria-label={`${ASK_WORDS[about].button} order ${id}`}
          aria-expanded={work?.kind === 'asking' && work.about === about}
          onClick={() => actions.ask(id, about)}
        >
          {ASK_WORDS[about].button}
        </Button>
      ))}
      {isPending(order) && formButton('change', 'Change')}
    </>
  )
}

/** What can be done in each state. A hold that has expired can still be completed if its units are free. */
const ASKED: Readonly<Record<OrderState, readonly ('complete' | 'cancel')[]>> = {
  open: ['complete', 'cancel'],
  expired: ['complete'],
  complete: [],
  cancelled: [],
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
  const { id, lines, state } = order
  const { button, no } = ASK_WORDS[about]
  const yes = `Yes, ${button.toLowerCase()}`
  const units = lines.reduce((sum, { quantity }) => sum + quantity, 0).toLocaleString('en')
  const late = state === 'expired' ? 'Its hold has expired. ' : ''
  const leave = focusRowAnd(() => actions.dismiss(id))
  const onKey = ({ key }: KeyboardEvent) => {
    if (key === 'Escape') leave()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape is a shortcut for one of the buttons
    <span className="small order__below cluster cluster--end" onKeyDown={onKey}>
      <span id={`order-question-${id}`}>
        {about === 'complete' ? `${late}Take ${units} out of the stock?` : `Reserve ${units} no longer?`}
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
