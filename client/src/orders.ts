import type { Order, OrderCompletion } from './contract-types.ts'
import type { IdInput, Input } from './ids.ts'
import type { Condition, WriteOptions } from './options.ts'
import type { Api } from './request.ts'
import { ordersMethods } from './resources.ts'

export type CompletionOptions = WriteOptions & Condition & Omit<Input<OrderCompletion>, 'complete'>

export type Orders = ReturnType<typeof createOrders>

export function createOrders(api: Api) {
  const methods = ordersMethods(api)
  return {
    ...methods,

    /**
     * Takes the units of all lines out of the stock. Completing a complete order changes nothing, and throws
     * `OrderClosedError` with `onlyIfOpen`. It also throws if the order was cancelled, or if its hold has expired, unless
     * `evenIfExpired` is set. Throws `InsufficientStockError` if the stock is too small; `details` has each such line.
     */
    complete: (
      orderId: IdInput,
      { onlyIfOpen, evenIfExpired, occurredAt, ...options }: CompletionOptions = {},
    ): Promise<Order> =>
      methods.update(orderId, { complete: true, onlyIfOpen, evenIfExpired, occurredAt }, options),
  }
}
