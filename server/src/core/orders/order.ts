import { ServiceError } from '../values/errors.ts'

export const ORDER_STATES = ['open', 'complete', 'cancelled', 'expired'] as const
export type OrderState = (typeof ORDER_STATES)[number]

/** The longest that an order can hold stock before it expires by itself. */
export const MAX_HOLD_SECONDS = 2_592_000

/** Times are milliseconds since the Unix epoch, by the store's clock. */
export interface Order {
  readonly id: bigint
  /** Never another one. */
  readonly petId: bigint
  readonly quantity: number
  /** Only an open one reserves. */
  readonly state: OrderState
  readonly createdAt: number
  /** When it expires by itself, where it is a hold. */
  readonly expiresAt?: number
  readonly shipDate?: number
}

/** An order as somebody asks for it. */
export interface OrderDraft extends Pick<Order, 'petId' | 'quantity' | 'shipDate'> {
  readonly holdSeconds?: number
}

/** An order as it stands in a file: open or complete. */
export interface OrderRow extends Pick<Order, 'id' | 'petId' | 'quantity' | 'shipDate'> {
  readonly complete: boolean
}

/** What happened to an order. */
export const ORDER_CHANGES = ['created', 'changed', 'completed', 'cancelled', 'expired'] as const
export type OrderChange = (typeof ORDER_CHANGES)[number]

/** What there is of a pet: on the shelf, and reserved by open orders. */
export interface Availability {
  readonly petId: bigint
  readonly quantity: number
  readonly reserved: number
}

/** Whether it is a hold whose time has come: from then on it reserves nothing, whether that is written down or not. */
export function isExpired({ state, expiresAt }: Order, now: number): boolean {
  return state === 'open' && expiresAt !== undefined && expiresAt <= now
}

/** As it is at this time. */
export function orderAt(order: Order, now: number): Order {
  return isExpired(order, now) ? { ...order, state: 'expired' } : order
}

export function noOrder(orderId: bigint): ServiceError {
  return new ServiceError(
    'not_found',
    `there is no order ${orderId}; GET /store/orders lists the orders that exist`,
  )
}
