import type { InventoryEvent, Order } from '@petstore/client'
import { useMemo } from 'preact/compat'
import { useLiveValue } from '../data/live-value.ts'
import { type DayFigures, type DaySpan, lastDays, useMovements } from '../data/movements.ts'
import { useReadable } from '../data/observable.ts'
import { OPEN_ORDERS } from '../data/orders/order-search.ts'
import { linesWords } from '../data/orders/order-words.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { Card } from '../ui/card.tsx'
import { BarList } from '../ui/charts/bar-list.tsx'
import { ColumnChart } from '../ui/charts/column-chart.tsx'
import { shortNumber, wholeNumber } from '../ui/charts/quantity-axis.ts'
import { useNow } from '../ui/hooks.ts'
import { href } from '../ui/navigation.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { MovementCard } from './movement-card.tsx'
import {
  dueOrders,
  NO_ORDERS,
  type RunningOut,
  readRecentOrders,
  readUrgentPets,
  type UrgentPets,
} from './overview-figures.ts'
import { PlanUsage } from './plan-usage.tsx'
import './overview.css'

const CHART_DAYS = 14
const CHART_SPAN: DaySpan = { days: CHART_DAYS, last: 'today' }
const SHOWN = 6
const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'narrow', timeZone: 'UTC' })
const LONG_DAY = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  timeZone: 'UTC',
})

/** The figures that a manager looks at, and what needs a person. */
export function OverviewView() {
  const session = useSession()
  const { client, feed, owner } = session
  const isAdmin = useReadable(owner)?.permissions.includes('keys') === true
  const now = useNow(30_000)
  const report = useMovements(session, 'day', CHART_SPAN)
  const orders = useLiveValue(
    useMemo(
      () => ({
        events: feed.orders,
        load: (signal: AbortSignal) => readRecentOrders(client, signal),
      }),
      [client, feed],
    ),
  )
  const pets = useLiveValue(
    useMemo(
      () => ({
        events: feed.events,
        concerns: isAboutStock,
        load: (signal: AbortSignal) => readUrgentPets(client, signal),
      }),
      [client, feed],
    ),
  )
  useStock()

  const days = report.value && lastDays(report.value, CHART_DAYS)
  const due = useMemo(() => dueOrders(orders.value ?? NO_ORDERS, now), [orders.value, now])
  const failed = [report, orders, pets].find(({ failure }) => failure !== undefined)
  return (
    <section className="view overview" aria-label="Overview">
      <h1>Overview</h1>
      <RetryNotice tone="caution" onRetry={() => failed?.reload()}>
        {failed?.failure}
      </RetryNotice>
      {orders.value?.isComplete === false && (
        <p className="notice notice--caution">
          There are very many open orders. The figures cover the first {wholeNumber(orders.value.open.length)}
          .
        </p>
      )}
      <ul className="tiles" aria-label="Today">
        <SalesTiles days={days} />
        <Tile
          name="Orders due"
          value={orders.value && due.dueToday.length + due.overdue.length}
          note={due.overdue.length === 0 ? 'None overdue' : `${wholeNumber(due.overdue.length)} overdue`}
          isUrgent={due.overdue.length > 0}
          href={href({ view: 'orders' })}
        />
        <Tile
          name="Holds that expire soon"
          value={orders.value && due.expiring.length}
          note="Within 24 hours"
          href={href({ view: 'orders' })}
        />
        <LowTile pets={pets.value} />
      </ul>
      <div className="overview__columns">
        <Card title="Sold and received, last 14 days">
          <DayChart days={days ?? []} />
        </Card>
        <div className="stack">
          <OrdersCard due={due} isLoaded={orders.value !== undefined} now={now} />
          <PetsCard pets={pets.value} />
        </div>
      </div>
      <MovementCard />
      {isAdmin && <PlanUsage />}
    </section>
  )
}

function isAboutStock({ type }: InventoryEvent): boolean {
  return type !== 'ready'
}

interface TileProps {
  readonly name: string
  readonly value: number | undefined
  readonly note: string
  readonly isUrgent?: boolean
  readonly href: string
}

function Tile({ name, value, note, isUrgent = false, href: target }: TileProps) {
  return (
    <li className="card tile">
      <a className="muted small tile__name" href={target}>
        {name}
      </a>
      <span className={value === undefined ? 'tile__value skeleton' : 'tile__value number'}>
        {value !== undefined && shortNumber(value)}
      </span>
      <span className={isUrgent ? 'negative small' : 'muted small'}>
        {value === undefined ? 'Loading' : note}
      </span>
    </li>
  )
}

/** Net of what was undone or came back. */
function SalesTiles({ days }: { readonly days: readonly DayFigures[] | undefined }) {
  const sumOf = (field: 'sold' | 'received', from: number, until?: number) =>
    days?.slice(from, until).reduce((sum, day) => sum + day[field], 0)
  const words = (units: number | undefined) => shortNumber(units ?? 0)
  const sold = href({ view: 'activity', query: 'reason=sold' })
  return (
    <>
      <Tile
        name="Sold today"
        value={sumOf('sold', -1)}
        note={`${words(sumOf('sold', -2, -1))} yesterday`}
        href={sold}
      />
      <Tile
        name="Sold in 7 days"
        value={sumOf('sold', -7)}
        note={`${words(sumOf('sold', -14, -7))} in the 7 days before`}
        href={sold}
      />
      <Tile
        name="Received in 7 days"
        value={sumOf('received', -7)}
        note={`${words(sumOf('received', -1))} today`}
        href={href({ view: 'activity', query: 'reason=received' })}
      />
    </>
  )
}

