import type { Order } from './contract-types.ts'
import type { IdInput } from './ids.ts'
import type { Condition, WriteOptions } from './options.ts'
import type { Api } from './request.ts'
import { ordersMethods } from './resources.ts'

export type Orders = ReturnType<typeof createOrders>

export function createOrders(api: Api) {
  const methods = ordersMethods(api)
  return {
    ...methods,

    /**
     * Takes the reserved units out of the stock. Completing a complete order changes nothing. Throws
     * `OrderClosedError` if it was cancelled or has expired, and `InsufficientStockError` if the stock was set below
     * its quantity.
     */
    complete: (orderId: IdInput, options: WriteOptions & Condition = {}): Promise<Order> =>
      methods.update(orderId, { complete: true }, options),
  }
}
