import type { ErrorDetail, Order, OrderState } from '@petstore/client'
import { isPetstoreError, VALUES } from '@petstore/client'
import { failureWords } from '../failure-words.ts'

/** A held order is an open one that expires by itself. */
export type OrderKind = OrderState | 'held'

export const KIND_WORDS: Readonly<Record<OrderKind, string>> = {
  open: 'Open',
  held: 'Held',
  complete: 'Complete',
  cancelled: 'Cancelled',
  expired: 'Expired',
}

const CLOSED_STATES: ReadonlySet<OrderState> = new Set(VALUES.ClosedOrderState)
/** The states in which an order reserves its units. */
export const PENDING_STATES = VALUES.OrderState.filter((state) => !CLOSED_STATES.has(state))

/** Whether the order still reserves its units and can be changed. */
export function isPending({ state }: Pick<Order, 'state'>): boolean {
  return !CLOSED_STATES.has(state)
}

export function kindOf(order: Order): OrderKind {
  return isPending(order) && order.expiresAt !== undefined ? 'held' : order.state
}

/** Such as `2 × Biscuit, 1 × Goldie`. */
export function linesWords(
  lines: readonly { readonly petId: bigint; readonly quantity: number }[],
  nameOf: (petId: bigint) => string,
): string {
  return lines.map(({ petId, quantity }) => `${quantity.toLocaleString('en')} × ${nameOf(petId)}`).join(', ')
}

/** Whether an open order should have shipped by now. */
export function isOverdue(order: Order, now: number): boolean {
  const { shipDate } = order
  return isPending(order) && shipDate !== undefined && Date.parse(shipDate) < now
}

/** Why an order could not be changed, by its state. */
const CLOSED_WORDS: Readonly<Record<OrderState, string>> = {
  open: 'It could not be changed just now. Try again.',
  complete: 'Somebody else already completed it. You changed nothing.',
  cancelled: 'Somebody else already cancelled it. Nothing was taken out of the stock.',
  expired: 'Its hold had already ended. Nothing was taken out of the stock.',
}

/** Why the service refused an order, with the reason of each pet. */
export function orderFailure(error: unknown, nameOf: (petId: bigint) => string): string {
  const details = isPetstoreError(error) ? error.details : []
  const state = details[0]?.state
  if (isPetstoreError(error, 'order_closed') && state !== undefined) return CLOSED_WORDS[state]
  if (details.length === 0) return failureWords(error)
  return details.map((detail) => detailWords(detail, nameOf)).join(' ')
}

function detailWords({ petId, code, message, available }: ErrorDetail, nameOf: (petId: bigint) => string) {
  const name = petId === undefined ? 'One pet' : nameOf(petId)
  if (code === 'not_found') return `${name} is not in the store any more.`
  if (available === undefined) return `${name}: ${message}.`
  return `${name}: ${available <= 0 ? 'none is' : `only ${available.toLocaleString('en')}`} left.`
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
