import type { Order, OrderEvent, PetstoreClient } from '@petstore/client'
import { useEffect, useMemo, useState } from 'preact/compat'
import type { LiveChanges } from '../data/history/live-changes.ts'
import { type RecordSource, useLiveRecords } from '../data/live-records.ts'
import { useReadable } from '../data/observable.ts'
import { OPEN_ORDERS } from '../data/orders/order-search.ts'
import { linesWords } from '../data/orders/order-words.ts'
import { isOutage, RETRY_AFTER_OUTAGE_MS } from '../data/outage.ts'
import { freeUnits, isSoldOut } from '../data/stock/free-units.ts'
import { type ReadPage, readAll } from '../data/stock/stock-search.ts'
import { momentWords } from '../data/time-words.ts'
import { pacePerDay, type TradeLog, unitsBetween, useTrades } from '../data/trades.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { StockFailure } from '../session/work-frame.tsx'
import { Card } from '../ui/card.tsx'
import { BarList } from '../ui/charts/bar-list.tsx'
import { ColumnChart } from '../ui/charts/column-chart.tsx'
import { shortNumber, wholeNumber } from '../ui/charts/quantity-axis.ts'
import { useNow } from '../ui/hooks.ts'
import { href } from '../ui/navigation.ts'
import { RetryNotice } from '../ui/notices.tsx'
import { SegmentedControl } from '../ui/segmented-control.tsx'
import { biggestMovers, countLow, dueOrders, runningOut, startOfDay } from './overview-figures.ts'
import { PlanUsage } from './plan-usage.tsx'
import './overview.css'

const CHART_DAYS = 14
const SHOWN = 6
/** In a large store the stock of this many best sellers is loaded. */
const BEST_SELLERS = 50
const HORIZONS = ['3', '7', '14', '30'] as const
const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'narrow' })
const LONG_DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' })
const NO_TRADES: TradeLog = { trades: [], since: 0, isComplete: true }

/** The figures that a manager looks at in the morning. */
export function OverviewView() {
  const { client, feed, owner, stock, categories: categoryStore } = useSession()
  const { rows, phase } = useStock()
  const lowPets = useLowPets()
  const categories = useReadable(categoryStore)
  const isAdmin = useReadable(owner)?.permissions.includes('keys') === true
  const now = useNow(30_000)
  const soldTrades = useTrades(client, feed.events, 'sold')
  const receivedTrades = useTrades(client, feed.events, 'received')
  const openOrders = useLiveRecords(useMemo(() => openOrdersSource(client, feed.orders), [client, feed]))
  const low = useMemo(() => countLow(rows, categories), [rows, categories])

  const sold = soldTrades.log ?? NO_TRADES
  const received = receivedTrades.log ?? NO_TRADES
  const due = useMemo(() => dueOrders(openOrders.records?.items ?? [], now), [openOrders.records, now])
  const [today, week, weekBefore] = [startOfDay(now), startOfDay(now, -6), startOfDay(now, -13)]
  const isLoading = soldTrades.log === undefined || receivedTrades.log === undefined
  const isStockMissing = phase !== 'ready' && rows.length === 0
  const failed = [soldTrades, receivedTrades, openOrders].find(({ failure }) => failure !== undefined)
  const partial = [soldTrades.log, receivedTrades.log].find((log) => log?.isComplete === false)
  const figure = (units: number) => (isLoading ? undefined : units)
  const end = Number.POSITIVE_INFINITY
  return (
    <section className="view overview" aria-label="Overview">
      <h1>Overview</h1>
      {phase === 'failed' && isStockMissing && <StockFailure />}
      <RetryNotice tone="caution" onRetry={() => failed?.reload()}>
        {failed?.failure}
      </RetryNotice>
      {partial !== undefined && (
        <p className="notice notice--caution">
          There are very many changes. The figures of sales and deliveries cover the time since{' '}
          {momentWords(partial.since)}.
        </p>
      )}
      {openOrders.records?.isComplete === false && (
        <p className="notice notice--caution">
          There are very many open orders. The figures cover the first{' '}
          {wholeNumber(openOrders.records.items.length)}.
        </p>
      )}
      <ul className="tiles" aria-label="Today">
        <Tile
          name="Sold today"
          value={figure(unitsBetween(sold.trades, today, end))}
          note={`${shortNumber(unitsBetween(sold.trades, startOfDay(now, -1), today))} yesterday`}
          href={href({ view: 'activity', query: 'reason=sold' })}
        />
        <Tile
          name="Sold in 7 days"
          value={figure(unitsBetween(sold.trades, week, end))}
          note={`${shortNumber(unitsBetween(sold.trades, weekBefore, week))} in the 7 days before`}
          href={href({ view: 'activity', query: 'reason=sold' })}
        />
        <Tile
          name="Received in 7 days"
          value={figure(unitsBetween(received.trades, week, end))}
          note={`${shortNumber(unitsBetween(received.trades, today, end))} today`}
          href={href({ view: 'activity', query: 'reason=received' })}
        />
        <Tile
          name="Orders due"
          value={openOrders.records && due.dueToday.length + due.overdue.length}
          note={due.overdue.length === 0 ? 'None overdue' : `${wholeNumber(due.overdue.length)} overdue`}
          isUrgent={due.overdue.length > 0}
          href={href({ view: 'orders' })}
        />
        <Tile
          name="Holds that expire soon"
          value={openOrders.records && due.expiring.length}
          note="Within 24 hours"
          href={href({ view: 'orders' })}
        />
        <Tile
          name="Low stock"
          value={phase === 'ready' && lowPets !== 'loading' ? low.low : undefined}
          note={
            lowPets === 'too many'
              ? 'Or more: see the list'
              : low.soldOut === 0
                ? 'None sold out'
                : `${wholeNumber(low.soldOut)} sold out`
          }
          isUrgent={low.soldOut > 0}
          href={href({ view: 'low-stock' })}
        />
      </ul>
      <div className="overview__columns">
        <div className="stack">
          <Card title="Sold and received, last 14 days">
            <DayChart sold={sold} received={received} now={now} />
          </Card>
          <RunsOutCard sold={sold} isLoading={isLoading || isStockMissing} now={now} />
        </div>
        <div className="stack">
          <OrdersCard due={due} isLoaded={openOrders.records !== undefined} now={now} />
          <Card title="Sold most, last 7 days">
            <BarList
              name="Sold most"
              bars={biggestMovers(sold.trades, week, SHOWN).map(([petId, units]) => ({
                key: String(petId),
                label: stock.nameOf(petId),
                value: units,
                text: (
                  <>
                    {wholeNumber(units)}
                    <span className="visually-hidden"> units</span>
                  </>
                ),
                href: href({ view: 'pet', petId }),
              }))}
            />
            {!isLoading && unitsBetween(sold.trades, week, end) === 0 && (
              <p className="muted">Nothing was sold in the last 7 days.</p>
            )}
          </Card>
        </div>
      </div>
      {isAdmin && <PlanUsage />}
    </section>
  )
}

