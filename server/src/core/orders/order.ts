import Type from 'typebox'
import { Name, Note } from '../catalog/catalog-fields.ts'
import { nameWords } from '../catalog/name-words.ts'
import { notFound, type ServiceError } from '../values/errors.ts'
import { DateTime, Int64, MAX_QUANTITY, OneOf, Quantity, type RecordOf, updateOf } from '../values/field.ts'

/** The state machine of an order. States, events and webhook kinds derive from this table, in the same sequence. */
const TRANSITIONS = {
  created: { from: [], ignoredIn: [], to: 'open', units: 'reserve', webhook: 'An order was created' },
  changed: { from: ['open'], ignoredIn: [], to: 'open', units: 'keep', webhook: 'An open order was changed' },
  completed: {
    from: ['open'],
    ignoredIn: ['complete'],
    to: 'complete',
    units: 'take',
    webhook: 'An order was completed',
  },
  cancelled: {
    from: ['open'],
    ignoredIn: ['cancelled', 'expired'],
    to: 'cancelled',
    units: 'release',
    webhook: 'An order was cancelled',
  },
  expired: { from: ['open'], ignoredIn: [], to: 'expired', units: 'release', webhook: 'A hold expired' },
} as const satisfies Readonly<Record<string, Transition>>

interface Transition<State = string> {
  /** The states in which the transition is allowed. */
  readonly from: readonly State[]
  /** The states in which a request for the transition succeeds and changes nothing. */
  readonly ignoredIn: readonly State[]
  readonly to: State
  /** What happens to the reserved units of the order. `take` takes them out of the stock. */
  readonly units: 'reserve' | 'keep' | 'take' | 'release'
  /** The summary of the webhook kind `order.<name>`. */
  readonly webhook: string
}

/** The name of a transition in the log, in events and in webhooks. */
export type OrderChange = keyof typeof TRANSITIONS
export type OrderState = (typeof TRANSITIONS)[OrderChange]['to']

export const ORDER_TRANSITIONS: Readonly<Record<OrderChange, Transition<OrderState>>> = TRANSITIONS
/** The cast is needed because Object.keys returns strings. */
export const ORDER_CHANGES = Object.keys(TRANSITIONS) as readonly OrderChange[]
export const ORDER_STATES: readonly OrderState[] = [
  ...new Set(ORDER_CHANGES.map((change) => ORDER_TRANSITIONS[change].to)),
]

export type OrderWebhookKind = `order.${OrderChange}`

export function orderWebhookKind(change: OrderChange): OrderWebhookKind {
  return `order.${change}`
}

export const ORDER_WEBHOOKS = ORDER_CHANGES.map((change) => ({
  kind: orderWebhookKind(change),
  summary: ORDER_TRANSITIONS[change].webhook,
}))

export function mapOrderWebhooks<T>(
  toValue: (webhook: (typeof ORDER_WEBHOOKS)[number]) => T,
): Readonly<Record<OrderWebhookKind, T>> {
  const entries = ORDER_WEBHOOKS.map((webhook) => [webhook.kind, toValue(webhook)] as const)
  // Object.fromEntries loses the types of the keys. ORDER_WEBHOOKS has every kind.
  return Object.fromEntries(entries) as Record<OrderWebhookKind, T>
}

const MAX_HOLD_SECONDS = 30 * 86_400

export const OrderState = OneOf(ORDER_STATES, {
  title: 'OrderState',
  description:
    'open: the order reserves stock. complete: its units were taken out of the stock. cancelled or expired: it no longer reserves anything.',
})

const CHANGEABLE = {
  shipDate: Type.Optional(
    DateTime('When the order ships or shipped. Requests may use any time zone; responses use UTC.'),
  ),
  customer: Type.Optional(
    Name('The customer, for example a name and a telephone number, without control characters.'),
  ),
  note: Type.Optional(
    Note('A note for the staff. It may contain line breaks, but no other control characters.'),
  ),
}

