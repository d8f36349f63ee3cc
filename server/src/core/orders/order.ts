import Type from 'typebox'
import { ServiceError } from '../values/errors.ts'
import { DateTime, Int64, MAX_QUANTITY, Quantity, type RecordOf, Words } from '../values/field.ts'

export const ORDER_STATES = ['open', 'complete', 'cancelled', 'expired'] as const
export type OrderState = (typeof ORDER_STATES)[number]

/** The longest that an order can hold stock before it expires by itself. */
export const MAX_HOLD_SECONDS = 2_592_000

export const OrderState = Words(ORDER_STATES, {
  title: 'OrderState',
  description:
    'open: the order reserves stock. complete: its units were taken out of the stock. cancelled or expired: it no longer reserves anything.',
})

/** Times are milliseconds since the Unix epoch, by the store's clock. */
export const ORDER = {
  id: Int64('Identifier of the order.'),
  /** Never changes. */
  petId: Int64('The pet that was ordered.'),
  quantity: Quantity('Units that were ordered.'),
  state: OrderState,
  createdAt: DateTime('When the order was created, in UTC.'),
  expiresAt: Type.Optional(DateTime('When a hold expires, in UTC; absent if the order is not a hold.')),
  shipDate: Type.Optional(DateTime('When the order ships or shipped, in UTC; absent if it is not set.')),
}
export type Order = RecordOf<typeof ORDER>

export const NEW_ORDER = {
  petId: Int64('The pet to order.'),
  quantity: Type.Integer({
    minimum: 1,
    maximum: MAX_QUANTITY,
    description: 'Units to order. This many must be available.',
  }),
  shipDate: Type.Optional(DateTime('When the order ships: a date and time with its zone.')),
  holdSeconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_HOLD_SECONDS,
      description: 'Makes the order a hold, which expires after this many seconds.',
    }),
  ),
}
export type OrderDraft = RecordOf<typeof NEW_ORDER>

/** An order in a file. Orders that are neither open nor complete are not exported. */
export const ORDER_ROW = {
  id: ORDER.id,
  petId: ORDER.petId,
  quantity: ORDER.quantity,
  shipDate: ORDER.shipDate,
  complete: Type.Boolean({ description: 'Whether the order has been fulfilled.' }),
}
export type OrderRow = RecordOf<typeof ORDER_ROW>

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
export function isOver({ state, expiresAt }: Order, now: number): boolean {
  return state === 'open' && expiresAt !== undefined && expiresAt <= now
}

/** As it is at this time. */
export function orderAt(order: Order, now: number): Order {
  return isOver(order, now) ? { ...order, state: 'expired' } : order
}

export function noOrder(orderId: bigint): ServiceError {
  return new ServiceError(
    'not_found',
    `there is no order ${orderId}; GET /store/orders lists the orders that exist`,
  )
}