function LowTile({ pets }: { readonly pets: UrgentPets | undefined }) {
  const { low, soldOut } = pets ?? {}
  const soldOutWords = `${wholeNumber(soldOut?.count ?? 0)} ${soldOut?.isComplete === false ? 'or more ' : ''}sold out`
  const isSoldOut = soldOut !== undefined && soldOut.count > 0
  return (
    <Tile
      name="Low stock"
      value={low?.count}
      note={low?.isComplete === false ? 'Or more: see the list' : isSoldOut ? soldOutWords : 'None sold out'}
      isUrgent={isSoldOut}
      href={href({ view: 'low-stock' })}
    />
  )
}

function DayChart({ days }: { readonly days: readonly DayFigures[] }) {
  const columns = days.map(({ day, sold, received }) => ({
    key: day,
    label: SHORT_DAY.format(Date.parse(day)),
    title: LONG_DAY.format(Date.parse(day)),
    values: [sold, received],
  }))
  return <ColumnChart name="Units per day" series={['Sold', 'Received']} columns={columns} />
}

interface OrdersCardProps {
  readonly due: ReturnType<typeof dueOrders>
  readonly isLoaded: boolean
  readonly now: number
}

/** Overdue orders, then orders of today, then holds that expire soon or have expired. */
function OrdersCard({ due, isLoaded, now }: OrdersCardProps) {
  const { stock, orderFilter } = useSession()
  const { overdue, dueToday, expired, expiring } = due
  const rows: readonly (readonly [Order, string, string])[] = [
    ...overdue.map((order) => [order, 'negative', 'Overdue'] as const),
    ...dueToday.map((order) => [order, 'caution', 'Due today'] as const),
    ...expiring.map((order) => [order, 'neutral', expiresWords(order, now)] as const),
    ...expired.map((order) => [order, 'caution', 'Hold expired'] as const),
  ]
  return (
    <Card title="Orders that need you">
      {isLoaded && rows.length === 0 && (
        <p className="muted">No order is due, and no hold has expired or expires soon.</p>
      )}
      <ol aria-label="Orders that need you">
        {rows.slice(0, SHOWN).map(([order, tone, words]) => (
          <li key={`${words} ${order.id}`} className="list-row list-row--flush overview__row">
            <a
              className="list-row__name"
              href={href({ view: 'orders' })}
              onClick={() => orderFilter.set({ ...OPEN_ORDERS, query: String(order.id) })}
            >
              {linesWords(order.lines, (petId) => stock.nameOf(petId))}
            </a>
            <span className={`badge badge--${tone}`}>{words}</span>
            <span className="muted small">
              Order {String(order.id)}
              {order.customer !== undefined && ` · ${order.customer}`}
            </span>
          </li>
        ))}
      </ol>
      <a className="small overview__more" href={href({ view: 'orders' })}>
        {rows.length > SHOWN ? `All ${wholeNumber(rows.length)} in Orders` : 'All orders'}
      </a>
    </Card>
  )
}

function expiresWords({ expiresAt }: Order, now: number): string {
  const minutes = Math.max(1, Math.ceil((Date.parse(expiresAt ?? '') - now) / 60_000))
  return minutes < 60 ? `Expires in ${minutes} min` : `Expires in ${Math.floor(minutes / 60)} h`
}

/** Pets with more reserved than there are, then those that run out within a week. */
function PetsCard({ pets }: { readonly pets: UrgentPets | undefined }) {
  const oversold = pets?.oversold ?? []
  const oversoldIds = new Set(oversold.map(({ petId }) => petId))
  const runningOut = (pets?.runningOut ?? []).filter(({ petId }) => !oversoldIds.has(petId))
  return (
    <Card title="Pets that need you">
      {pets !== undefined && oversold.length + runningOut.length === 0 && (
        <p className="muted">Nothing runs out within 7 days at the pace of the last 4 weeks.</p>
      )}
      {oversold.length > 0 && (
        <ul aria-label="Too few for their orders">
          {oversold.slice(0, SHOWN).map(({ petId, name, available, reserved }) => (
            <li key={String(petId)} className="list-row list-row--flush overview__row">
              <a className="list-row__name" href={href({ view: 'pet', petId })}>
                {name}
              </a>
              <span className="badge badge--negative">{wholeNumber(-available)} too few</span>
              <span className="muted small">{wholeNumber(reserved)} reserved</span>
            </li>
          ))}
        </ul>
      )}
      <BarList
        name="Runs out soon"
        full={7}
        bars={runningOut.slice(0, SHOWN).map((pet) => ({
          key: String(pet.petId),
          label: pet.name,
          value: pet.daysLeft,
          text: runsOutWords(pet),
          href: href({ view: 'pet', petId: pet.petId }),
        }))}
      />
      <a className="small overview__more" href={href({ view: 'low-stock' })}>
        {runningOut.length > SHOWN ? `${wholeNumber(runningOut.length)} pets run out. ` : ''}Reorder list
      </a>
    </Card>
  )
}

function runsOutWords({ available, daysLeft, perDay }: RunningOut): string {
  const pace = `${wholeNumber(Math.max(1, Math.round(perDay * 7)))} a week`
  if (available <= 0) return `Nothing free · ${pace}`
  const left = daysLeft < 1 ? 'today' : `${Math.floor(daysLeft)} d`
  return `${left} · ${wholeNumber(available)} free · ${pace}`
}