/** Times are milliseconds since the Unix epoch, by the store's clock. */
export const ORDER = {
  id: Int64('Identifier of the order.'),
  /** Never changes. */
  petId: Int64('The pet that was ordered.'),
  quantity: Quantity('Units that were ordered.'),
  state: OrderState,
  createdAt: DateTime('When the order was created, in UTC.'),
  expiresAt: Type.Optional(DateTime('When a hold expires, in UTC; absent if the order is not a hold.')),
  closedAt: Type.Optional(
    DateTime(
      'When the order was completed or cancelled, or expired, in UTC; absent while it is open, or if an older version of the service closed it.',
    ),
  ),
  ...CHANGEABLE,
  createdBy: Type.Optional(
    Type.String({
      description:
        'Public identifier of the API key that created the order; GET /keys/names has its name. Orders of `petstore import` have `petstore-import`, which is not a key. Absent if an older version of the service created the order.',
    }),
  ),
  closedBy: Type.Optional(
    Type.String({
      description:
        'Public identifier of the API key that completed or cancelled the order. `petstore-import` if an import closed the order, which is not a key. Absent if the order is open or expired, or if an older version of the service closed it.',
    }),
  ),
}
export type Order = RecordOf<typeof ORDER>

export const NEW_ORDER = {
  petId: Int64('The pet to order.'),
  quantity: Type.Integer({
    minimum: 1,
    maximum: MAX_QUANTITY,
    description: 'Units to order. This many must be available.',
  }),
  ...CHANGEABLE,
  holdSeconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_HOLD_SECONDS,
      description: 'Makes the order a hold, which expires after this many seconds.',
    }),
  ),
}
export type NewOrder = RecordOf<typeof NEW_ORDER>

export const ORDER_UPDATE = updateOf(CHANGEABLE)
export type OrderPatch = RecordOf<typeof ORDER_UPDATE>

export const MAX_ORDERS_PER_REQUEST = 100

const { shipDate, ...otherChangeable } = CHANGEABLE
/** An order in a file, whose columns are in this sequence. Only open and complete orders are exported. */
export const ORDER_ROW = {
  id: ORDER.id,
  petId: ORDER.petId,
  quantity: ORDER.quantity,
  shipDate,
  complete: Type.Boolean({ description: 'Whether the order has been fulfilled.' }),
  ...otherChangeable,
}
export type OrderRow = RecordOf<typeof ORDER_ROW>

export const AVAILABILITY = {
  petId: Int64('Identifier of the pet.'),
  quantity: Quantity('Units on the shelf.'),
  reserved: Quantity('Units that open orders reserve.'),
}
export type Availability = RecordOf<typeof AVAILABILITY>

/** The result of `availableOf`. */
export const AVAILABLE = Type.Integer({
  minimum: -MAX_QUANTITY,
  maximum: MAX_QUANTITY,
  description:
    'Units that can still be ordered: quantity minus reserved. Negative if the stock was set below the reserved units.',
})

/** Whether the order is an expired hold that is still stored as open. Such an order reserves nothing. */
export function isExpired({ state, expiresAt }: Order, now: number): boolean {
  return state === 'open' && expiresAt !== undefined && expiresAt <= now
}

/** The order with its state at this time, even if the store has not recorded its expiry yet. */
export function orderAt(order: Order, now: number): Order {
  return isExpired(order, now) ? expiredOrder(order, now) : order
}

/** A hold closes at its expiry time, even if the store records the expiry later. */
export function expiredOrder(order: Order, now: number): Order {
  return { ...order, state: 'expired', closedAt: order.expiresAt ?? now }
}

/** The words by which an order is found. */
export function customerWordsOf({ customer }: Pick<Order, 'customer'>): string | undefined {
  return customer === undefined ? undefined : nameWords(customer)
}

export function orderNotFound(orderId: bigint): ServiceError {
  return notFound(`there is no order ${orderId}; GET /store/orders lists the orders that exist`)
}
