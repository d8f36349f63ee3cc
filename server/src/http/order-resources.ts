import Type from 'typebox'
import {
  NEW_ORDER,
  ORDER,
  ORDER_CHANGES,
  type Order as OrderEntity,
  OrderState,
} from '../core/orders/order.ts'
import { DateTime, Int64, type JsonOf, jsonWriter, MAX_QUANTITY, Quantity } from '../core/values/field.ts'
import { HistoryEntry } from './resources.ts'

export { OrderState }

const ORDER_EXAMPLE = {
  ...{ id: 17, petId: 4, quantity: 2, shipDate: '2026-12-01T10:00:00.000Z', complete: false },
  ...{ state: 'open', createdAt: '2026-11-15T12:00:00.000Z' },
}

const { state, createdAt, expiresAt, ...orderFields } = ORDER
const ORDER_BODY = {
  ...orderFields,
  complete: Type.Boolean({ description: 'Whether the order has been fulfilled.' }),
  state,
  createdAt,
  expiresAt,
}

export const Order = Type.Object(ORDER_BODY, { title: 'Order', examples: [ORDER_EXAMPLE] })

export const NewOrder = Type.Object(NEW_ORDER, {
  title: 'NewOrder',
  description: 'Other fields are ignored.',
  examples: [{ petId: 1, quantity: 1, holdSeconds: 900 }],
})

export const OrderUpdate = Type.Object(
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
    shipDate: Type.Optional(DateTime('Another ship date for an open order.')),
  },
  {
    title: 'OrderUpdate',
    description: 'Has exactly one of complete and shipDate. Other fields are ignored.',
    oneOf: [{ required: ['complete'] }, { required: ['shipDate'] }],
    examples: [{ complete: true }],
  },
)

export const Availability = Type.Object(
  {
    petId: Int64('Identifier of the pet.'),
    quantity: Quantity('How many are on the shelf.'),
    reserved: Quantity('How many of them open orders reserve.'),
    available: Type.Integer({
      ...{ minimum: -MAX_QUANTITY, maximum: MAX_QUANTITY },
      description:
        'How many can still be ordered: quantity less reserved. Negative where the stock was set below what is reserved.',
    }),
  },
  { title: 'Availability', examples: [{ petId: 1, quantity: 12, reserved: 3, available: 9 }] },
)

export const OrderEvent = Type.Object(
  {
    change: Type.Enum([...ORDER_CHANGES], { type: 'string', description: 'What happened to the order.' }),
    order: Order,
    at: HistoryEntry.properties.at,
    keyId: HistoryEntry.properties.keyId,
  },
  {
    title: 'OrderEvent',
    examples: [
      {
        ...{ change: 'created', order: ORDER_EXAMPLE, at: '2026-11-15T12:00:00.000Z' },
        keyId: 'key_4fT9cVq2Lw8ZsXyN',
      },
    ],
  },
)

const toJson = jsonWriter(ORDER_BODY)

/** An order as callers see it. */
export function orderBody(order: OrderEntity): JsonOf<typeof ORDER_BODY> {
  return toJson({ ...order, complete: order.state === 'complete' })
}
