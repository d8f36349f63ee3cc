import type { Order } from '@petstore/client'
import type { CategoryList } from '../data/catalog/category-list.ts'
import { freeUnits, isLow, isSoldOut } from '../data/stock/free-units.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { type Trade, unitsByPet } from '../data/trades.ts'

const DAY_MS = 24 * 3_600_000

/** The orders to ship before today, those to ship today, and the holds that expire within a day; the earliest first. */
export function dueOrders(open: readonly Order[], now: number) {
  const ordersBetween = (field: 'shipDate' | 'expiresAt', from: number, until: number) => {
    const timeOf = (order: Order) => Date.parse(order[field] ?? '')
    const isBetween = (time: number) => time >= from && time < until
    return open.filter((order) => isBetween(timeOf(order))).sort((a, b) => timeOf(a) - timeOf(b))
  }
  return {
    overdue: ordersBetween('shipDate', Number.NEGATIVE_INFINITY, startOfDay(now)),
    dueToday: ordersBetween('shipDate', startOfDay(now), startOfDay(now, 1)),
    expiring: ordersBetween('expiresAt', now, now + DAY_MS),
  }
}

/** Midnight of the local day, `days` later. Days of 23 or 25 hours count as one. */
export function startOfDay(now: number, days = 0): number {
  const date = new Date(now)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime()
}

/** Pets that run out within `days` at the current pace, the earliest first. */
export function runningOut(
  find: (petId: bigint) => StockRow | undefined,
  pace: ReadonlyMap<bigint, number>,
  days: number,
) {
  const found = [...pace].flatMap(([petId, perDay]) => {
    const row = find(petId)
    if (row === undefined) return []
    const daysLeft = Math.max(0, freeUnits(row)) / perDay
    return daysLeft <= days ? [{ row, daysLeft, perDay }] : []
  })
  return found.sort((a, b) => a.daysLeft - b.daysLeft || b.perDay - a.perDay)
}

/** The pets with the most units since `from`, with their units. */
export function biggestMovers(trades: readonly Trade[], from: number, count: number) {
  return [...unitsByPet(trades, from)]
    .filter(([, units]) => units > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
}

/** The number of low pets, and of pets that are sold out, also without a threshold. */
export function countLow(rows: readonly StockRow[], categories: CategoryList) {
  return {
    low: rows.filter((row) => isLow(row, categories)).length,
    soldOut: rows.filter(isSoldOut).length,
  }
}
