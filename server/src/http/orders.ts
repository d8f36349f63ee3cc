import { MAX_BODY_BYTES } from '@petstore/wire'
import Type from 'typebox'
import {
  MAX_ORDERS_PER_REQUEST,
  NEW_ORDER,
  ORDER,
  ORDER_ROW,
  ORDER_STATES,
  ORDER_UPDATE,
  orderNotFound,
  type NewOrder as ParsedOrder,
  type Order as StoredOrder,
} from '../core/orders/order.ts'
import { isSearchableCustomer, readOrderPage } from '../core/orders/order-list.ts'
import type { OrderClosed } from '../core/stock/command.ts'
import { availableText, entryNotFound } from '../core/stock/inventory.ts'
import { refusal } from '../core/stock/refusal.ts'
import type { ServiceError } from '../core/values/errors.ts'
import type { JsonObject } from '../core/values/exact-json.ts'
import { Int64, isWithinLength, type JsonOf, jsonWriter, OneOf, Text } from '../core/values/field.ts'
import { recordChanged, recordTag } from '../core/values/record-tag.ts'
import { elementParser, parseList } from './list-body.ts'
import { commitAndReply, defineOperation } from './operation.ts'
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
const { id, petId, quantity, shipDate, ...otherFields } = ORDER
const ORDER_BODY = {
  id,
  petId,
  quantity,
  shipDate,
  complete: ORDER_ROW.complete,
  ...otherFields,
}

export const ORDER_EXAMPLE = {
  id: 17,
  petId: 4,
  quantity: 2,
  shipDate: '2026-12-01T10:00:00.000Z',
  complete: false,
  state: 'open',
  createdAt: EXAMPLE_TIME,
  customer: 'Anna Smith, 555 0134',
}

export const Order = Type.Object(ORDER_BODY, { title: 'Order', examples: [ORDER_EXAMPLE] })

const NEW_ORDER_EXAMPLE = { petId: 1, quantity: 1, holdSeconds: 900, customer: 'Anna Smith, 555 0134' }
const NewOrder = Type.Object(NEW_ORDER, { title: 'NewOrder', examples: [NEW_ORDER_EXAMPLE] })

const NewOrders = Type.Object(
  { orders: Type.Array(NewOrder, { minItems: 1, maxItems: MAX_ORDERS_PER_REQUEST }) },
  {
    title: 'NewOrders',
    description: 'Either all orders are created or none.',
    examples: [{ orders: [NEW_ORDER_EXAMPLE, { ...NEW_ORDER_EXAMPLE, petId: 2 }] }],
  },
)

const CreatedOrders = Type.Object(
  { orders: Type.Array(Order, { description: 'The orders, in the same sequence as in the request.' }) },
  { title: 'CreatedOrders', examples: [{ orders: [ORDER_EXAMPLE] }] },
)

