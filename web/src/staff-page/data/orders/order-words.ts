import type { Order } from '@petstore/client'
import type { OrderKind } from './order-search.ts'

export const KIND_WORDS: Readonly<Record<OrderKind, string>> = {
  open: 'Open',
  held: 'Held',
  complete: 'Complete',
  cancelled: 'Cancelled',
  expired: 'Expired',
}

export function kindOf({ state, expiresAt }: Order): OrderKind {
  return state === 'open' && expiresAt !== undefined ? 'held' : state
}

/** Whether an open order should have shipped by now. */
export function isOverdue({ state, shipDate }: Order, now: number): boolean {
  return state === 'open' && shipDate !== undefined && Date.parse(shipDate) < now
}

/** Such as `2 × Biscuit`. */
export function itemWords({ petId, quantity }: Pick<Order, 'petId' | 'quantity'>, name?: string): string {
  return `${quantity.toLocaleString('en')} × ${name ?? `pet ${petId}`}`
}

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400]

/** The time left in a hold, to the second within a day: `6 d 23 h`, `1:59:07`, `4:05`; at least `0:00`. */
export function leftWords(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  if (seconds >= DAY) return `${Math.floor(seconds / DAY)} d ${Math.floor((seconds % DAY) / HOUR)} h`
  const [hours, minutes] = [Math.floor(seconds / HOUR), Math.floor((seconds % HOUR) / MINUTE)]
  const rest = String(seconds % MINUTE).padStart(2, '0')
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`
}
