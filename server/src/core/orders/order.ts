import Type from 'typebox'
import { Name, Note } from '../catalog/catalog-fields.ts'
import { nameWords } from '../catalog/name-words.ts'
import { referenceField } from '../stock/adjustment.ts'
import { notFound, type ServiceError } from '../values/errors.ts'
import {
  DateTime,
  Int64,
  isSameRecord,
  jsonTextWriter,
  MAX_QUANTITY,
  Metadata,
  OneOf,
  Quantity,
  type RecordOf,
  updateOf,
} from '../values/field.ts'
import { contentHash } from '../values/record-tag.ts'

/** What an order in each state does. Transitions, the contract, SQL and the page derive from this table. */
const STATES = {
  open: {
    reserves: true,
    isListed: true,
    isComplete: false,
    description: 'the order reserves stock.',
  },
  complete: {
    reserves: false,
    isListed: true,
    isComplete: true,
    description: 'its units were taken out of the stock.',
  },
  cancelled: {
    reserves: false,
    isListed: false,
    isComplete: false,
    description: 'it was called off and reserves nothing.',
  },
  expired: {
    reserves: false,
    isListed: false,
    isComplete: false,
    description: 'its hold ended, and it reserves nothing.',
  },
} as const satisfies Readonly<Record<string, StateRules>>

interface StateRules {
  /** Whether the order keeps its units from being ordered or sold otherwise. */
  readonly reserves: boolean
  /** Whether lists without a state, and files, have the order. */
  readonly isListed: boolean
  /** Whether the units of the order have left the stock. */
  readonly isComplete: boolean
  readonly description: string
}

export type OrderState = keyof typeof STATES

/** The state machine of an order. Events and webhook kinds derive from this table, in the same sequence. */
const TRANSITIONS = {
  created: { from: [], ignoredIn: [], to: 'open', webhook: 'An order was created' },
  changed: { from: ['open'], ignoredIn: [], to: 'same', webhook: 'An order was changed' },
  completed: {
    from: ['open'],
    lateFrom: ['expired'],
    ignoredIn: ['complete'],
    to: 'complete',
    webhook: 'An order was completed',
  },
  cancelled: {
    from: ['open', 'expired'],
    ignoredIn: ['cancelled'],
    to: 'cancelled',
    webhook: 'An order was cancelled',
  },
  expired: { from: ['open'], ignoredIn: [], to: 'expired', webhook: 'A hold expired' },
} as const satisfies Readonly<Record<string, Transition>>

interface Transition {
  /** The states in which the transition is allowed. */
  readonly from: readonly OrderState[]
  /** The states in which it is allowed if the caller asks for it although it is late. */
  readonly lateFrom?: readonly OrderState[]
  /** The states in which a request for the transition succeeds and changes nothing. */
  readonly ignoredIn: readonly OrderState[]
  readonly to: OrderState | 'same'
  /** The summary of the webhook kind `order.<name>`. */
  readonly webhook: string
}

/** The name of a transition in the log, in events and in webhooks. */
export type OrderChange = keyof typeof TRANSITIONS

export const ORDER_TRANSITIONS: Readonly<Record<OrderChange, Transition>> = TRANSITIONS
/** The casts are needed because Object.keys returns strings. */
export const ORDER_CHANGES = Object.keys(TRANSITIONS) as readonly OrderChange[]
export const ORDER_STATES = Object.keys(STATES) as readonly OrderState[]
export const LISTED_STATES = ORDER_STATES.filter((state) => STATES[state].isListed)
/** The states in which an order can be neither completed, changed nor cancelled. */
export const CLOSED_STATES = ORDER_STATES.filter((state) => !STATES[state].reserves)
export const NEW_STATE: OrderState = TRANSITIONS.created.to
export const COMPLETE_STATE: OrderState = TRANSITIONS.completed.to
export const EXPIRED_STATE: OrderState = TRANSITIONS.expired.to

export function stateRules(state: OrderState): StateRules {
  return STATES[state]
}

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

export const OrderState = OneOf(ORDER_STATES, {
  title: 'OrderState',
  description: ORDER_STATES.map((state) => `${state}: ${STATES[state].description}`).join(' '),
})

export const MAX_LINES_PER_ORDER = 100
const MAX_HOLD_SECONDS = 30 * 86_400

/** Everything that an order says about a person. These fields stand in the row of the order and nowhere else. */
const PERSONAL = {
  customer: Type.Optional(
    Name('The customer, for example a name and a telephone number, without control characters.'),
  ),
  note: Type.Optional(
    Note('A note for the staff. It may contain line breaks, but no other control characters.'),
  ),
}

const DETAILS = {
  reference: Type.Optional(
    referenceField(
      'What the order refers to in another system, such as a cart or a receipt; without control characters. It is part of events, so it is no place for personal data.',
    ),
  ),
  shipDate: Type.Optional(
    DateTime('When the order ships or shipped. Requests may use any time zone; responses use UTC.'),
  ),
  ...PERSONAL,
  metadata: Type.Optional(Metadata),
}

/** The fields of an order, except its lines. Times are milliseconds since the Unix epoch, by the store's clock. */
export const ORDER = {
  id: Int64('Identifier of the order.'),
  state: OrderState,
  ...DETAILS,
  createdAt: DateTime('When the order was created, in UTC.'),
  expiresAt: Type.Optional(DateTime('When a hold expires, in UTC; absent if the order is not a hold.')),
  closedAt: Type.Optional(
    DateTime(
      'When the order was completed or cancelled, or expired, in UTC; absent while it is open, or if an older version of the service closed it.',
    ),
  ),
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
  adjustmentId: Type.Optional(
    Int64(
      'The adjustment by which the units of a complete order left the stock. Reverse it to take units back. Absent if the order is not complete, was imported, or was completed by an older version of the service.',
    ),
  ),
}

