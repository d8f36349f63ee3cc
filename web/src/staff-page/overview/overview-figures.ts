import type { Order } from '@petstore/client'
import type { CategoryList } from '../data/catalog/category-list.ts'
import { isLow } from '../data/stock/is-low.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { type Trade, unitsBetween, unitsByPet } from '../data/trades.ts'

export interface DueOrders {
  /** The time to ship them was before today. */
  readonly overdue: readonly Order[]
  readonly dueToday: readonly Order[]
  /** Holds that expire within a day, the earliest first. */
  readonly expiring: readonly Order[]
}

export function dueOrders(open: readonly Order[], now: number): DueOrders {
  const [today, tomorrow] = [startOfDay(now), startOfDay(now, 1)]
  const shipping = open.filter(({ shipDate }) => shipDate !== undefined).sort(by('shipDate'))
  return {
    overdue: shipping.filter((order) => timeOf(order, 'shipDate') < today),
    dueToday: shipping.filter((order) => isBetween(timeOf(order, 'shipDate'), today, tomorrow)),
    expiring: open
      .filter((order) => isBetween(timeOf(order, 'expiresAt'), now, now + 24 * 3_600_000))
      .sort(by('expiresAt')),
  }
}

type OrderTime = 'shipDate' | 'expiresAt'

function timeOf(order: Order, field: OrderTime): number {
  return Date.parse(order[field] ?? '')
}

function by(field: OrderTime): (a: Order, b: Order) => number {
  return (a, b) => timeOf(a, field) - timeOf(b, field)
}

function isBetween(time: number, from: number, until: number): boolean {
  return time >= from && time < until
}

/** Midnight of the local day, `days` later. Days of 23 or 25 hours count as one. */
export function startOfDay(now: number, days = 0): number {
  const date = new Date(now)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime()
}

export interface DayTotal {
  readonly day: number
  readonly units: number
}

/** The units of each of the last days, today last. */
export function unitsPerDay(trades: readonly Trade[], now: number, days: number): readonly DayTotal[] {
  return Array.from({ length: days }, (_, index) => {
    const day = startOfDay(now, index + 1 - days)
    return { day, units: unitsBetween(trades, day, startOfDay(now, index + 2 - days)) }
  })
}

export interface RunningOut {
  readonly row: StockRow
  readonly daysLeft: number
  readonly perDay: number
}

/** Pets that run out within `days` at the current pace, the earliest first. */
export function runningOut(
  find: (petId: bigint) => StockRow | undefined,
  pace: ReadonlyMap<bigint, number>,
  days: number,
): readonly RunningOut[] {
  const found: RunningOut[] = []
  for (const [petId, perDay] of pace) {
    const row = find(petId)
    if (row === undefined) continue
    const daysLeft = Math.max(0, row.quantity - row.reserved) / perDay
    if (daysLeft <= days) found.push({ row, daysLeft, perDay })
  }
  return found.sort((a, b) => a.daysLeft - b.daysLeft || b.perDay - a.perDay)
}

/** The pets with the most units since `from`. */
export function biggestMovers(
  trades: readonly Trade[],
  from: number,
  count: number,
): readonly (readonly [petId: bigint, units: number])[] {
  return [...unitsByPet(trades, from)]
    .filter(([, units]) => units > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
}

export interface LowCount {
  readonly low: number
  /** Low pets of which no unit is free. */
  readonly empty: number
}

export function countLow(rows: readonly StockRow[], categories: CategoryList): LowCount {
  let [low, empty] = [0, 0]
  for (const row of rows) {
    if (!isLow(row, categories)) continue
    low++
    if (row.quantity <= row.reserved) empty++
  }
  return { low, empty }
}