const OrderUpdate = Type.Object(
  {
    complete: Type.Optional(
      Type.Refine(
        Type.Boolean({
          const: true,
          description: 'The order is fulfilled: its units leave the stock and are no longer reserved.',
        }),
        (complete) => complete,
        () => 'true (DELETE cancels an order)',
      ),
    ),
    onlyIfOpen: Type.Optional(
      Flag(
        'If true, completing an order that is already complete fails with 409 order_closed, so that the caller knows whether this request completed it.',
      ),
    ),
    ...ORDER_UPDATE,
  },
  {
    title: 'OrderUpdate',
    choices: { OrderCompletion: ['complete'], OrderChange: Object.keys(ORDER_UPDATE) },
    examples: [{ complete: true }],
  },
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

const orderToJson = jsonWriter(ORDER_BODY)

/** An order as callers see it. */
export function orderBody(order: StoredOrder): JsonOf<typeof ORDER_BODY> {
  return orderToJson({ ...order, complete: order.state === 'complete' })
}

export const listOrders = defineOperation('GET', '/store/orders', {
  summary: 'List orders',
  description:
    'Returns orders by id ascending, in pages. Without `state`, returns only open and complete orders. With `customer`, returns only the orders whose customer matches.',
  ignoresUnknownInput: true,
  query: {
    state: Type.Optional(OneOf(ORDER_STATES, { description: 'Return only orders in this state.' })),
    petId: Type.Optional(Int64('Return only orders of this pet.')),
    customer: Type.Optional(CustomerQuery),
    ...pageParameters(),
  },
  success: { description: 'A page of orders.', schema: Type.Array(Order) },
  reply: async ({ query, request }, { store }) =>
    pageReply(request, query, await readOrderPage(store, query), orderBody),
})

export const createOrder = defineOperation('POST', '/store/orders', {
  summary: 'Order a pet',
  description:
    'Creates an order, which reserves its units: if several callers order the last unit at once, exactly one of them gets it. The `quantity` of the inventory entry does not change until the order is completed. With `holdSeconds` the order is a hold, which expires after that time and then reserves nothing.',
  permission: 'orders',
  acceptsIdempotencyKey: true,
  body: NewOrder,
  success: { status: 201, hasETag: true, description: 'The order.', schema: Order },
  errors: ['not_found', 'insufficient_stock'],
  reply: (input, services) => {
    const { petId } = input.body
    const command = { type: 'create_order', order: input.body } as const
    return commitAndReply(input, services, command, {
      done: ({ order }) => createdReply(input.request.path, orderBody(order), orderETag(order)),
      unknown_pet: () => entryNotFound(petId),
      insufficient_stock: ({ wanted, available }) =>
        insufficientStock(
          petId,
          available,
          `${availableText(petId, available)}, so ${wanted} cannot be ordered`,
        ),
    })
  },
})

export const createOrders = defineOperation('POST', '/store/orders/batch', {
  summary: 'Create several orders',
  description: `Creates 1 to ${MAX_ORDERS_PER_REQUEST} orders, for example everything that one customer reserves. Either all orders are created, in one commit, or none. Orders of the same pet must together fit into its available units. If none is created, \`details\` of the error lists every order that cannot be created. A batch counts as one request.`,
  stability: 'experimental',
  permission: 'orders',
  acceptsIdempotencyKey: true,
  maxBodyBytes: MAX_BODY_BYTES,
  body: NewOrders,
  parseBody: parseNewOrders,
  success: {
    status: 201,
    description: 'The orders, in the same sequence as in the request.',
    schema: CreatedOrders,
    createsSeveral: true,
  },
  errors: ['not_found', 'insufficient_stock'],
  reply: (input, services) => {
    const command = { type: 'create_orders', orders: input.body } as const
    return commitAndReply(input, services, command, {
      done: ({ orders }) => jsonReply({ orders: orders.map(orderBody) }, {}, 201),
      refused: ({ failures }) => refusal(failures, 'orders'),
    })
  },
})

export const getOrder = defineOperation('GET', '/store/orders/{orderId}', {
  summary: 'Get one order',
  description: 'Returns an order in any state.',
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
  description:
    '`{"complete": true}` completes the order: its units leave the stock, and the history records the reason `sold` and a reference such as `order 17`. Completing it again changes nothing; `closedAt` shows when it was completed. With `onlyIfOpen`, completing it again fails. The other fields change an open order, and null clears them: `{"shipDate": null}`.',
  permission: 'orders',
  acceptsIdempotencyKey: true,
  params: { orderId: Int64('The order to update.') },
  body: OrderUpdate,
  success: { description: 'The order.', schema: Order },
  errors: ['insufficient_stock', 'order_closed'],
  // The commit locks the pet before it reads the order again, so it needs the petId, which never changes.
  prepare: ({ orderId }, { store }) => store.findOrder(orderId),
  reply: (input, services, order) => {
    const { orderId } = input.params
    const target = { orderId, petId: order?.petId, onlyIfTags: recordTagsIn(input.ifMatch) }
    const { complete, onlyIfOpen, ...patch } = input.body
    const command =
      complete === undefined
        ? ({ type: 'change_order', ...target, patch } as const)
        : ({ type: 'complete_order', ...target, onlyIfOpen } as const)
    return commitAndReply(input, services, command, {
      done: (outcome) => orderReply(outcome.order),
      unknown_order: () => orderNotFound(orderId),
      record_changed: () => recordChanged(`order ${orderId}`),
      order_closed: orderClosed,
      insufficient_stock: ({ petId, wanted, available }) =>
        insufficientStock(
          petId,
          available,
          `order ${orderId} takes ${wanted} units of petId ${petId}, but only ${available} are in stock`,
        ),
    })
  },
})

export const cancelOrder = defineOperation('DELETE', '/store/orders/{orderId}', {
  summary: 'Cancel an order',
  description:
    'Cancels an open order and releases its reserved units. Cancelling an order that is already cancelled or expired changes nothing.',
  permission: 'orders',
  acceptsIdempotencyKey: true,
  params: { orderId: Int64('The order to cancel.') },
  success: { status: 204, description: 'The order no longer reserves anything.', schema: Type.Null() },
  errors: ['order_closed'],
  prepare: ({ orderId }, { store }) => store.findOrder(orderId),
  reply: (input, services, order) => {
    const { orderId } = input.params
    const onlyIfTags = recordTagsIn(input.ifMatch)
    const command = { type: 'cancel_order', orderId, petId: order?.petId, onlyIfTags } as const
    return commitAndReply(input, services, command, {
      done: () => NO_CONTENT,
      unknown_order: () => orderNotFound(orderId),
      record_changed: () => recordChanged(`order ${orderId}`),
      order_closed: orderClosed,
    })
  },
})

function orderReply(order: StoredOrder): StorableReply & { readonly body: string } {
  return jsonReply(orderBody(order), orderETag(order))
}

function orderETag(order: StoredOrder) {
  return recordETag(recordTag(ORDER, order))
}

const parseNewOrder = elementParser(NewOrder, 'an order')

function parseNewOrders({ orders }: JsonObject): ParsedOrder[] {
  return parseList(orders, {
    listField: 'orders',
    elementName: 'an order',
    max: MAX_ORDERS_PER_REQUEST,
    petIdField: 'petId',
    parseElement: parseNewOrder,
  })
}

function insufficientStock(petId: bigint, available: number, message: string): ServiceError {
  return refusal([{ index: 0, petId, code: 'insufficient_stock', message, available }])
}

function orderClosed({ order: { id, petId, state } }: OrderClosed): ServiceError {
  const message = `order ${id} is already ${state}`
  return refusal([{ index: 0, petId, code: 'order_closed', message, state }])
}
