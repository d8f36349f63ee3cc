import Type from 'typebox'
import { Barcode } from '../core/catalog/catalog-fields.ts'
import {
  LISTED_STATES,
  MAX_LINES_PER_ORDER,
  NEW_ORDER,
  NEW_ORDER_LINE,
  NEW_STATE,
  type NewOrderLine,
  ORDER,
  ORDER_LINE,
  ORDER_ROW,
  ORDER_STATES,
  ORDER_UPDATE,
  orderNotFound,
  orderTag,
  petIdsOfLines,
  type Order as StoredOrder,
  stateRules,
} from '../core/orders/order.ts'
import { isSearchableCustomer, readOrderPage } from '../core/orders/order-list.ts'
import type { OrderStore } from '../core/orders/order-store.ts'
import { referenceField } from '../core/stock/adjustment.ts'
import type { OrderClosed } from '../core/stock/command.ts'
import { MAX_AHEAD_MINUTES, MAX_LATENESS_DAYS } from '../core/stock/facts.ts'
import { refusal } from '../core/stock/refusal.ts'
import type { TransferStore } from '../core/transfer/transfer-store.ts'
import type { ErrorDetail } from '../core/values/errors.ts'
import type { JsonObject } from '../core/values/exact-json.ts'
import {
  DateTime,
  Int64,
  invalidField,
  isWithinLength,
  type JsonOf,
  jsonWriter,
  OneOf,
  Text,
} from '../core/values/field.ts'
import { recordChanged } from '../core/values/record-tag.ts'
import { requireNotAhead, tooLateError } from './adjustments.ts'
import { elementParser, parseList } from './list-body.ts'
import { findPets, type NamedPet, requirePet } from './named-pets.ts'
import { bodyParser, commitAndReply, defineOperation, requireOneGroup } from './operation.ts'
import {
  conditionalReply,
  createdReply,
  jsonReply,
  NO_CONTENT,
  pageReply,
  recordETag,
  recordTagsIn,
  type StorableReply,
} from './reply.ts'
import { EXAMPLE_TIME, Flag, pageParameters } from './schemas.ts'

/** The fields in the sequence in which callers see them. */
const { id, state, ...otherFields } = ORDER
const ORDER_HEAD = { id, state, complete: ORDER_ROW.complete, ...otherFields }

const ORDER_BODY = {
  id,
  lines: Type.Array(Type.Object(ORDER_LINE, { title: 'OrderLine' }), {
    description: 'What was ordered, in the order of the pets.',
  }),
  state,
  complete: ORDER_ROW.complete,
  ...otherFields,
}

const ORDER_EXAMPLE = {
  id: 17,
  lines: [
    { petId: 1, quantity: 1, returned: 0 },
    { petId: 2, quantity: 2, returned: 0 },
  ],
  state: NEW_STATE,
  complete: false,
  reference: 'cart-8841',
  customer: 'Anna Smith, 555 0134',
  createdAt: EXAMPLE_TIME,
}

const Order = Type.Object(ORDER_BODY, { title: 'Order', examples: [ORDER_EXAMPLE] })

const NEW_LINE = {
  petId: Type.Optional(NEW_ORDER_LINE.petId),
  barcode: Type.Optional(Barcode),
  quantity: NEW_ORDER_LINE.quantity,
}
const NewLine = Type.Object(NEW_LINE, {
  title: 'NewOrderLine',
  description: 'Units of the pet that `petId` or `barcode` names.',
  examples: [{ petId: 1, quantity: 2 }],
})
const NewLines = Type.Array(NewLine, { minItems: 1, maxItems: MAX_LINES_PER_ORDER })

const LEFT_AT = DateTime(
  `When the goods left the shelf; now, if absent. Only with \`complete\`. At most ${MAX_LATENESS_DAYS} days ago and at most ${MAX_AHEAD_MINUTES} minutes ahead. A line that left before the latest count of its pet changes no quantity, because the count includes it.`,
)

const NEW_ORDER_OPTIONS = {
  ...NEW_ORDER,
  complete: Type.Optional(
    Flag(
      'If true, the order is a sale: its units leave the stock at once. They must be available: neither sold nor reserved by another order.',
    ),
  ),
  occurredAt: Type.Optional(LEFT_AT),
  evenIfReserved: Type.Optional(
    Flag(
      'If true, also units that other orders reserve are sold, because the goods have already left. Only with `complete`.',
    ),
  ),
}
const NEW_ORDER_CHOICES = { NewBasket: ['lines'], NewOrderOfOnePet: Object.keys(NEW_LINE) }