/** More low pets are not loaded into a large store. */
const MAX_LOW_PETS = 5_000

/** Loads all pets that are low or sold out if the store is large, and those that become so. */
function useLowPets(): 'loading' | 'ready' | 'too many' {
  const { feed, stock } = useSession()
  const { hasNames, isComplete } = useStock()
  const [state, setState] = useState<'loading' | 'ready' | 'too many'>('loading')
  const isLarge = hasNames && !isComplete
  useEffect(() => {
    if (!isLarge) return
    const ending = new AbortController()
    const leave = feed.events.subscribe((notice) => {
      const event = notice.type === 'change' ? notice.change : undefined
      const isEmpty = event?.type === 'change' && event.after === 0
      if (event?.type === 'low' || isEmpty) stock.lookUp(event.petId)
    })
    const load = async () => {
      try {
        const low = await readAll(feed.read, { low: true, sort: 'available' }, MAX_LOW_PETS, ending.signal)
        const soldOut = await readSoldOut(feed.read, ending.signal)
        setState(low === undefined || !soldOut ? 'too many' : 'ready')
      } catch (error) {
        const wait = isOutage(error) && !ending.signal.aborted
        if (wait) setTimeout(load, RETRY_AFTER_OUTAGE_MS)
      }
    }
    void load()
    return () => {
      leave()
      ending.abort()
    }
  }, [isLarge, feed, stock])
  return isComplete ? 'ready' : state
}

/** Reads the pets with nothing left to sell; false if there are more than `MAX_LOW_PETS`. */
async function readSoldOut(read: ReadPage, signal: AbortSignal): Promise<boolean> {
  let cursor: string | undefined
  for (let count = 0; count < MAX_LOW_PETS; ) {
    const { items, next } = await read({ sort: 'available' }, cursor, signal)
    if (next === undefined || !items.every(isSoldOut)) return true
    count += items.length
    cursor = next
  }
  return false
}

