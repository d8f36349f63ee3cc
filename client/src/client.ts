import { createInventory, type Inventory } from './inventory.ts'
import type { LimitState } from './limit-state.ts'
import { type PetstoreClientOptions, readOptions } from './options.ts'
import { createOrders, type Orders } from './orders.ts'
import { Api } from './request.ts'
import { type LimitsMethods, limitsMethods, Resources } from './resources.ts'
import { Transport } from './transport.ts'
import { SYSTEM_TIME, type Time } from './waiting.ts'

export interface Limits extends LimitsMethods {
  /** The rate limit as the latest response reported it; `undefined` before the first response. */
  readonly latest: LimitState | undefined
}

/** A client holds one API key. Its calls share one queue, so that together they respect the rate limit of the key. */
export class PetstoreClient extends Resources {
  override readonly inventory: Inventory
  override readonly orders: Orders
  override readonly limits: Limits

  constructor(options: PetstoreClientOptions)
  /** @internal */
  constructor(options: PetstoreClientOptions, time: Time)
  constructor(options: PetstoreClientOptions, time: Time = SYSTEM_TIME) {
    const transport = new Transport(readOptions(options), time)
    const api = new Api(transport)
    super(api)
    this.inventory = createInventory(api)
    this.orders = createOrders(api)
    this.limits = {
      ...limitsMethods(api),
      get latest() {
        return transport.limits
      },
    }
  }
}
