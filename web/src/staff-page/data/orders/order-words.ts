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

/** Such as `2 × Biscuit`. */
export function whatWords({ petId, quantity }: Pick<Order, 'petId' | 'quantity'>, name?: string): string {
  return `${quantity.toLocaleString('en')} × ${name ?? `pet ${petId}`}`
}

const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400]

/** How long a hold still lasts, to the second within a day: `6 d 23 h`, `1:59:07`, `4:05`. Never less than nothing. */
export function leftWords(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  if (seconds >= DAY) return `${Math.floor(seconds / DAY)} d ${Math.floor((seconds % DAY) / HOUR)} h`
  const [hours, minutes] = [Math.floor(seconds / HOUR), Math.floor((seconds % HOUR) / MINUTE)]
  const rest = String(seconds % MINUTE).padStart(2, '0')
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`
}