const NEW_ORDER_EXAMPLE = {
  lines: [
    { petId: 1, quantity: 1 },
    { petId: 2, quantity: 2 },
  ],
  holdSeconds: 900,
  reference: 'cart-8841',
}
const NewOrder = Type.Object(
  { lines: NewLines, ...NEW_LINE, ...NEW_ORDER_OPTIONS },
  {
    title: 'NewOrder',
    description: 'Either `lines`, or one line in short.',
    choices: NEW_ORDER_CHOICES,
    examples: [NEW_ORDER_EXAMPLE, { petId: 1, quantity: 2 }],
  },
)

const COMPLETION = {
  complete: Type.Refine(
    Type.Boolean({
      const: true,
      description: 'The order is fulfilled: its units leave the stock and are no longer reserved.',
    }),
    (complete) => complete,
    () => 'true (DELETE cancels an order)',
  ),
  onlyIfOpen: Type.Optional(
    Flag(
      'If true, completing an order that is already complete fails with 409 order_closed, so that the caller knows whether this request completed it.',
    ),
  ),
  evenIfExpired: Type.Optional(
    Flag(
      'If true, an order whose hold has expired is completed nevertheless, if all of its units are still available. Meant for a payment that arrives late.',
    ),
  ),
  occurredAt: Type.Optional(LEFT_AT),
}
const ORDER_CHANGE = { lines: Type.Optional(NewLines), ...ORDER_UPDATE }
const UPDATE_CHOICES = { OrderCompletion: Object.keys(COMPLETION), OrderChange: Object.keys(ORDER_CHANGE) }

const OrderUpdate = Type.Object(
  { ...COMPLETION, ...ORDER_CHANGE },
  { title: 'OrderUpdate', choices: UPDATE_CHOICES, examples: [{ complete: true }] },
)

const MAX_CUSTOMER_LENGTH = 200
const CustomerQuery = Text(
  {
    minLength: 1,
    maxLength: MAX_CUSTOMER_LENGTH,
    description:
      'Return only orders whose customer has each of these words, or a word that begins so, in any sequence. Only letters and digits count; case, accents and punctuation do not: `smith a` finds `Anna Smith`, and so does `SMITH, Á`. Digits are found anywhere in a number, with or without blanks: `5550134` finds `555 0134`.',
  },
  `1 to ${MAX_CUSTOMER_LENGTH} characters with at least one letter or digit`,
  (text) => isWithinLength(text, MAX_CUSTOMER_LENGTH) && isSearchableCustomer(text),
)

const headToJson = jsonWriter(ORDER_HEAD)
const lineToJson = jsonWriter(ORDER_LINE)

/** An order as callers see it. */
export function orderBody({ lines, ...order }: StoredOrder) {
  const { id: orderId, ...fields } = headToJson({ ...order, complete: stateRules(order.state).isComplete })
  return { id: orderId, lines: lines.map((line): JsonOf<typeof ORDER_LINE> => lineToJson(line)), ...fields }
}

export const listOrders = defineOperation('GET', '/store/orders', {
  summary: 'List orders',
  description: `Returns orders by id ascending, in pages. Without \`state\`, returns only ${LISTED_STATES.join(' and ')} orders. Each further parameter narrows the list.`,
  ignoresUnknownInput: true,
  query: {
    state: Type.Optional(OneOf(ORDER_STATES, { description: 'Return only orders in this state.' })),
    petId: Type.Optional(Int64('Return only orders with a line of this pet.')),
    customer: Type.Optional(CustomerQuery),
    reference: Type.Optional(referenceField('Return only orders with exactly this reference.')),
    since: Type.Optional(DateTime('Return only orders that were created at or after this time.')),
    until: Type.Optional(DateTime('Return only orders that were created before this time.')),
    ...pageParameters(),
  },
  success: { description: 'A page of orders.', schema: Type.Array(Order) },
  reply: async ({ query, request }, { store }) =>
    pageReply(request, query, await readOrderPage(store, query), orderBody),
})

