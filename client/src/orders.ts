import type { IdInput, IdKind } from './ids.ts'
import type { CallOptions, Condition, WriteOptions } from './options.ts'
import type { Api, BodyOf, Filter, Query } from './request.ts'

export type OrderFilter = Filter<'listOrders'>

export type Orders<Ids extends IdKind> = ReturnType<typeof createOrders<Ids>>

/** Orders, which reserve units of a pet. */
export function createOrders<Ids extends IdKind>(api: Api<Ids>) {
  const update = (orderId: IdInput, change: BodyOf<'updateOrder'>, options: WriteOptions & Condition = {}) =>
    api.value('updateOrder', { params: { orderId }, body: change }, options)

  return {
    /** Orders by id, or by customer if `customer` is given; open and complete ones unless `state` is given. */
    list: (options: Query<'listOrders'> & CallOptions = {}) => api.list('listOrders', options),

    /** One order, in any state. */
    get: (orderId: IdInput, options: CallOptions = {}) =>
      api.value('getOrder', { params: { orderId } }, options),

    /**
     * Orders units of a pet and reserves them, until they expire if `holdSeconds` is given. Throws
     * `InsufficientStockError` with the units that are `available`.
     */
    create: (order: BodyOf<'createOrder'>, options: WriteOptions = {}) =>
      api.value('createOrder', { body: order }, options),

    /** Creates 1 to 100 orders, all or none. `details` of the error lists every order that cannot be created. */
    createMany: (orders: BodyOf<'createOrders'>, options: WriteOptions = {}) =>
      api.value('createOrders', { body: orders }, options),

    /** Changes an open order. Throws `OrderClosedError` if it is closed. */
    update,

    /**
     * Takes the reserved units out of the stock. Completing a complete order changes nothing. Throws
     * `OrderClosedError` if it was cancelled or has expired, and `InsufficientStockError` if the stock was set below
     * its quantity.
     */
    complete: (orderId: IdInput, options: WriteOptions & Condition = {}) =>
      update(orderId, { complete: true }, options),

    /** Releases the reserved units. Throws `OrderClosedError` if the order is complete. */
    cancel: (orderId: IdInput, options: WriteOptions & Condition = {}) =>
      api.done('cancelOrder', { params: { orderId } }, options),
  }
}