const petId = Int64('The pet of the line. Each pet may occur once in an order.')

export const ORDER_LINE = {
  petId,
  quantity: Quantity('Units that were ordered.'),
  returned: Quantity(
    'Units that were taken back since the order was completed, by reversals that the history still has.',
  ),
}
export type OrderLine = RecordOf<typeof ORDER_LINE>

/** The lines are in the order of their pets. */
export interface Order extends RecordOf<typeof ORDER> {
  readonly lines: readonly OrderLine[]
}

export const NEW_ORDER_LINE = {
  petId,
  quantity: Type.Integer({
    minimum: 1,
    maximum: MAX_QUANTITY,
    description: 'Units to order. This many must be available.',
  }),
}
export type NewOrderLine = RecordOf<typeof NEW_ORDER_LINE>

const holdSeconds = Type.Integer({
  minimum: 1,
  maximum: MAX_HOLD_SECONDS,
  description:
    'Makes the order a hold, which expires after this many seconds from now and then reserves nothing.',
})

/** The fields of a new order, except its lines. */
export const NEW_ORDER = { ...DETAILS, holdSeconds: Type.Optional(holdSeconds) }

export interface NewOrder extends RecordOf<typeof NEW_ORDER> {
  readonly lines: readonly NewOrderLine[]
}

const DETAILS_UPDATE = updateOf(DETAILS)
/** The changes of an order, except those of its lines. Without `holdSeconds`, an open order is firm. */
export const ORDER_UPDATE = { ...DETAILS_UPDATE, ...updateOf({ holdSeconds: Type.Optional(holdSeconds) }) }
export type OrderPatch = RecordOf<typeof DETAILS_UPDATE>

/** A row of a file of orders: one line of an order. The rows of an order have its id and the same other fields. */
export const ORDER_ROW = {
  id: ORDER.id,
  petId: ORDER_LINE.petId,
  quantity: ORDER_LINE.quantity,
  complete: Type.Boolean({ description: 'Whether the order has been fulfilled.' }),
  ...DETAILS,
  createdAt: Type.Optional(ORDER.createdAt),
  expiresAt: ORDER.expiresAt,
  closedAt: ORDER.closedAt,
}
export type OrderRow = RecordOf<typeof ORDER_ROW>

/** An order of a file. */
export interface FileOrder extends Omit<OrderRow, 'petId' | 'quantity'> {
  readonly lines: readonly NewOrderLine[]
}

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

export function petIdsOfLines(lines: readonly Pick<OrderLine, 'petId'>[]): bigint[] {
  return lines.map(({ petId: id }) => id)
}

/** New lines in the order in which an order has them. */
export function toOrderLines(lines: readonly NewOrderLine[]): OrderLine[] {
  return lines
    .map(({ petId: id, quantity }) => ({ petId: id, quantity, returned: 0 }))
    .sort((one, other) => (one.petId < other.petId ? -1 : 1))
}

export function isSameOrder(one: Order, other: Order): boolean {
  return (
    isSameRecord(ORDER, one, other) &&
    one.lines.length === other.lines.length &&
    one.lines.every((line, index) => {
      const otherLine = other.lines[index]
      return otherLine !== undefined && isSameRecord(ORDER_LINE, line, otherLine)
    })
  )
}

const headText = jsonTextWriter(ORDER)
const lineText = jsonTextWriter(ORDER_LINE)

/** The tag of an order for ETag and If-Match. */
export function orderTag(order: Order): string {
  return contentHash(headText(order), ...order.lines.map(lineText))
}

/** Whether the patch does nothing but remove personal data, which is possible in every state. */
export function isErasure(patch: OrderPatch): boolean {
  const changes = Object.entries(patch)
  return (
    changes.length > 0 && changes.every(([name, value]) => value === null && Object.hasOwn(PERSONAL, name))
  )
}

/** Whether personal data of the order before the change is not part of the order after it. */
export function losesPersonalData(before: Order, after: Order): boolean {
  const hasLost = (value: string | undefined, later: string | undefined) =>
    value !== undefined && value !== later
  return hasLost(before.customer, after.customer) || hasLost(before.note, after.note)
}

/** The patch that removes all personal data. */
export const ERASURE: OrderPatch = Object.fromEntries(Object.keys(PERSONAL).map((name) => [name, null]))

/** When the units of the order are no longer reserved; `undefined` if no time ends the reservation. */
export function holdUntil({ state, expiresAt }: Pick<Order, 'state' | 'expiresAt'>): number | undefined {
  return STATES[state].reserves ? expiresAt : undefined
}

/** Whether the order is a hold that has expired, although its state does not say so yet. It reserves nothing. */
export function isExpired(order: Order, now: number): boolean {
  const until = holdUntil(order)
  return until !== undefined && until <= now
}

/** The order with its state at this time, even if the store has not recorded its expiry yet. */
export function orderAt(order: Order, now: number): Order {
  return isExpired(order, now) ? expiredOrder(order, now) : order
}

/** A hold closes at its expiry time, even if the store records the expiry later. */
export function expiredOrder(order: Order, now: number): Order {
  return { ...order, state: EXPIRED_STATE, closedAt: order.expiresAt ?? now }
}

/** The words by which an order is found. */
export function customerWordsOf({ customer }: Pick<Order, 'customer'>): string | undefined {
  return customer === undefined ? undefined : nameWords(customer)
}

export function orderNotFound(orderId: bigint): ServiceError {
  return notFound(`there is no order ${orderId}; GET /store/orders lists the orders that exist`)
}
