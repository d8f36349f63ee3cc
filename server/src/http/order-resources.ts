import Type from 'typebox'
import {
  MAX_HOLD_SECONDS,
  ORDER_CHANGES,
  ORDER_STATES,
  type Order as OrderEntity,
} from '../core/orders/order.ts'
import { MAX_QUANTITY } from '../core/stock/inventory.ts'
import { DateTime, HistoryEntry, Int64, Quantity } from './resources.ts'

export const OrderState = Type.Enum([...ORDER_STATES], {
  title: 'OrderState',
  type: 'string',
  description:
    'open: it reserves stock. complete: what it reserved was taken out of the stock. cancelled, or expired where its hold was over: it reserves nothing any more.',
})

const ORDER_EXAMPLE = {
  ...{ id: 17, petId: 4, quantity: 2, shipDate: '2026-12-01T10:00:00.000Z', complete: false },
  ...{ state: 'open', createdAt: '2026-11-15T12:00:00.000Z' },
}

export const Order = Type.Object(
  {
    id: Int64('Identifier of the order.'),
    petId: Int64('The pet that was ordered.'),
    quantity: Quantity('How many were ordered.'),
    shipDate: Type.Optional(DateTime('When the order ships or shipped, in UTC; absent where it is not set.')),
    complete: Type.Boolean({ description: 'Whether the order has been fulfilled.' }),
    state: OrderState,
    createdAt: DateTime('When the order was made, in UTC.'),
    expiresAt: Type.Optional(DateTime('When a hold expires by itself, in UTC; absent where it is none.')),
  },
  { title: 'Order', examples: [ORDER_EXAMPLE] },
)

export const NewOrder = Type.Object(
  {
    petId: Int64('The pet that is ordered.'),
    quantity: Type.Integer({
      ...{ minimum: 1, maximum: MAX_QUANTITY },
      description: 'How many; so many must be available.',
    }),
    shipDate: Type.Optional(DateTime('When it ships: a date and time with its zone.')),
    holdSeconds: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: MAX_HOLD_SECONDS },
        description: 'Makes it a hold, which expires by itself after so many seconds.',
      }),
    ),
  },
  {
    title: 'NewOrder',
    description: 'Other fields are ignored.',
    examples: [{ petId: 1, quantity: 1, holdSeconds: 900 }],
  },
)

export const OrderUpdate = Type.Object(
  {
    complete: Type.Optional(
      Type.Boolean({
        const: true,
        description: 'The order is fulfilled: takes it out of the stock and of what is reserved.',
      }),
    ),
    shipDate: Type.Optional(DateTime('Another ship date, while the order is open.')),
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

function isoTime(time: number): string {
  return new Date(time).toISOString()
}

/** An order as callers see it. */
export function orderBody(order: OrderEntity): Type.Static<typeof Order> {
  const { id, petId, quantity, shipDate, state, createdAt, expiresAt } = order
  return {
    ...{ id, petId, quantity },
    ...(shipDate === undefined ? {} : { shipDate: isoTime(shipDate) }),
    ...{ complete: state === 'complete', state, createdAt: isoTime(createdAt) },
    ...(expiresAt === undefined ? {} : { expiresAt: isoTime(expiresAt) }),
  }
}