function openOrdersSource(
  client: PetstoreClient,
  events: LiveChanges<OrderEvent>,
): RecordSource<Order, OrderEvent> {
  return {
    events,
    keyOf: ({ id }) => id,
    load: (cursor, signal) => client.orders.list({ state: 'open', limit: 1_000, cursor, signal }),
  }
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

interface DayChartProps {
  readonly sold: TradeLog
  readonly received: TradeLog
  readonly now: number
}

function DayChart({ sold, received, now }: DayChartProps) {
  const columns = Array.from({ length: CHART_DAYS }, (_, index) => {
    const day = startOfDay(now, index + 1 - CHART_DAYS)
    const nextDay = startOfDay(now, index + 2 - CHART_DAYS)
    return {
      key: String(day),
      label: SHORT_DAY.format(day),
      title: LONG_DAY.format(day),
      values: [sold, received].map(({ trades }) => unitsBetween(trades, day, nextDay)),
    }
  })
  return <ColumnChart name="Units per day" series={['Sold', 'Received']} columns={columns} />
}

interface OrdersCardProps {
  readonly due: ReturnType<typeof dueOrders>
  readonly isLoaded: boolean
  readonly now: number
}

/** Overdue orders, then orders of today, then holds that expire soon. */
function OrdersCard({ due, isLoaded, now }: OrdersCardProps) {
  const { stock, orderFilter } = useSession()
  const { overdue, dueToday, expiring } = due
  const count = overdue.length + dueToday.length + expiring.length
  const rows: readonly (readonly [Order, string, string])[] = [
    ...overdue.map((order) => [order, 'negative', 'Overdue'] as const),
    ...dueToday.map((order) => [order, 'caution', 'Due today'] as const),
    ...expiring.map((order) => [order, 'neutral', expiresWords(order, now)] as const),
  ]
  return (
    <Card title="Orders that need you">
      {isLoaded && count === 0 && <p className="muted">No order is due, and no hold expires soon.</p>}
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
        {count > SHOWN ? `All ${wholeNumber(count)} in Orders` : 'All orders'}
      </a>
    </Card>
  )
}

function expiresWords({ expiresAt }: Order, now: number): string {
  const minutes = Math.max(1, Math.ceil((Date.parse(expiresAt ?? '') - now) / 60_000))
  return minutes < 60 ? `Expires in ${minutes} min` : `Expires in ${Math.floor(minutes / 60)} h`
}

interface RunsOutProps {
  readonly sold: TradeLog
  readonly isLoading: boolean
  readonly now: number
}

function RunsOutCard({ sold, isLoading, now }: RunsOutProps) {
  const { stock } = useSession()
  const { isComplete } = useStock()
  const [horizon, setHorizon] = useState<(typeof HORIZONS)[number]>('7')
  const days = Number(horizon)
  const pace = useMemo(() => pacePerDay(sold, now), [sold, now])
  const bestSellers = useMemo(() => {
    const fastestFirst = [...pace].sort(([, a], [, b]) => b - a)
    return new Set(fastestFirst.slice(0, BEST_SELLERS).map(([petId]) => petId))
  }, [pace])
  const find = (petId: bigint) => (bestSellers.has(petId) ? stock.lookUp(petId) : stock.find(petId))
  const found = runningOut(find, pace, days)
  const isPartial = !isComplete && pace.size > BEST_SELLERS
  return (
    <Card
      title="Runs out soon"
      controls={
        <SegmentedControl
          label="Runs out within"
          options={HORIZONS.map((value) => ({ value, label: `${value} days` }))}
          value={horizon}
          onChange={setHorizon}
        />
      }
    >
      {!isLoading && found.length === 0 && (
        <p className="muted">Nothing runs out within {horizon} days at the pace of the last 4 weeks.</p>
      )}
      {isPartial && <p className="muted">Of pets with low stock and the {BEST_SELLERS} that sell most.</p>}
      <BarList
        name="Runs out soon"
        full={days}
        bars={found.slice(0, SHOWN).map(({ row, daysLeft, perDay }) => ({
          key: String(row.petId),
          label: row.name ?? `Pet ${row.petId}`,
          value: daysLeft,
          text: runsOutWords(freeUnits(row), daysLeft, perDay),
          href: href({ view: 'pet', petId: row.petId }),
        }))}
      />
      <a className="small overview__more" href={href({ view: 'low-stock' })}>
        {found.length > SHOWN ? `${wholeNumber(found.length)} pets run out. ` : ''}Reorder list
      </a>
    </Card>
  )
}

function runsOutWords(free: number, daysLeft: number, perDay: number): string {
  const pace = `${wholeNumber(Math.max(1, Math.round(perDay * 7)))} a week`
  if (free <= 0) return `Nothing free · ${pace}`
  const left = daysLeft < 1 ? 'today' : `${Math.floor(daysLeft)} d`
  return `${left} · ${wholeNumber(free)} free · ${pace}`
}
