import Type from 'typebox'
import { defineOperation } from '../operation.ts'
import { orderBody } from '../order-body.ts'
import { Order } from '../resources.ts'

export const listOrders = defineOperation({
  operationId: 'listOrders',
  method: 'GET',
  path: '/store/orders',
  summary: 'List orders',
  description: 'Returns all orders of the store, by id ascending.',
  tag: 'store',
  stability: 'beta',
  success: { description: 'Every order.', schema: Type.Array(Order) },
  errors: [],
  handle: async (_, { store }) => {
    const orders = await store.listOrders({}, 100)
    return orders.map(orderBody)
  },
})