export const createOrder = defineOperation('POST', '/store/orders', {
  summary: 'Order pets',
  description:
    'Creates an order of one or several pets, which reserves its units: all lines or none. If several callers order the last unit at once, exactly one of them gets it. The `quantity` of an inventory entry does not change until the order is completed. With `holdSeconds` the order is a hold, which expires after that time and then reserves nothing. With `complete` the units are sold at once. If lines cannot be ordered, `details` of the error names each of them.',
  stability: 'beta',
  permission: 'orders',
  acceptsIdempotencyKey: true,
  body: NewOrder,
  parseBody: parseNewOrder,
  success: { status: 201, hasETag: true, description: 'The order.', schema: Order },
  errors: ['not_found', 'insufficient_stock', 'too_late'],
  reply: async (input, services) => {
    const { lines: named, complete, occurredAt, evenIfReserved, ...fields } = input.body
    requireNotAhead(occurredAt, services.clock)
    const lines = await linesOf(named, services.store)
    const command = {
      type: 'create_order',
      order: { ...fields, lines },
      complete,
      occurredAt,
      evenIfReserved,
    } as const
    const { path } = input.request
    const replies = {
      done: ({ order }: { readonly order: StoredOrder }) => createdOrderReply(path, order),
      refused: refusedLines,
      too_late: tooLateError,
    }
    return commitAndReply(input, services, command, replies, orderReader(services.store))
  },
})

export const getOrder = defineOperation('GET', '/store/orders/{orderId}', {
  summary: 'Get one order',
  description: 'Returns an order in any state.',
  stability: 'beta',
  params: { orderId: Int64('The order to return.') },
  success: { description: 'The order.', schema: Order },
  prepare: ({ orderId }, { store }) => store.findOrder(orderId),
  reply: ({ params, request }, _, order) => {
    if (order === undefined) throw orderNotFound(params.orderId)
    return conditionalReply(orderReply(order), request)
  },
})

export const updateOrder = defineOperation('PATCH', '/store/orders/{orderId}', {
  summary: 'Complete or change an order',
  description: [
    '`{"complete": true}` completes the order: all of its units leave the stock in one commit, as an adjustment with the reason `sold` and the reference of the order or, if it has none, such as `order 17`. Completing it again changes nothing; `closedAt` shows when it was completed. With `onlyIfOpen`, completing it again fails.',
    'The other fields change an open order: `lines` replaces its lines, all or none; `holdSeconds` restarts the hold from now, and null makes the order firm; null clears a field: `{"shipDate": null}`.',
    'Setting `customer` and `note` to null erases them, in every state of the order.',
  ].join(' '),
  stability: 'beta',
  permission: 'orders',
  acceptsIdempotencyKey: true,
  params: { orderId: Int64('The order to update.') },
  body: OrderUpdate,
  parseBody: parseOrderUpdate,
  success: { description: 'The order.', schema: Order },
  errors: ['insufficient_stock', 'order_closed', 'too_late'],
  // The commit locks the pets before it reads the order again.
  prepare: ({ orderId }, { store }) => store.findOrder(orderId),
  reply: async (input, services, order) => {
    const { orderId } = input.params
    const onlyIfTags = recordTagsIn(input.ifMatch)
    const target = { orderId, petIds: petIdsOfLines(order?.lines ?? []), onlyIfTags }
    const { body } = input
    const replies = {
      done: (outcome: { readonly order: StoredOrder }) => orderReply(outcome.order),
      unknown_order: () => orderNotFound(orderId),
      record_changed: () => recordChanged(`order ${orderId}`),
      order_closed: orderClosed,
      refused: refusedLines,
      too_late: tooLateError,
    }
    const readOrder = orderReader(services.store)
    if (body.type === 'completion') {
      const { complete: _, ...options } = body.completion
      requireNotAhead(options.occurredAt, services.clock)
      const command = { type: 'complete_order', ...target, ...options } as const
      return commitAndReply(input, services, command, replies, readOrder)
    }
    const { holdSeconds, ...patch } = body.change
    const lines = body.lines && (await linesOf(body.lines, services.store))
    const command = { type: 'change_order', ...target, patch, lines, holdSeconds } as const
    return commitAndReply(input, services, command, replies, readOrder)
  },
})

export const cancelOrder = defineOperation('DELETE', '/store/orders/{orderId}', {
  summary: 'Cancel an order',
  description:
    'Cancels an open order and releases its reserved units. An expired order can be cancelled, too: a late payment no longer completes it. Cancelling an order again changes nothing. A return of sold units is a reversal of the adjustment of the order instead.',
  stability: 'beta',
  permission: 'orders',
  acceptsIdempotencyKey: true,
  params: { orderId: Int64('The order to cancel.') },
  success: { status: 204, description: 'The order no longer reserves anything.', schema: Type.Null() },
  errors: ['order_closed'],
  prepare: ({ orderId }, { store }) => store.findOrder(orderId),
  reply: (input, services, order) => {
    const { orderId } = input.params
    const onlyIfTags = recordTagsIn(input.ifMatch)
    const petIds = petIdsOfLines(order?.lines ?? [])
    const command = { type: 'cancel_order', orderId, petIds, onlyIfTags } as const
    return commitAndReply(input, services, command, {
      done: () => NO_CONTENT,
      unknown_order: () => orderNotFound(orderId),
      record_changed: () => recordChanged(`order ${orderId}`),
      order_closed: orderClosed,
    })
  },
})

