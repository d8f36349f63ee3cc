import type { Availability, Order, PetstoreClient, SearchRow } from '@petstore/client'
import { paceOf, readPaceReport } from '../data/movements.ts'
import { PENDING_STATES } from '../data/orders/order-words.ts'

const DAY_MS = 24 * 3_600_000
const PAGE_SIZE = 1_000

interface RecentOrders {
  readonly open: readonly Order[]
  readonly expired: readonly Order[]
  /** Whether `open` has every open order. */
  readonly isComplete: boolean
}

export const NO_ORDERS: RecentOrders = { open: [], expired: [], isComplete: true }

/** Expired holds that were created earlier are not listed, so that those of the last days fit into a page. */
const HOLD_DAYS = 7

export async function readRecentOrders(
  { orders }: Pick<PetstoreClient, 'orders'>,
  signal: AbortSignal,
): Promise<RecentOrders> {
  const page = { limit: PAGE_SIZE, signal } as const
  const since = new Date(Date.now() - HOLD_DAYS * DAY_MS).toISOString()
  const pending = []
  for (const state of PENDING_STATES) pending.push(await orders.list({ ...page, state }))
  const expired = await orders.list({ ...page, state: 'expired', since })
  return {
    open: pending.flatMap(({ items }) => items),
    expired: expired.items,
    isComplete: pending.every(({ next }) => next === undefined),
  }
}

/**
 * The orders to ship before today, those to ship today, the holds that expired in the last day, and those that expire
 * within a day; the earliest first.
 */
export function dueOrders({ open, expired }: RecentOrders, now: number) {
  return {
    overdue: ordersBetween(open, 'shipDate', Number.NEGATIVE_INFINITY, startOfDay(now)),
    dueToday: ordersBetween(open, 'shipDate', startOfDay(now), startOfDay(now, 1)),
    // `now` may be older than the answer.
    expired: ordersBetween(expired, 'expiresAt', now - DAY_MS, Number.POSITIVE_INFINITY),
    expiring: ordersBetween(open, 'expiresAt', now, now + DAY_MS),
  }
}

function ordersBetween(
  orders: readonly Order[],
  field: 'shipDate' | 'expiresAt',
  from: number,
  until: number,
): readonly Order[] {
  const timeOf = (order: Order) => Date.parse(order[field] ?? '')
  const isBetween = (time: number) => time >= from && time < until
  return orders.filter((order) => isBetween(timeOf(order))).sort((a, b) => timeOf(a) - timeOf(b))
}

/** Midnight of the local day, `days` later. Days of 23 or 25 hours count as one. */
function startOfDay(now: number, days = 0): number {
  const date = new Date(now)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime()
}

/** A count that ends at the largest page. */
interface Count {
  readonly count: number
  readonly isComplete: boolean
}

/** A pet that runs out soon at the current pace. */
export interface RunningOut {
  readonly petId: bigint
  readonly name: string
  readonly available: number
  readonly daysLeft: number
  readonly perDay: number
}

/** The pets that need a person. */
export interface UrgentPets {
  readonly low: Count
  readonly soldOut: Count
  /** Orders reserve more units than are on the shelf. */
  readonly oversold: readonly SearchRow[]
  readonly runningOut: readonly RunningOut[]
}

/** The pets that sell most are compared with their stock. */
const BEST_SELLERS = 200
const RUNS_OUT_DAYS = 7

export async function readUrgentPets(
  client: Pick<PetstoreClient, 'inventory' | 'reports'>,
  signal: AbortSignal,
): Promise<UrgentPets> {
  const page = { sort: 'available', limit: PAGE_SIZE, signal } as const
  const low = await client.inventory.search({ ...page, low: true })
  const soldOut = await client.inventory.search({ ...page, below: 1 })
  const report = await readPaceReport(client, signal)
  const names = new Map(report.rows.map(({ petId, name }) => [petId, name]))
  const fastest = [...paceOf(report)].sort(([, one], [, other]) => other - one).slice(0, BEST_SELLERS)
  const petIds = fastest.map(([petId]) => petId)
  const stock = petIds.length === 0 ? [] : (await client.inventory.availabilities({ petIds, signal })).items
  return {
    low: { count: low.items.length, isComplete: low.next === undefined },
    soldOut: { count: soldOut.items.length, isComplete: soldOut.next === undefined },
    oversold: soldOut.items.filter(({ available }) => available < 0),
    runningOut: runningOut(stock, new Map(fastest), RUNS_OUT_DAYS).map((pet) => ({
      ...pet,
      name: names.get(pet.petId) ?? `Pet ${pet.petId}`,
    })),
  }
}

/** Pets that run out within `days` at the current pace, the earliest first. */
export function runningOut(
  stock: readonly Pick<Availability, 'petId' | 'available'>[],
  pace: ReadonlyMap<bigint, number>,
  days: number,
): readonly Omit<RunningOut, 'name'>[] {
  return stock
    .flatMap(({ petId, available }) => {
      const perDay = pace.get(petId) ?? 0
      const daysLeft = Math.max(0, available) / perDay
      return daysLeft <= days ? [{ petId, available, daysLeft, perDay }] : []
    })
    .sort((a, b) => a.daysLeft - b.daysLeft || b.perDay - a.perDay)
}