function orderReply(order: StoredOrder): StorableReply & { readonly body: string } {
  return { ...jsonReply(orderBody(order), orderETag(order)), orderId: order.id }
}

function createdOrderReply(path: string, order: StoredOrder): StorableReply {
  return { ...createdReply(path, orderBody(order), orderETag(order)), orderId: order.id }
}

/** Reads the order of a remembered reply. */
function orderReader(store: Pick<OrderStore, 'findOrder'>) {
  return async (orderId: bigint): Promise<StorableReply> => {
    const order = await store.findOrder(orderId)
    if (order === undefined) throw orderNotFound(orderId)
    return orderReply(order)
  }
}

function orderETag(order: StoredOrder) {
  return recordETag(orderTag(order))
}

type NamedLine = NamedPet & Pick<NewOrderLine, 'quantity'>

const parseNewOrderOptions = bodyParser(Type.Object(NEW_ORDER_OPTIONS))
const parseLine = bodyParser(NewLine, 'the order')
const parseListedLine = elementParser(NewLine, 'a line')

function parseNewOrder(body: JsonObject) {
  requireOneGroup('the order', body, Object.values(NEW_ORDER_CHOICES))
  const options = parseNewOrderOptions(body)
  if (!options.complete) refuseOptions(options, ['occurredAt', 'evenIfReserved'], 'only with complete')
  else refuseOptions(options, ['holdSeconds'], 'only without complete, because a sale holds nothing')
  return { ...options, lines: body.lines === undefined ? [parseOnlyLine(body)] : parseLines(body.lines) }
}

function parseOnlyLine(body: JsonObject): NamedLine {
  const line = parseLine(body)
  requirePet('the order', line, new Set())
  return line
}

function parseLines(value: unknown): NamedLine[] {
  const seenPets = new Set<bigint | string>()
  return parseList(value, {
    listField: 'lines',
    elementName: 'a line',
    max: MAX_LINES_PER_ORDER,
    petIdField: 'petId',
    parseElement: (element) => {
      const line = parseListedLine(element)
      requirePet('a line', line, seenPets)
      return line
    },
  })
}

const parseCompletion = bodyParser(Type.Object(COMPLETION))
const parseChange = bodyParser(Type.Object(ORDER_UPDATE))

function parseOrderUpdate(body: JsonObject) {
  requireOneGroup('the body', body, Object.values(UPDATE_CHOICES))
  const isCompletion = Object.keys(COMPLETION).some((name) => body[name] !== undefined)
  if (isCompletion) return { type: 'completion', completion: parseCompletion(body) } as const
  const lines = body.lines === undefined ? undefined : parseLines(body.lines)
  return { type: 'change', change: parseChange(body), lines } as const
}

/** Throws if the request has one of these options. */
function refuseOptions(options: object, names: readonly string[], condition: string): void {
  const name = names.find((each) => Object.hasOwn(options, each))
  if (name !== undefined) throw invalidField(name, `${name} is possible ${condition}`)
}

/** The lines with the ids of their pets. Throws if no pet has the barcode of a line. */
async function linesOf(
  named: readonly NamedLine[],
  store: Pick<TransferStore, 'findStockedPets'>,
): Promise<NewOrderLine[]> {
  const failures: ErrorDetail[] = []
  const lines: NewOrderLine[] = []
  for (const [index, { petId, barcode, quantity }] of (await findPets(named, store)).entries()) {
    if (petId !== undefined) lines.push({ petId, quantity })
    else failures.push({ index, code: 'not_found', message: `no pet has the barcode ${barcode}` })
  }
  if (failures.length > 0) throw refusedLines({ failures })
  return lines
}

function refusedLines({ failures }: { readonly failures: readonly ErrorDetail[] }) {
  return refusal(failures, 'lines')
}

function orderClosed({ order: { id: orderId, state: closedState } }: OrderClosed) {
  const message = `order ${orderId} is already ${closedState}`
  return refusal([{ index: 0, code: 'order_closed', message, state: closedState }])
}
